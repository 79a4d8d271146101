#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

namespace pollen {

namespace {

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) close(number);
    }
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
    throw FileError(path + ": " + what + ": " + std::strerror(errno));
}

std::vector<std::byte> whole_file(const std::string& path, const ReadLimits& limits) {
    detail::check_path(path);
    // A pipe would block in open() until somebody writes to it.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) fail(path, "cannot be opened");
    struct stat status {};
    if (fstat(file.number, &status) != 0) fail(path, "cannot be examined");
    if (!S_ISREG(status.st_mode)) throw FileError(path + ": is not a regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const detail::MemoryBudget check_size(path, limits, size);
    std::vector<std::byte> bytes;
    detail::resize(bytes, static_cast<std::size_t>(size), path);
    const auto read_some = [&](std::byte* to, std::size_t most) {
        const ssize_t some = detail::uninterrupted([&] { return read(file.number, to, most); });
        if (some < 0) fail(path, "cannot be read");
        return static_cast<std::size_t>(some);
    };
    for (std::size_t done = 0; done < bytes.size();) {
        const std::size_t some = read_some(bytes.data() + done, bytes.size() - done);
        if (some == 0) throw FileError(path + ": became shorter while it was read");
        done += some;
    }
    if (std::byte more{}; read_some(&more, 1) > 0) throw FileError(path + ": became longer while it was read");
    return bytes;
}

}  // namespace

std::uint64_t ReadLimits::memory(std::uint64_t file_bytes) const {
    constexpr std::uint64_t least = std::uint64_t{48} << 20, times = 48;
    if (max_memory > 0) return max_memory;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t with_file = max_bytes > most - file_bytes ? most : max_bytes + file_bytes;
    if (file_bytes > most / times) return with_file;
    return std::min(with_file, std::max(least, times * file_bytes));
}

std::vector<std::byte> read_bytes(const std::string& path, const ReadLimits& limits) {
    return detail::with_errors_at(path, [&] { return whole_file(path, limits); });
}

void make_directory(const std::string& path) {
    detail::check_path(path);
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw FileError(path + ": the directory cannot be made: " + error.message());
}

}  // namespace pollen
