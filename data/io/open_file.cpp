#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/detail/open_file.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace pollen::detail {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw FileError(path + ": " + what + ": " + std::strerror(errno));
}

// A pipe would block in open() until somebody writes to it.
int opened(const std::string& path) {
    check_path(path);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) fail(path, "cannot be opened");
    return file;
}

}  // namespace

OpenFile::OpenFile(const std::string& path) : path_(path), file_(opened(path)) {
    try {
        struct stat status {};
        if (fstat(file_, &status) != 0) fail(path, "cannot be examined");
        if (!S_ISREG(status.st_mode)) throw FileError(path + ": is not a regular file");
        size_ = static_cast<std::uint64_t>(status.st_size);
    } catch (...) {
        close(file_);
        throw;
    }
}

OpenFile::~OpenFile() { close(file_); }

std::size_t OpenFile::read_some(std::uint64_t offset, std::span<std::byte> to) const {
    const ssize_t some = uninterrupted([&] { return pread(file_, to.data(), to.size(), static_cast<off_t>(offset)); });
    if (some < 0) fail(path_, "cannot be read");
    return static_cast<std::size_t>(some);
}

void OpenFile::read(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
        const std::size_t some = read_some(offset, to);
        if (some == 0) throw FileError(path_ + ": became shorter while it was read");
        offset += some;
        to = to.subspan(some);
    }
}

void OpenFile::check_not_longer() const {
    std::byte more{};
    if (read_some(size_, std::span(&more, 1)) > 0) throw FileError(path_ + ": became longer while it was read");
}

}  // namespace pollen::detail
