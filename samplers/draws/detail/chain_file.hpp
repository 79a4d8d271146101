#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pollen::detail {

// The file that one chain's rows go to. It is locked while it is open: no two runs write to one file.
//
// Where something cannot be written, the file is cut back to the last append() that could, so that it ends with a whole
// row, and a FileError says why.
class ChainFile {
  public:
    ChainFile() = default;
    ChainFile(ChainFile&& other) noexcept { *this = std::move(other); }
    ChainFile& operator=(ChainFile&& other) noexcept;
    ~ChainFile();

    // `fresh`: it is a FileError if there is something of that name.
    void open(const std::string& path, bool fresh);
    bool is_open() const { return file_ >= 0; }

    // Whether the file begins with this text.
    bool begins_with(std::string_view text) const;
    // Its first bytes, `size` of them if there are as many.
    std::string first(std::int64_t size) const;
    // Puts `text` in the place of the first `size` bytes. The file is replaced as a whole or not at all.
    void replace_top(std::int64_t size, std::string_view text);
    void cut(std::int64_t size);
    void append(std::string_view text);
    void sync();
    std::int64_t size() const { return size_; }

  private:
    [[noreturn]] void fail(const char* step, int reason) const;
    std::int64_t read(std::int64_t from, char* to, std::size_t bytes) const;

    std::string path_;
    int file_ = -1;
    std::int64_t size_ = 0;
};

// Makes the directory, and those above it, where they are missing.
void make_directory(const std::string& path);

// Removes what a killed process may have left behind of an AtomicFile of this name.
void remove_temporaries(const std::string& directory, const std::string& name);

}  // namespace pollen::detail
