#pragma once

#include <pollen/data/safetensors.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace pollen::test {

// A directory that is there as long as this object.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "pollen-run-XXXXXX").string();
        BOOST_REQUIRE(mkdtemp(name.data()));
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(file.good(), path << " cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void overwrite(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

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

// Begins one case of this very program in a process of its own, with a text for it in the environment. Afresh, not a
// copy of this process: a copy would have none of its threads.
inline pid_t begin_case(const std::string& name, const std::string& text) {
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

// Waits for it. Returns what waitpid says.
inline int end_of(pid_t child) {
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

inline int run_case(const std::string& name, const std::string& text) { return end_of(begin_case(name, text)); }

// The same, killed after so many milliseconds if it has not ended by itself.
inline int kill_case(const std::string& name, const std::string& text, double milliseconds) {
    const pid_t child = begin_case(name, text);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
    kill(child, SIGKILL);
    return end_of(child);
}

// The text for such a case; empty in a usual run of the tests.
inline std::string child_text() {
    const char* text = std::getenv("POLLEN_TEST_CHILD");
    return text ? text : "";
}

}  // namespace pollen::test
