#include "../../support.hpp"
#include "../faults.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/io/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>

using namespace pollen;
using namespace pollen::test;

namespace {

// Two calls of write(): the first fills more than the buffer.
const std::string kNew = std::string(3'000'000, 'x') + "end";

void save(const std::string& path) {
    AtomicFile file(path);
    file.write(std::string_view(kNew).substr(0, 3'000'000));
    file.write("end");
    file.commit();
}

using Names = std::set<std::string>;

unsigned mode_of(const std::string& path) {
    struct stat status {};
    BOOST_REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(atomic_file)

BOOST_AUTO_TEST_CASE(writes_what_it_is_given) {
    const TemporaryDirectory directory;
    const std::string path = directory / "file";
    std::string expected;
    {
        AtomicFile file(path);
        for (int i = 0; i < 300'000; ++i) {
            const std::string piece = std::to_string(i) + ",";
            file.write(piece);
            expected += piece;
        }
        const std::string big(1 << 20, 'b');
        file.write(big);
        file.write("");
        file.write(nullptr, 0);
        file.write(std::string_view("tail"));
        expected += big + "tail";
        BOOST_TEST(!std::filesystem::exists(path));
        file.commit();
    }
    BOOST_TEST((contents(path) == expected));
    BOOST_TEST((directory.names() == Names{"file"}));

    AtomicFile(path).commit();
    BOOST_TEST(contents(path) == "");
}

BOOST_AUTO_TEST_CASE(without_a_commit_nothing_changes) {
    const TemporaryDirectory directory;
    put(directory / "file", "old");
    {
        AtomicFile file(directory / "file");
        file.write(kNew);
        const Names names = directory.names();
        BOOST_TEST(names.size() == 2u);
        BOOST_TEST(names.begin()->starts_with(".file." + std::to_string(getpid()) + "-"));
        BOOST_TEST(names.begin()->ends_with(".tmp"));
    }
    BOOST_TEST(contents(directory / "file") == "old");
    BOOST_TEST((directory.names() == Names{"file"}));
}

BOOST_AUTO_TEST_CASE(modes) {
    const TemporaryDirectory directory;
    const mode_t mask = umask(027);
    save(directory / "new");
    put(directory / "old", "old");
    chmod((directory / "old").c_str(), 0604);
    save(directory / "old");
    umask(mask);
    BOOST_TEST(mode_of(directory / "new") == 0640u);
    BOOST_TEST(mode_of(directory / "old") == 0604u);
}

BOOST_AUTO_TEST_CASE(follows_symbolic_links) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "real");
    put(directory / "real/file", "old");
    std::filesystem::create_symlink("real/file", directory / "second");
    std::filesystem::create_symlink(directory / "second", directory / "first");
    save(directory / "first");
    BOOST_TEST((contents(directory / "real/file") == kNew));
    BOOST_TEST(std::filesystem::is_symlink(directory / "first"));
    BOOST_TEST(std::filesystem::is_symlink(directory / "second"));

    std::filesystem::create_symlink("real/not yet", directory / "dangling");
    save(directory / "dangling");
    BOOST_TEST((contents(directory / "real/not yet") == kNew));

    const std::string loop = directory / "loop";
    std::filesystem::create_symlink("loop", loop);
    BOOST_TEST(error_of<FileError>([&] { save(loop); }) ==
               loop + ": cannot be saved: following its symbolic links: Too many levels of symbolic links");
}

BOOST_AUTO_TEST_CASE(long_names) {
    const TemporaryDirectory directory;
    const std::string path = directory / std::string(255, 'n');
    save(path);
    BOOST_TEST((contents(path) == kNew));
}

BOOST_AUTO_TEST_CASE(temporaries_of_killed_processes) {
    const TemporaryDirectory directory;
    const std::string long_name(255, 'n');
    const std::string cut = "." + long_name.substr(0, 200) + ".7-0.tmp";
    const Names others{"file",         ".file.2.7-0.tmp", ".file.7.tmp", ".file.-0.tmp",
                       ".file.7-.tmp", ".file.7-x.tmp",   ".file.tmp"};
    for (const std::string& name : others) put(directory / name, "");
    for (const std::string name : {".file.7-0.tmp", ".file.123-45.tmp", cut.c_str()}) put(directory / name, "");
    remove_temporaries(directory.path(), "file");
    remove_temporaries(directory.path(), long_name);
    BOOST_TEST((directory.names() == others));
    remove_temporaries(directory / "missing", "file");
}

// Every call in turn fails: with a plain error, and with a full disk.
BOOST_AUTO_TEST_CASE(a_failure_at_any_call) {
    for (const int reason : {EIO, ENOSPC}) {
        const std::string why = reason == EIO ? "Input/output error" : "No space left on device";
        std::vector<std::string> steps;
        for (int n = 0;; ++n) {
            BOOST_REQUIRE(n < 100);
            const TemporaryDirectory directory;
            const std::string path = directory / "file";
            put(path, "old");
            std::string message;
            {
                const Faults faults(n, [&] { return reason; });
                message = error_of<FileError>([&] { save(path); });
                if (faults.struck().empty()) break;
            }
            const bool renamed = contents(path) == kNew;
            BOOST_TEST((renamed || contents(path) == "old"));
            BOOST_TEST((directory.names() == Names{"file"}));
            if (message.empty()) {
                steps.push_back(renamed ? "no error, new" : "no error, old");
                continue;
            }
            const std::string start = path + ": cannot be saved: ", end = ": " + why;
            BOOST_REQUIRE(message.starts_with(start));
            BOOST_REQUIRE(message.ends_with(end));
            steps.push_back(message.substr(start.size(), message.size() - start.size() - end.size()));
            BOOST_TEST(renamed == (message.find("though the new file is in place") != std::string::npos));
        }
        const std::vector<std::string> expected{
            "creating a temporary file beside it",
            "setting its mode (fchmod)",
            "writing",
            "writing",
            "flushing to the disk (fsync)",
            "closing",
            "renaming the temporary file",
            "opening its directory, though the new file is in place",
            "flushing its directory (fsync), though the new file is in place",
            "no error, new",  // closing the directory
        };
        BOOST_TEST(steps == expected, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_kill_at_any_call) {
    int killed = 0;
    for (int n = 0;; ++n) {
        BOOST_REQUIRE(n < 100);
        const TemporaryDirectory directory;
        const std::string path = directory / "file";
        put(path, "old");
        const int end = killed_at(n, [&] { save(path); });
        const std::string now = contents(path);
        if (end == 0) {
            BOOST_TEST((now == kNew));
            break;
        }
        BOOST_REQUIRE(end == kKilled);
        ++killed;
        BOOST_TEST((now == (n <= 6 ? "old" : kNew)));  // call 6 is the rename
        for (const std::string& name : directory.names())
            BOOST_TEST((name == "file" || (name.starts_with(".file.") && name.ends_with(".tmp"))));

        // What it left behind is in nobody's way.
        save(path);
        BOOST_TEST((contents(path) == kNew));
    }
    BOOST_TEST(killed == 10);
}

// Writes of at most 1000 bytes, each interrupted once.
BOOST_AUTO_TEST_CASE(short_and_interrupted_writes) {
    const TemporaryDirectory directory;
    bool interrupt = true;
    const detail::FileCalls real;
    detail::file_calls().write = [&](int file, const void* data, std::size_t bytes) -> std::ptrdiff_t {
        interrupt = !interrupt;
        if (!interrupt) {
            errno = EINTR;
            return -1;
        }
        return real.write(file, data, std::min<std::size_t>(bytes, 1000));
    };
    save(directory / "file");
    detail::file_calls() = detail::FileCalls();
    BOOST_TEST((contents(directory / "file") == kNew));
}

BOOST_AUTO_TEST_CASE(a_write_that_writes_nothing) {
    const TemporaryDirectory directory;
    const std::string path = directory / "file";
    detail::file_calls().write = [](int, const void*, std::size_t) -> std::ptrdiff_t { return 0; };
    const std::string message = error_of<FileError>([&] { save(path); });
    detail::file_calls() = detail::FileCalls();
    BOOST_TEST(message == path + ": cannot be saved: writing: Input/output error");
    BOOST_TEST(directory.names().empty());
}

// The descriptor is that of /dev/full, so that the system itself says that the disk is full.
BOOST_AUTO_TEST_CASE(a_full_disk) {
    if (!std::filesystem::exists("/dev/full")) return;
    const TemporaryDirectory directory;
    const std::string path = directory / "file";
    put(path, "old");
    const detail::FileCalls real;
    detail::file_calls().open = [&](const char*, int flags, unsigned mode) {
        return real.open("/dev/full", flags & ~(O_CREAT | O_EXCL), mode);
    };
    detail::file_calls().fchmod = [](int, unsigned) { return 0; };
    const std::string message = error_of<FileError>([&] { save(path); });
    detail::file_calls() = detail::FileCalls();
    BOOST_TEST(message == path + ": cannot be saved: writing: No space left on device");
    BOOST_TEST(contents(path) == "old");
}

BOOST_AUTO_TEST_CASE(errors) {
    const TemporaryDirectory directory;
    const std::string missing = directory / "missing/file";
    BOOST_TEST(error_of<FileError>([&] { save(missing); }) ==
               missing + ": cannot be saved: creating a temporary file beside it: No such file or directory");
    put(directory / "plain", "");
    const std::string below = directory / "plain/file";
    BOOST_TEST(error_of<FileError>([&] { save(below); }) ==
               below + ": cannot be saved: looking at what is there now: Not a directory");
    BOOST_TEST(error_of<FileError>([&] { save(directory.path()); }) ==
               directory.path() + ": cannot be saved: something that is not a regular file has that name");
    BOOST_TEST(error_of<FileError>([&] { save("/dev/null"); }) ==
               "/dev/null: cannot be saved: something that is not a regular file has that name");
    BOOST_TEST(error_of<FileError>([&] { save(""); }) == "cannot save a file: its path is empty");

    const std::string path = directory / "file";
    const std::string over = path + ": cannot be saved: it is already committed, or an earlier step failed";
    AtomicFile file(path);
    file.commit();
    BOOST_TEST(error_of<FileError>([&] { file.write("x"); }) == over);
    BOOST_TEST(error_of<FileError>([&] { file.commit(); }) == over);

    // Who goes on after a failure cannot put half a file in place.
    AtomicFile second(path);
    {
        const Faults faults(0, [] { return ENOSPC; });
        BOOST_TEST(error_of<FileError>([&] { second.write(kNew); }) ==
                   path + ": cannot be saved: writing: No space left on device");
    }
    BOOST_TEST(error_of<FileError>([&] { second.commit(); }) == over);
    BOOST_TEST(contents(path) == "");
}

BOOST_AUTO_TEST_SUITE_END()
