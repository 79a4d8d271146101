#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pollen::detail {

// A regular file that is open for reading. Throws a FileError if it cannot be opened or read.
class OpenFile {
  public:
    explicit OpenFile(const std::string& path);
    ~OpenFile();
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    // Its bytes when it was opened.
    std::uint64_t size() const { return size_; }

    // Fills `to` with the bytes from this offset on. Throws a FileError if there are fewer, since it became shorter.
    void read(std::uint64_t offset, std::span<std::byte> to) const;
    // Throws a FileError if there are more bytes than size().
    void check_not_longer() const;

  private:
    std::size_t read_some(std::uint64_t offset, std::span<std::byte> to) const;

    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
};

}  // namespace pollen::detail
