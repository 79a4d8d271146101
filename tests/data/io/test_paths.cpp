#include "../../support.hpp"
#include "../bytes.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/npy.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_lock.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(files)

// The system would end such a path at the NUL, and read or replace another file.
BOOST_AUTO_TEST_CASE(a_path_with_a_nul_is_refused) {
    const TemporaryDirectory directory;
    const std::string kept = directory / "kept", path = kept + "\0.npy"s;
    put(kept, "as it is");
    const std::string expected = kept + "\\x00.npy: the path has a NUL character, at which the system would end it";
    const auto error = [](const auto& f) { return error_of<FileError>(f); };
    BOOST_TEST(error([&] { read_bytes(path); }) == expected);
    BOOST_TEST(error([&] { read_npy<double>(path); }) == expected);
    BOOST_TEST(error([&] { AtomicFile file(path); }) == expected);
    BOOST_TEST(error([&] { write_npy(path, Tensor<double>{1}); }) == expected);
    BOOST_TEST(error([&] { detail::FileLock lock(path); }) == expected);
    BOOST_TEST(error([&] { make_directory(path); }) == expected);
    BOOST_TEST(error([&] { remove_temporaries(path, "x"); }) == expected);
    BOOST_TEST(contents(kept) == "as it is");
    BOOST_TEST((directory.names() == std::set<std::string>{"kept"}));
}

// What the system makes up while it is read has a size of 0.
BOOST_AUTO_TEST_CASE(a_file_that_grows_is_refused) {
    BOOST_TEST(error_of<FileError>([] { read_bytes("/proc/self/status"); }) ==
               "/proc/self/status: became longer while it was read");
    const TemporaryDirectory directory;
    put(directory / "empty", "");
    BOOST_TEST(read_bytes(directory / "empty").empty());
}

BOOST_AUTO_TEST_SUITE_END()
