#include "../../support.hpp"
#include "../hostile.hpp"
#include "../temporary_directory.hpp"

#include <pollen/autograd/rows.hpp>
#include <pollen/data/formats/npy.hpp>

#include <filesystem>
#include <fstream>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(npy_rows)

template <class T>
void same_as_rows_of_all(const std::string& path) {
    const Tensor<T> all = read_npy<T>(path);
    for (std::int64_t first = 0; first <= all.shape()[0]; ++first)
        for (std::int64_t count = 0; first + count <= all.shape()[0]; ++count) {
            const Tensor<T> some = read_npy_rows<T>(path, first, count), expected = rows(all, first, count);
            BOOST_REQUIRE(some.shape() == expected.shape());
            BOOST_REQUIRE(std::equal(some.begin(), some.end(), expected.begin()));
        }
}

BOOST_AUTO_TEST_CASE(rows_of_all_types) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.npy";
    const Tensor<double> x = normals({7, 3, 2});
    write_npy(path, x);
    same_as_rows_of_all<double>(path);
    same_as_rows_of_all<float>(path);
    write_npy(path, Tensor<float>{1, 2, 3});
    same_as_rows_of_all<double>(path);
    write_npy(path, Indices{{5, -6}, {7, 8}});
    same_as_rows_of_all<std::int32_t>(path);
}

// Only the rows are read: the file has 6 TB of them, most of them a hole.
BOOST_AUTO_TEST_CASE(a_few_rows_of_a_file_that_is_larger_than_the_memory) {
    const TemporaryDirectory directory;
    const std::string path = directory / "large.npy";
    const std::int64_t rows_of_file = 1'000'000'000, columns = 784;
    std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 784), }";
    text.resize(117, ' ');
    text += '\n';
    text.insert(0, std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    std::ofstream(path, std::ios::binary) << text;
    std::error_code error;
    std::filesystem::resize_file(path, 128 + static_cast<std::uintmax_t>(rows_of_file * columns) * 8, error);
    if (error) {
        BOOST_TEST_MESSAGE("Skipped: this file system has no files of 6 TB: " << error.message());
        return;
    }
    const Tensor<float> last = read_npy_rows<float>(path, rows_of_file - 10, 10);
    BOOST_TEST(last.shape() == Shape({10, columns}));
    BOOST_TEST(std::all_of(last.begin(), last.end(), [](float v) { return v == 0; }));
}

BOOST_AUTO_TEST_CASE(errors) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.npy";
    write_npy(path, normals({4, 3}));
    const auto message = [&](std::int64_t first, std::int64_t count) {
        return error_of<ValueError>([&] { read_npy_rows<double>(path, first, count); });
    };
    BOOST_TEST(message(3, 2) == "read_npy_rows: " + path + " has 4 rows; 2 rows from row 3 on are not all there");
    BOOST_TEST(message(-1, 2) == "read_npy_rows: " + path + " has 4 rows; 2 rows from row -1 on are not all there");
    BOOST_TEST(message(5, 0) == "read_npy_rows: " + path + " has 4 rows; 0 rows from row 5 on are not all there");
    const auto file_error = [&] { return error_of<FileError>([&] { read_npy_rows<float>(path, 0, 1); }); };
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    BOOST_TEST(file_error() == path + ": offset 128: data: 95 bytes, but the header says 96");
    write_npy(path, Tensor<double>::scalar(1));
    BOOST_TEST(file_error() == path + ": has one number and no rows");
    write_npy(path, Tensor<double>{{1, 2}, {3, 1e300}});
    BOOST_TEST(error_of<FileError>([&] { read_npy_rows<float>(path, 1, 1); }) ==
               path + " (from row 1 on): offset 136: element (0, 1): 1e+300 is beyond the range of float");
}

BOOST_AUTO_TEST_SUITE_END()
