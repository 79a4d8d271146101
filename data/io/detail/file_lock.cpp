#include <pollen/data/io/detail/file_lock.hpp>

#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pollen::detail {

namespace {

constexpr int most_tries = 100;

}  // namespace

Locking lock_file(int file, const std::string& name) {
    if (uninterrupted([&] { return file_calls().flock(file, LOCK_EX | LOCK_NB); }) != 0)
        return errno == EWOULDBLOCK ? Locking::busy : Locking::none;
    struct stat opened {
    }, named{};
    const bool same = ::fstat(file, &opened) == 0 && ::stat(name.c_str(), &named) == 0 &&
                      named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
    return same ? Locking::held : Locking::moved;
}

void fail_busy(const std::string& path) { throw FileError(path + ": another run is writing to it now"); }

FileLock::FileLock(const std::string& path, bool may_read) {
    const FilePlace place = place_of_file(path);
    lock_ = place.directory + "/" + hidden_name(place.name) + ".lock";
    for (int tries = 0; tries < most_tries; ++tries) {
        if (take(path, may_read)) return;
    }
    fail_busy(path);
}

FileLock::~FileLock() { drop(); }

// Returns false if the run that had the lock removed its file at this moment.
bool FileLock::take(const std::string& path, bool may_read) {
    const FileCalls& calls = file_calls();
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file_ = uninterrupted([&] { return calls.open(lock_.c_str(), flags, 0666); });
    if (file_ < 0) {
        const int reason = errno;
        const std::string error = path + ": cannot be saved: making its lock, " + lock_ + ": " + std::strerror(reason);
        if (!may_read || (reason != EROFS && reason != EACCES)) throw FileError(error);
        read_only_ = error;
        return true;
    }
    struct stat opened {};
    if (::fstat(file_, &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_size != 0) {
        calls.close(std::exchange(file_, -1));
        throw FileError(path + ": cannot be saved: " + lock_ +
                        " is in the way, where its lock would be; it is not empty");
    }
    const Locking locking = lock_file(file_, lock_);
    held_ = locking == Locking::held;
    if (held_) return true;
    if (locking == Locking::none) {
        drop();
        return true;
    }
    calls.close(std::exchange(file_, -1));
    if (locking == Locking::busy) fail_busy(path);
    return false;
}

void FileLock::check_writable() const {
    if (!read_only_.empty()) throw FileError(read_only_);
}

// The file goes first: who opens it before that cannot lock it, and who opens it after that opens another one.
void FileLock::drop() noexcept {
    if (file_ < 0) return;
    file_calls().unlink(lock_.c_str());
    file_calls().close(std::exchange(file_, -1));
}

}  // namespace pollen::detail
