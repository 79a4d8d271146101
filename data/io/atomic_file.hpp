#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pollen {

// Writes a file so that its name always holds either the whole old contents or the whole new ones.
//
// The bytes go to a temporary file in the same directory, named `.<name>.<process>-<n>.tmp`. commit() writes what is
// left, flushes it to the disk and renames it over the target; without a commit the destructor removes it. A process
// that is killed leaves the old file untouched and at most that temporary file behind.
//
// A new file gets the mode that the umask allows, a replaced one keeps its mode. A symbolic link is followed: its
// target is replaced, not the link. Every failure is a FileError that names the file, the step and the reason. After a
// failure the temporary file is removed, and commit() is no longer possible.
class AtomicFile {
  public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

  private:
    void create();
    void flush();
    void write_all(const char* data, std::size_t bytes);
    void check_open() const;
    void discard() noexcept;
    [[noreturn]] void fail(const char* step);

    std::string path_;       // as given, for messages
    std::string target_;     // with links followed
    std::string directory_;  // of the target
    std::string temporary_;  // empty: no temporary file
    int file_ = -1;
    std::vector<char> buffer_;
};

// Writes a file as a whole or not at all.
void write_file(const std::string& path, std::span<const std::byte> bytes);

// Removes the temporary files that killed processes may have left behind when they wrote a file of this name.
void remove_temporaries(const std::string& directory, const std::string& name);

}  // namespace pollen
