#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pollen::detail {

// The file that one chain's rows go to. It is locked while it is open: no two runs write to one file.
//
// If a write fails, the file is cut back to where the last complete append() ended, so that it ends with a whole row,
// and a FileError says why.
class ChainFile {
  public:
    ChainFile() = default;
    ChainFile(ChainFile&& other) noexcept { *this = std::move(other); }
    ChainFile& operator=(ChainFile&& other) noexcept;
    ~ChainFile();

    // Opens and locks the file; makes it if it is not there. Throws a FileError if `fresh` is true and there is
    // something of that name. If `saved` is true, the file must be there, and one that may not be written is opened for
    // reading, without a lock.
    void open(const std::string& path, bool fresh, bool saved = false);
    void close() { const ChainFile closed = std::move(*this); }
    bool is_open() const { return file_ >= 0; }
    bool read_only() const { return refusal_ != 0; }
    // Throws a FileError if the file may not be written.
    void check_writable() const;

    // Whether the file begins with this text.
    bool begins_with(std::string_view text) const;
    // Its first `size` bytes, or all of them if there are fewer.
    std::string first(std::int64_t size) const;
    // Calls use() with its bytes from `first` up to `end`, piece by piece. Throws if it has become shorter.
    void each_piece(std::int64_t first, std::int64_t end, const std::function<void(std::string_view)>& use) const;
    // Puts `text` in the place of the first `size` bytes. The file is replaced as a whole or not at all.
    void replace_top(std::int64_t size, std::string_view text);
    // Cuts off everything after the first `size` bytes.
    void cut(std::int64_t size);
    void append(std::string_view text);
    // Returns when everything is on the disk.
    void sync();
    std::int64_t size() const { return size_; }

  private:
    [[noreturn]] void fail(const char* step, int reason) const;
    std::int64_t read(std::int64_t from, char* to, std::size_t bytes) const;

    std::string path_;
    int file_ = -1, refusal_ = 0;  // why it may not be written
    std::int64_t size_ = 0;
};

}  // namespace pollen::detail
