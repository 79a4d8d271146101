#pragma once

#include "child_process.hpp"

#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_calls.hpp>

#include <unistd.h>
#include <cerrno>
#include <functional>
#include <string>

namespace pollen::test {

// While it lives, the n-th system call of an AtomicFile (counted from 0) runs `fault` first; if that returns a reason,
// the call fails with it. All other calls are the system's.
class Faults {
  public:
    Faults(int n, std::function<int()> fault) : n_(n), fault_(std::move(fault)) {
        detail::FileCalls& calls = detail::file_calls();
        const detail::FileCalls real;
        calls.open = [this, real](const char* p, int f, unsigned m) {
            return strikes("open") ? -1 : real.open(p, f, m);
        };
        calls.fchmod = [this, real](int f, unsigned m) { return strikes("fchmod") ? -1 : real.fchmod(f, m); };
        calls.write = [this, real](int f, const void* d, std::size_t b) {
            return strikes("write") ? std::ptrdiff_t{-1} : real.write(f, d, b);
        };
        calls.fsync = [this, real](int f) { return strikes("fsync") ? -1 : real.fsync(f); };
        calls.close = [this, real](int f) {
            const bool failed = strikes("close");
            const int reason = errno;
            const int result = real.close(f);  // a close that fails has closed all the same
            errno = reason;
            return failed ? -1 : result;
        };
        calls.rename = [this, real](const char* a, const char* b) {
            return strikes("rename") ? -1 : real.rename(a, b);
        };
        calls.unlink = [this, real](const char* p) { return strikes("unlink") ? -1 : real.unlink(p); };
    }
    ~Faults() { detail::file_calls() = detail::FileCalls(); }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    // The name of the call that was struck; empty if there were fewer calls.
    const std::string& struck() const { return struck_; }

  private:
    bool strikes(const char* name) {
        if (count_++ != n_) return false;
        struck_ = name;
        errno = fault_();
        return errno != 0;
    }

    int n_;
    int count_ = 0;
    std::function<int()> fault_;
    std::string struck_;
};

inline constexpr int kKilled = 77;

// Runs `save` in a child process that dies at the n-th call, and returns how it ended: kKilled, or 0 if it came to the
// end.
inline int killed_at(int n, const std::function<void()>& save) {
    const int status = run_copy([&] {
        const Faults faults(n, [] {
            _exit(kKilled);
            return 0;
        });
        save();
        return 0;
    });
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace pollen::test
