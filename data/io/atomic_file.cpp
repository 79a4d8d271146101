#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace pollen {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr int kMostTries = 1000;  // of names for the temporary file

std::atomic<unsigned> counter{0};

using detail::uninterrupted;

// Whether the text is `<number>-<number>`.
bool two_numbers(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto number = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    };
    return dash != text.npos && number(text.substr(0, dash)) && number(text.substr(dash + 1));
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) throw FileError("cannot save a file: its path is empty");
    detail::with_errors_at(path_, [&] {
        const detail::FilePlace place = detail::place_of_file(path_);
        target_ = place.path;
        directory_ = place.directory;
        buffer_.reserve(kBuffer);
        create();
    });
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::create() {
    struct stat old {};
    const bool replaces = ::stat(target_.c_str(), &old) == 0;
    if (!replaces && errno != ENOENT) fail("looking at what is there now");
    // A rename would put an ordinary file in the place of a device or a pipe.
    if (replaces && !S_ISREG(old.st_mode)) {
        throw FileError(path_ + ": cannot be saved: something that is not a regular file has that name");
    }

    const std::string name = detail::hidden_name(std::filesystem::path(target_).filename().string());
    const std::string start = directory_ + "/" + name + "." + std::to_string(::getpid()) + "-";
    int tries = 0;
    do {
        temporary_ = start + std::to_string(counter++) + ".tmp";
        file_ = uninterrupted([&] {
            return detail::file_calls().open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                             replaces ? 0600 : 0666);
        });
    } while (file_ < 0 && errno == EEXIST && ++tries < kMostTries);
    if (file_ < 0) {
        temporary_.clear();
        fail("creating a temporary file beside it");
    }
    if (replaces && detail::file_calls().fchmod(file_, old.st_mode & 0777) != 0) fail("setting its mode (fchmod)");
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    check_open();
    if (bytes == 0) return;
    const char* from = static_cast<const char*>(data);
    if (buffer_.size() + bytes > kBuffer) flush();
    if (bytes >= kBuffer)
        write_all(from, bytes);
    else
        buffer_.insert(buffer_.end(), from, from + bytes);
}

void AtomicFile::flush() {
    write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
}

void AtomicFile::write_all(const char* data, std::size_t bytes) {
    while (bytes > 0) {
        const std::ptrdiff_t some = uninterrupted([&] { return detail::file_calls().write(file_, data, bytes); });
        if (some == 0) errno = EIO;  // nothing written and no reason given: trying for ever would not help
        if (some <= 0) fail("writing");
        data += some;
        bytes -= static_cast<std::size_t>(some);
    }
}

void AtomicFile::commit() {
    check_open();
    const detail::FileCalls& calls = detail::file_calls();
    flush();
    if (uninterrupted([&] { return calls.fsync(file_); }) != 0) fail("flushing to the disk (fsync)");
    // Linux has let go of the descriptor whatever close() returns, also when a signal interrupted it.
    if (calls.close(std::exchange(file_, -1)) != 0 && errno != EINTR) fail("closing");
    if (calls.rename(temporary_.c_str(), target_.c_str()) != 0) fail("renaming the temporary file");
    temporary_.clear();

    // The rename itself is safe from a power failure once the directory is on the disk. Some network file systems
    // cannot flush a directory and say EINVAL; there is nothing else to do for them.
    const int directory =
        uninterrupted([&] { return calls.open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); });
    if (directory < 0) fail("opening its directory, though the new file is in place");
    const int synced = uninterrupted([&] { return calls.fsync(directory); });
    const int reason = errno;
    calls.close(directory);
    errno = reason;
    if (synced != 0 && reason != EINVAL) fail("flushing its directory (fsync), though the new file is in place");
}

void AtomicFile::check_open() const {
    if (file_ < 0) throw FileError(path_ + ": cannot be saved: it is already committed, or an earlier step failed");
}

void AtomicFile::discard() noexcept {
    if (file_ >= 0) detail::file_calls().close(std::exchange(file_, -1));
    if (!temporary_.empty()) detail::file_calls().unlink(temporary_.c_str());
    temporary_.clear();
}

void AtomicFile::fail(const char* step) {
    const int reason = errno;
    discard();
    throw FileError(path_ + ": cannot be saved: " + step + ": " + std::strerror(reason));
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
    detail::with_errors_at(path, [&] {
        AtomicFile file(path);
        file.write(bytes.data(), bytes.size());
        file.commit();
    });
}

void remove_temporaries(const std::string& directory, const std::string& name) {
    detail::check_path(directory);
    std::error_code error;
    std::vector<std::filesystem::path> old;
    const std::string start = detail::hidden_name(name) + ".";
    const std::string_view end = ".tmp";
    for (std::filesystem::directory_iterator at(directory, error), last; !error && at != last; at.increment(error)) {
        const std::string file = at->path().filename().string();
        // A file of another name may begin in the same way: `.run.2.123-0.tmp` is one of `run.2`, and not of `run`.
        if (file.size() > start.size() + end.size() && file.starts_with(start) && file.ends_with(end) &&
            two_numbers(std::string_view(file).substr(start.size(), file.size() - start.size() - end.size())))
            old.push_back(at->path());
    }
    for (const std::filesystem::path& path : old) std::filesystem::remove(path, error);
}

}  // namespace pollen
