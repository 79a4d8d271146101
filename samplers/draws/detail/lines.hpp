#pragma once

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/text.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pollen::detail {

// The lines of a file that may be larger than the memory, or of its first `bytes`, or of a text in memory.
class Lines {
  public:
    Lines(std::string name, const ReadLimits& limits, std::int64_t bytes)
        : name_(std::move(name)), limits_(limits), left_(bytes) {
        check_path(name_);
        file_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file_ < 0) throw FileError(name_ + ": cannot be opened: " + std::strerror(errno));
        struct stat status {};
        const bool regular = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
        if (!regular) {
            ::close(file_);
            throw FileError(name_ + ": is not a regular file");
        }
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
    Lines(Bytes bytes, std::string name, const ReadLimits& limits) : name_(std::move(name)), limits_(limits) {
        text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        size_ = bytes.size();
    }
    ~Lines() {
        if (file_ >= 0) ::close(file_);
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    // The next whole line, without its end; it is there until the next call.
    bool next(std::string_view& line) {
        std::size_t searched = 0;
        for (;;) {
            const std::size_t end = text_.find('\n', searched);
            if (end != text_.npos) {
                line = text_.substr(0, end);
                text_.remove_prefix(end + 1);
                if (line.ends_with('\r')) line.remove_suffix(1);
                ++number;
                if (line.find('\0') != line.npos) fail("has a NUL byte; this is not a text file");
                if (line.find('\r') != line.npos) fail_at_return();
                return true;
            }
            searched = text_.size();
            if (!more()) break;
        }
        // One at the very end may be the first half of a line's end.
        if (text_.substr(0, text_.empty() ? 0 : text_.size() - 1).find('\r') != text_.npos) {
            ++number;
            fail_at_return();
        }
        return false;
    }

    [[noreturn]] void fail(const std::string& what) const { fail_at_line(name_, number, what); }
    const std::string& name() const { return name_; }
    // The limit for what is kept of the file.
    std::uint64_t memory() const { return limits_.memory(size_); }
    std::string limit_text() const { return detail::limit_text(limits_, size_); }

    // What follows the last whole line; it is known when next() has returned false.
    std::string_view rest() const { return text_; }

    std::int64_t number = 0;

  private:
    [[noreturn]] void fail_at_return() const {
        fail("has a carriage return (CR) that does not end it; lines must end with LF, or with CR and LF");
    }

    bool more() {
        if (file_ < 0) return false;
        constexpr std::size_t piece = std::size_t{1} << 18;
        if (text_.size() > limits_.max_bytes) {
            ++number;
            fail("is longer than the limit of " + std::to_string(limits_.max_bytes) + " bytes");
        }
        // What is left of the old piece goes to the front; a line that needs more room doubles it.
        const std::size_t rest = text_.size();
        if (rest > 0) std::memmove(buffer_.data(), text_.data(), rest);
        if (buffer_.size() < rest + piece) resize(buffer_, std::max(2 * rest, rest + piece), name_);
        const std::size_t want = std::min(buffer_.size() - rest, static_cast<std::size_t>(left_));
        ssize_t some = 0;
        do some = ::read(file_, buffer_.data() + rest, want);
        while (some < 0 && errno == EINTR);
        if (some < 0) throw FileError(name_ + ": cannot be read: " + std::strerror(errno));
        left_ -= some;
        text_ = {buffer_.data(), rest + static_cast<std::size_t>(some)};
        return some > 0;
    }

    std::string name_;
    ReadLimits limits_;
    int file_ = -1;
    std::uint64_t size_ = 0;
    std::int64_t left_ = 0;  // bytes of the file
    std::vector<char> buffer_;
    std::string_view text_;
};

}  // namespace pollen::detail
