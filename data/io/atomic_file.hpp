#pragma once

#include <cstddef>
#include <functional>
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
// target is replaced, not the link. Every failure is a FileError that names the file, the step and the reason; after
// one the temporary file is gone and so is the chance to commit.
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
    std::string temporary_;  // empty when there is none
    int file_ = -1;
    std::vector<char> buffer_;
};

namespace detail {

// The system calls of AtomicFile. They are the system's own unless a test replaces some of them to fail, to write less
// than asked, or to end the process; a test restores them with `file_calls() = FileCalls()`. Replace them only while no
// other thread writes a file.
struct FileCalls {
    FileCalls();
    std::function<int(const char* path, int flags, unsigned mode)> open;
    std::function<int(int file, unsigned mode)> fchmod;
    std::function<std::ptrdiff_t(int file, const void* data, std::size_t bytes)> write;
    std::function<int(int file)> fsync;
    std::function<int(int file)> close;
    std::function<int(const char* from, const char* to)> rename;
    std::function<int(const char* path)> unlink;
};

FileCalls& file_calls();

}  // namespace detail

}  // namespace pollen
