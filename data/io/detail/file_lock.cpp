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

constexpr std::size_t longest_part = 240;  // of the file's name, in that of its lock; file systems allow 255 in all
constexpr int most_tries = 100;

}  // namespace

FileLock::FileLock(const std::string& path) {
    const FilePlace place = place_of_file(path);
    lock_ = place.directory + "/." + place.name.substr(0, longest_part) + ".lock";
    for (int tries = 0; tries < most_tries; ++tries) {
        if (take(path)) return;
    }
    throw FileError(path + ": another run is writing to it now");
}

FileLock::~FileLock() { drop(); }

// Returns false if the run that had the lock removed its file at this moment.
bool FileLock::take(const std::string& path) {
    const FileCalls& calls = file_calls();
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    file_ = uninterrupted([&] { return calls.open(lock_.c_str(), flags, 0666); });
    if (file_ < 0) throw FileError(path + ": cannot be saved: making its lock, " + lock_ + ": " + std::strerror(errno));
    struct stat opened {
    }, named{};
    if (::fstat(file_, &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_size != 0) {
        calls.close(std::exchange(file_, -1));
        throw FileError(path + ": cannot be saved: " + lock_ +
                        " is in the way, where its lock would be; it is not empty");
    }
    held_ = uninterrupted([&] { return calls.flock(file_, LOCK_EX | LOCK_NB); }) == 0;
    if (!held_ && errno == EWOULDBLOCK) {
        calls.close(std::exchange(file_, -1));
        throw FileError(path + ": another run is writing to it now");
    }
    if (!held_) {
        drop();
        return true;
    }
    if (::stat(lock_.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        return true;
    calls.close(std::exchange(file_, -1));
    held_ = false;
    return false;
}

// The file goes first: who opens it before that cannot lock it, and who opens it after that opens another one.
void FileLock::drop() noexcept {
    if (file_ < 0) return;
    file_calls().unlink(lock_.c_str());
    file_calls().close(std::exchange(file_, -1));
}

}  // namespace pollen::detail
