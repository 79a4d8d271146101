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

// The names of temporary files are cut as well. Those of another run are safe if it has the lock.
BOOST_AUTO_TEST_CASE(long_names_that_differ_at_their_end_have_one_lock) {
    const TemporaryDirectory folder;
    const std::string start(200, 'n');
    const std::string one = folder / (start + "1"), two = folder / (start + "2");
    const FileLock lock(one);
    BOOST_TEST((folder.names() == std::set<std::string>{"." + start + ".lock"}));
    BOOST_TEST(error(two) == two + ": another run is writing to it now");
    BOOST_TEST(error(folder / start.substr(1)) == "");
}

BOOST_AUTO_TEST_CASE(where_nothing_may_be_written) {
    const TemporaryDirectory folder;
    const std::string path = folder / "file";
    for (const int reason : {EROFS, EACCES, ENOSPC}) {
        detail::file_calls().open = [&](const char*, int, unsigned) {
            errno = reason;
            return -1;
        };
        const std::string why = reason == EROFS    ? "Read-only file system"
                                : reason == EACCES ? "Permission denied"
                                                   : "No space left on device";
        const std::string message = path + ": cannot be saved: making its lock, " + folder / (".file.lock: " + why);
        BOOST_TEST(error(path) == message);
        bool made = false, held = true;
        const std::string later = error_of<FileError>([&] {
            const FileLock lock(path, true);
            made = true;
            held = lock.held();
            lock.check_writable();
        });
        detail::file_calls() = detail::FileCalls();
        BOOST_TEST(later == message);
        BOOST_TEST(made == (reason != ENOSPC));
        BOOST_TEST(held == !made);
    }
    const FileLock lock(path, true);
    BOOST_TEST(lock.held());
    lock.check_writable();
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
