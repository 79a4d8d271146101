#pragma once

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/data/io/detail/file_calls.hpp>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace pollen::test {

// Ends the process at one of the calls below.
inline struct Fuse {
    std::atomic<std::int64_t> evaluations = 0, calls = 0;
    std::int64_t evaluation = -1, call = -1;  // the one it burns at
    int signal = SIGKILL;
} fuse;

inline void burn() { std::raise(fuse.signal); }

// While it lives, the fuse stops runs, as Ctrl-C does, at an evaluation.
class StoppingFuse {
  public:
    explicit StoppingFuse(std::int64_t evaluation, int signal = SIGINT) {
        fuse.evaluations = 0;
        fuse.evaluation = evaluation;
        fuse.signal = signal;
    }
    ~StoppingFuse() {
        fuse.evaluation = -1;
        fuse.signal = SIGKILL;
    }
    StoppingFuse(const StoppingFuse&) = delete;
    StoppingFuse& operator=(const StoppingFuse&) = delete;

  private:
    const Interrupt interrupt_;
};

// Calls of the file system that do half of what they should, and then the process is gone; or all of it. What was
// written survives the process, if not the machine, without being flushed to the disk, which would take its time.
inline void arm_files() {
    detail::FileCalls& calls = detail::file_calls();
    const detail::FileCalls own;
    calls.open = [own](const char* path, int flags, unsigned mode) {
        const int file = own.open(path, flags, mode);
        if (fuse.calls++ == fuse.call) burn();
        return file;
    };
    calls.unlink = [own](const char* path) {
        const std::int64_t now = fuse.calls++;
        if (now == fuse.call && now % 2) burn();
        const int result = own.unlink(path);
        if (now == fuse.call) burn();
        return result;
    };
    calls.write = [own](int file, const void* data, std::size_t bytes) {
        if (fuse.calls++ == fuse.call) {
            own.write(file, data, bytes / 2);
            burn();
        }
        return own.write(file, data, bytes);
    };
    calls.fsync = [](int) {
        if (fuse.calls++ == fuse.call) burn();
        return 0;
    };
    calls.rename = [own](const char* from, const char* to) {
        const std::int64_t now = fuse.calls++;
        if (now == fuse.call && now % 2) burn();
        const int result = own.rename(from, to);
        if (now == fuse.call) burn();
        return result;
    };
}

struct ResetCalls {
    ~ResetCalls() { detail::file_calls() = detail::FileCalls(); }
};

}  // namespace pollen::test
