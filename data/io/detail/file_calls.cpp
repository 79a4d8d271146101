#include <pollen/data/io/detail/file_calls.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>

namespace pollen::detail {

FileCalls::FileCalls()
    : open([](const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); }),
      fchmod([](int file, unsigned mode) { return ::fchmod(file, mode); }),
      write([](int file, const void* data, std::size_t bytes) -> std::ptrdiff_t { return ::write(file, data, bytes); }),
      fsync([](int file) { return ::fsync(file); }),
      flock([](int file, int operation) { return ::flock(file, operation); }),
      close([](int file) { return ::close(file); }),
      rename([](const char* from, const char* to) { return ::rename(from, to); }),
      unlink([](const char* path) { return ::unlink(path); }),
      space([](const char* path, std::error_code& error) { return std::filesystem::space(path, error); }) {}

FileCalls& file_calls() {
    static FileCalls calls;
    return calls;
}

}  // namespace pollen::detail
