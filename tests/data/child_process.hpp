#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <functional>
#include <string>

namespace pollen::test {

// Runs one case of this very program in a process of its own, with a text for it in the environment. Afresh, not a
// copy of this process: a copy would have none of its threads. Returns its number.
inline pid_t start_case(const std::string& name, const std::string& text) {
    const std::string select = "--run_test=" + name;
    const pid_t child = fork();
    if (child == 0) {
        setenv("POLLEN_TEST_CHILD", text.c_str(), 1);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl("/proc/self/exe", "pollen_tests", select.c_str(), "--catch_system_errors=no", nullptr);
        _exit(127);
    }
    BOOST_REQUIRE(child > 0);
    return child;
}

// What waitpid says of a process that has ended, or, with WUNTRACED, was stopped.
inline int status_of(pid_t child, int options = 0) {
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, options) == child);
    return status;
}

// Runs f in a copy of this process, which ends with what f returns, or 1 if it throws. Returns what waitpid says. The
// copy has no other threads.
inline int run_copy(const std::function<int()>& f) {
    const pid_t child = fork();
    if (child == 0) {
        int code = 1;
        try {
            code = f();
        } catch (...) {
            code = 1;
        }
        _exit(code);
    }
    BOOST_REQUIRE(child > 0);
    return status_of(child);
}

inline int run_case(const std::string& name, const std::string& text) { return status_of(start_case(name, text)); }

// The text for such a case; empty in a usual run of the tests.
inline std::string child_text() {
    const char* text = std::getenv("POLLEN_TEST_CHILD");
    return text ? text : "";
}

}  // namespace pollen::test
