#include "support.hpp"

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/data/formats/safetensors.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(messages_are_safe_to_print) {
    BOOST_TEST(std::string(Error("a\nb\x1b[31m\tc\r\x7f\x01").what()) == R"(a\nb\x1b[31m\x09c\x0d\x7f\x01)");
    // Letters beyond ASCII stay; control characters among them do not.
    BOOST_TEST(std::string(Error("gr\xc3\xb6\xc3\x9f"
                                 "e \xe2\x82\xac \xc2\x9b"
                                 "31m \xc2")
                               .what()) ==
               "gr\xc3\xb6\xc3\x9f"
               "e \xe2\x82\xac \\xc2\\x9b31m \xc2");
    BOOST_TEST(std::string(ValueError(R"(C:\n)").what()) == R"(C:\n)");
    BOOST_TEST(std::string(Error(std::string("a\0b", 3)).what()) == R"(a\x00b)");
}

BOOST_AUTO_TEST_CASE(names_of_files_and_in_files) {
    const std::string name = "a\nb\x1b[31m";
    BOOST_TEST(error_of<FileError>([&] { read_bytes(name); }) ==
               R"(a\nb\x1b[31m: cannot be opened: No such file or directory)");
    BOOST_TEST(error_of<FileError>([&] { TensorFile(name).get<float>(name); }) ==
               R"(a\nb\x1b[31m: there is no tensor "a?b?[31m"; it has no tensors)");
    Table table;
    table.columns = {name};
    BOOST_TEST(error_of<ValueError>([&] { table.column("c"); }) ==
               R"(table: there is no column "c"; the columns are "a?b?[31m")");
}

BOOST_AUTO_TEST_CASE(memory_that_cannot_be_had) {
    std::vector<double> numbers;
    // Too much for the system, for any vector, and to be counted in 64 bits.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the program if memory cannot be had
    BOOST_TEST(error_of<MemoryError>([&] { detail::resize(numbers, std::size_t{1} << 50, "f"); }) ==
               "f: the system has no 9007199254740992 bytes left");
#endif
    BOOST_TEST(error_of<MemoryError>([&] { detail::resize(numbers, std::size_t{1} << 60, "f"); }) ==
               "f: the system has no 9223372036854775808 bytes left");
    BOOST_TEST(error_of<MemoryError>([&] { detail::reserve(numbers, ~std::size_t{0}, "f"); }) ==
               "f: the system has no 18446744073709551615 bytes left");
    BOOST_TEST(detail::allocating("f", 1, [] { return 7; }) == 7);
    detail::resize(numbers, 3, "f");
    BOOST_TEST(numbers.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
