#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

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

}  // namespace

std::vector<std::byte> read_bytes(const std::string& path, const ReadLimits& limits) {
    // A pipe would block in open() until somebody writes to it.
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) fail(path, "cannot be opened");
    struct stat status {};
    if (fstat(file.number, &status) != 0) fail(path, "cannot be examined");
    if (!S_ISREG(status.st_mode)) throw FileError(path + ": is not a regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > limits.max_bytes) {
        throw FileError(path + ": has " + std::to_string(size) + " bytes, more than the limit of " +
                        std::to_string(limits.max_bytes));
    }
    std::vector<std::byte> bytes;
    try {
        bytes.resize(static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) {
        throw FileError(path + ": has " + std::to_string(size) + " bytes, more than the memory there is");
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t some = read(file.number, bytes.data() + done, bytes.size() - done);
        if (some < 0 && errno == EINTR) continue;
        if (some < 0) fail(path, "cannot be read");
        if (some == 0) throw FileError(path + ": became shorter while it was read");
        done += static_cast<std::size_t>(some);
    }
    return bytes;
}

void make_directory(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw FileError(path + ": the directory cannot be made: " + error.message());
}

std::uint64_t checked_product(const std::string& name, const std::string& field, std::span<const std::uint64_t> factors,
                              std::uint64_t limit) {
    std::uint64_t product = 1;
    for (const std::uint64_t factor : factors) {
        if (factor == 0) return 0;
    }
    for (const std::uint64_t factor : factors) {
        if (product > limit / factor) {
            std::string text;
            for (const std::uint64_t f : factors) text += (text.empty() ? "" : " x ") + std::to_string(f);
            throw FileError(name + ": " + field + ": " + text + " bytes are more than the limit of " +
                            std::to_string(limit));
        }
        product *= factor;
    }
    return product;
}

}  // namespace pollen
