#include <pollen/samplers/run/detail/chain_file.hpp>

#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_lock.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace pollen::detail {

ChainFile& ChainFile::operator=(ChainFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    std::swap(refusal_, other.refusal_);
    std::swap(size_, other.size_);
    return *this;
}

ChainFile::~ChainFile() {
    if (file_ >= 0) file_calls().close(file_);
}

void ChainFile::fail(const char* step, int reason) const {
    throw FileError(path_ + ": cannot be written: " + step + ": " + std::strerror(reason));
}

void ChainFile::check_writable() const {
    if (read_only()) fail("opening", refusal_);
}

void ChainFile::open(const std::string& path, bool fresh, bool saved) {
    path_ = path;
    const int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | (saved ? 0 : O_CREAT) | (fresh ? O_EXCL : 0);
    file_ = uninterrupted([&] { return file_calls().open(path.c_str(), flags, 0666); });
    if (file_ < 0 && errno == EEXIST)
        throw FileError(path + ": is there already; resume that run, remove its files, or choose another directory");
    if (const int reason = file_ < 0 ? errno : 0; reason != 0) {
        if (saved && (reason == EROFS || reason == EACCES))
            file_ =
                uninterrupted([&] { return file_calls().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0); });
        if (file_ < 0) fail("opening", reason);
        refusal_ = reason;
    } else if (const Locking locking = lock_file(file_, path); locking == Locking::busy || locking == Locking::moved) {
        fail_busy(path);  // also a run that has just replaced its file, which holds the lock of the new one
    }
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail("looking at it", errno);
    if (!S_ISREG(status.st_mode)) throw FileError(path + ": is not a regular file");
    size_ = status.st_size;
}

bool ChainFile::begins_with(std::string_view text) const {
    if (size_ < std::ssize(text)) return false;
    return first(std::ssize(text)) == text;
}

// 0 at the end of the file.
std::int64_t ChainFile::read(std::int64_t from, char* to, std::size_t bytes) const {
    const ssize_t some = uninterrupted([&] { return ::pread(file_, to, bytes, from); });
    if (some < 0) throw FileError(path_ + ": cannot be read: " + std::strerror(errno));
    return some;
}

std::string ChainFile::first(std::int64_t size) const {
    std::string text(static_cast<std::size_t>(std::min(size, size_)), '\0');
    std::size_t at = 0;
    while (at < text.size()) {
        const std::int64_t some = read(static_cast<std::int64_t>(at), text.data() + at, text.size() - at);
        if (some == 0) text.resize(at);
        at += static_cast<std::size_t>(some);
    }
    return text;
}

void ChainFile::each_piece(std::int64_t first, std::int64_t end,
                           const std::function<void(std::string_view)>& use) const {
    std::vector<char> piece(std::size_t{1} << 18);
    for (std::int64_t at = first; at < end;) {
        const std::int64_t some =
            read(at, piece.data(), static_cast<std::size_t>(std::min(end - at, std::ssize(piece))));
        if (some == 0) throw FileError(path_ + ": cannot be read: it has become shorter");
        use({piece.data(), static_cast<std::size_t>(some)});
        at += some;
    }
}

void ChainFile::replace_top(std::int64_t size, std::string_view text) {
    AtomicFile other(path_);
    other.write(text);
    each_piece(size, size_, [&](std::string_view piece) { other.write(piece); });
    other.commit();
    ChainFile replaced;
    replaced.open(path_, false);
    *this = std::move(replaced);
}

void ChainFile::cut(std::int64_t size) {
    if (uninterrupted([&] { return ::ftruncate(file_, size); }) != 0) fail("cutting it", errno);
    size_ = size;
}

void ChainFile::append(std::string_view text) {
    if (::lseek(file_, size_, SEEK_SET) < 0) fail("finding its end", errno);
    for (std::string_view rest = text; !rest.empty();) {
        const std::ptrdiff_t some = uninterrupted([&] { return file_calls().write(file_, rest.data(), rest.size()); });
        if (some <= 0) {
            const int reason = some < 0 ? errno : EIO;
            // Half a row would make the file unreadable for others. If this fails as well, there is nothing else to do.
            if (::ftruncate(file_, size_) != 0) fail("writing, and cutting off half a row", reason);
            fail("writing", reason);
        }
        rest.remove_prefix(static_cast<std::size_t>(some));
    }
    size_ += std::ssize(text);
}

void ChainFile::sync() {
    if (uninterrupted([&] { return file_calls().fsync(file_); }) != 0) fail("flushing to the disk (fsync)", errno);
}

}  // namespace pollen::detail
