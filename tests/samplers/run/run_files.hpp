#pragma once

#include "../../data/temporary_directory.hpp"

#include <pollen/data/formats/safetensors.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

namespace pollen::test {

// A file of draws without its timings.
inline std::string timeless(const std::string& path) {
    static const std::regex seconds("[-+.0-9e]+ seconds");
    return std::regex_replace(contents(path), seconds, "s");
}

// Everything in the state of a chain but its timings.
inline std::string timeless_state(const std::string& path) {
    TensorFile file = read_safetensors(path);
    for (const char* field : {"warmup_seconds", "sampling_seconds", "checksum"}) file.metadata.erase(field);
    const std::vector<std::byte> bytes = safetensors_bytes(file);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether two runs ended with the same files.
inline bool same_run(const std::string& a, const std::string& b, int chains) {
    for (int c = 1; c <= chains; ++c) {
        const std::string name = "/chain_" + std::to_string(c);
        if (timeless(a + name + ".csv") != timeless(b + name + ".csv")) return false;
        if (timeless_state(a + name + ".state") != timeless_state(b + name + ".state")) return false;
    }
    return true;
}

// Runs one case of this very program in a process of its own, with a text for it in the environment. Afresh, not a
// copy of this process: a copy would have none of its threads. Returns what waitpid says.
inline int run_case(const std::string& name, const std::string& text) {
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
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

// The text for such a case; empty in a usual run of the tests.
inline std::string child_text() {
    const char* text = std::getenv("POLLEN_TEST_CHILD");
    return text ? text : "";
}

}  // namespace pollen::test
