#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <system_error>

namespace pollen::detail {

// The system calls that write and lock files, and say how much space there is. They are the system's own unless a test
// replaces some of them to fail, to write less than asked, or to end the process; a test restores them with
// `file_calls() = FileCalls()`. Replace them only while no other thread writes a file.
struct FileCalls {
    FileCalls();
    std::function<int(const char* path, int flags, unsigned mode)> open;
    std::function<int(int file, unsigned mode)> fchmod;
    std::function<std::ptrdiff_t(int file, const void* data, std::size_t bytes)> write;
    std::function<int(int file)> fsync;
    std::function<int(int file, int operation)> flock;
    std::function<int(int file)> close;
    std::function<int(const char* from, const char* to)> rename;
    std::function<int(const char* path)> unlink;
    std::function<std::filesystem::space_info(const char* path, std::error_code& error)> space;
};

FileCalls& file_calls();

// Makes a system call again for as long as a signal interrupts it.
template <class F>
auto uninterrupted(const F& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

}  // namespace pollen::detail
