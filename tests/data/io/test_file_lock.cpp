#include "../../support.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/detail/file_lock.hpp>
#include <pollen/data/io/file.hpp>

#include <cerrno>
#include <memory>
#include <thread>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(file_lock)

namespace {

using detail::FileLock;

std::string error(const std::string& path) {
    return error_of<FileError>([&] { FileLock lock(path); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_one_has_it) {
    const TemporaryDirectory folder;
    const std::string path = folder / "file", busy = path + ": another run is writing to it now";
    auto lock = std::make_unique<FileLock>(path);
    BOOST_TEST(lock->held());
    BOOST_TEST((folder.names() == std::set<std::string>{".file.lock"}));
    BOOST_TEST(error(path) == busy);
    std::string other;
    std::thread([&] { other = error(path); }).join();
    BOOST_TEST(other == busy);
    BOOST_TEST(error(folder / "file2") == "");
    lock.reset();
    BOOST_TEST(folder.names().empty());
    BOOST_TEST(error(path) == "");
}

// The first run ends, and its file goes, between two calls of the second one; and a third one is faster.
BOOST_AUTO_TEST_CASE(a_file_that_goes_at_the_wrong_moment_is_no_lock) {
    for (const bool third : {false, true}) {
        const TemporaryDirectory folder;
        const std::string path = folder / "file";
        auto first = std::make_unique<FileLock>(path);
        std::unique_ptr<FileLock> faster;
        const detail::FileCalls real;
        int calls = 0;
        detail::file_calls().flock = [&](int file, int operation) {
            if (calls++ == 0) {
                first.reset();
                if (third) faster = std::make_unique<FileLock>(path);
            }
            return real.flock(file, operation);
        };
        const std::string second = error(path);
        detail::file_calls() = detail::FileCalls();
        BOOST_TEST(second == (third ? path + ": another run is writing to it now" : ""));
        BOOST_TEST(calls == (third ? 3 : 2));
    }
}

BOOST_AUTO_TEST_CASE(without_locks_nothing_is_held_and_nothing_left) {
    const TemporaryDirectory folder;
    for (const int reason : {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL}) {
        detail::file_calls().flock = [reason](int, int) {
            errno = reason;
            return -1;
        };
        const FileLock one(folder / "file"), two(folder / "file");
        BOOST_TEST((!one.held() && !two.held()));
        BOOST_TEST(folder.names().empty());
        detail::file_calls() = detail::FileCalls();
    }
}

BOOST_AUTO_TEST_SUITE_END()
