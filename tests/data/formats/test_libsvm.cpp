#include "../bytes.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"
#include "support.hpp"

#include <pollen/data/formats/libsvm.hpp>
#include <pollen/data/io/gzip.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

Libsvm svm(const std::string& text, const LibsvmOptions& options = {}) {
    return parse_libsvm(bytes_of(text), "f.svm", options);
}
std::string error(const std::string& text, const LibsvmOptions& options = {}) {
    return error_of<FileError>([&] { svm(text, options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(libsvm)

BOOST_AUTO_TEST_CASE(dense_numbers) {
    const Libsvm data = svm("# made by hand\n+1 1:0.5 3:-2e1 # first\r\n-1 2:+3 \n\n0.25\n");
    BOOST_TEST((data.targets == Tensor<double>{1, -1, 0.25}));
    BOOST_TEST((data.inputs == Tensor<double>{{0.5, 0, -20}, {0, 3, 0}, {0, 0, 0}}));
    BOOST_TEST((svm("1 1:1", {.features = 4}).inputs == Tensor<double>{{1, 0, 0, 0}}));
    BOOST_TEST((svm("\xEF\xBB\xBF"
                    "7\t1:1\t2:2\n")
                    .inputs == Tensor<double>{{1, 2}}));
    BOOST_TEST((svm("1\n2\n").inputs.shape() == Shape{2, 0}));
    const TemporaryDirectory directory;
    put(directory / "f.gz", text_of(gzip(bytes_of("1 1:1\n"))));
    BOOST_TEST((read_libsvm(directory / "f.gz").inputs.item() == 1));
}

BOOST_AUTO_TEST_CASE(broken_lines) {
    BOOST_TEST(error("") == "f.svm: has no examples; expected at least one line");
    BOOST_TEST(error("# nothing\n") == "f.svm: has no examples; expected at least one line");
    BOOST_TEST(error("1 1:1\nx 1:1\n") == "f.svm: line 2: \"x\": the target is not a number");
    BOOST_TEST(error("nan 1:1\n") == "f.svm: line 1: \"nan\": the target is not a finite number");
    BOOST_TEST(error("1,2 1:1\n") == "f.svm: line 1: \"1,2\": the target is not a number");
    BOOST_TEST(error("1 5\n") == "f.svm: line 1: \"5\": is not of the form index:value");
    BOOST_TEST(error("1 0:5\n") == "f.svm: line 1: \"0:5\": the index is 0; indices start at 1");
    BOOST_TEST(error("1 -3:5\n") == "f.svm: line 1: \"-3:5\": the index is -3; indices start at 1");
    BOOST_TEST(error("1 1:1\n1 2:5 2:6\n") == "f.svm: line 2: \"2:6\": the index follows 2; indices must ascend");
    BOOST_TEST(error("1 3:5 2:6\n") == "f.svm: line 1: \"2:6\": the index follows 3; indices must ascend");
    BOOST_TEST(error("1 1.5:5\n") == "f.svm: line 1: \"1.5:5\": the index is not a whole number of 64 bits");
    BOOST_TEST(error("1 9223372036854775808:5\n") ==
               "f.svm: line 1: \"9223372036854775808:5\": the index is not a whole number of 64 bits");
    BOOST_TEST(error("1 1:\n") == "f.svm: line 1: \"1:\": the value is not a number");
    BOOST_TEST(error("1 1:2x\n") == "f.svm: line 1: \"1:2x\": the value is not a number");
    BOOST_TEST(error("1 1:2:3\n") == "f.svm: line 1: \"1:2:3\": the value is not a number");
    BOOST_TEST(error("1 1:inf\n") == "f.svm: line 1: \"1:inf\": the value is not a finite number");
    BOOST_TEST(error("1 1:1e999\n") == "f.svm: line 1: \"1:1e999\": the value is too large for a double");
    BOOST_TEST(error("1 1:-1e-400\n") == "f.svm: line 1: \"1:-1e-400\": the value is too small for a double");
    BOOST_TEST(error("2e-324 1:1\n") == "f.svm: line 1: \"2e-324\": the target is too small for a double");
    BOOST_TEST(error("1 1:0e-400 2:3e-324\n") == "");
    const std::string lone =
        "f.svm: line 1: has a carriage return (CR) that no line feed (LF) follows; lines end in LF or CR LF";
    for (const char* text :
         {"1 1:1\r", "1 1:1\r2 1:1\n", "1 1:1\r\r\n", "\r1 1:1\n", "1 1:1 # a\r2 1:1\n", "1 1:1\r# a\n"})
        BOOST_TEST(error(text) == lone, text);
    BOOST_TEST(error("1 1:1\r\n\r\n# a\r\n") == "");
    BOOST_TEST(error("1 1: 2\n") != "");
    BOOST_TEST(error("1 1:1\0\n"s) == "f.svm: line 1: \"1:1?\": the value is not a number");
    BOOST_TEST(error("1 qid:7 1:1\n") ==
               "f.svm: line 1: \"qid:7\": query numbers (qid) are for ranking, which is not supported");
    BOOST_TEST(error("1 5:1\n", {.features = 4}) ==
               "f.svm: line 1: \"5:1\": the index is above the 4 features asked for");
    BOOST_TEST(error_of<ValueError>([] { svm("1", {.features = -1}); }) == "libsvm: -1 features; expected 0 or more");
}

BOOST_AUTO_TEST_CASE(limits) {
    BOOST_TEST(error("1 1000000000000:1\n") ==
               "f.svm: dense table: 1 x 1000000000001 x 8 bytes, beside the 18 taken before, are more than the limit "
               "of 50331648" +
                   by_default);
    BOOST_TEST(error("1 9223372036854775807:1\n1\n1\n") ==
               "f.svm: dense table: 3 x 9223372036854775808 x 8 bytes, beside the 28 taken before, are more than the "
               "limit of 50331648" +
                   by_default);
    BOOST_TEST(error("1 9223372036854775807:1\n", {.limits = {.max_memory = UINT64_MAX}}) != "");
    BOOST_TEST(error("1 1:1\n2 2:1\n", {.limits = {48}}) == "");
    BOOST_TEST(error("1 1:1\n2 2:1\n", {.limits = {47}}) ==
               "f.svm: dense table: 2 x 3 x 8 bytes, beside the 12 taken before, are more than the limit of 59" +
                   by_max_bytes(47, 12));
    BOOST_TEST(error("1 1:1\n2 2:1\n", {.limits = {.max_memory = 60}}) == "");
    BOOST_TEST(error("1 1:1\n2 2:1\n", {.limits = {.max_memory = 59}}) ==
               "f.svm: dense table: 2 x 3 x 8 bytes, beside the 12 taken before, are more than the limit of 59 "
               "(ReadLimits::max_memory)");
    BOOST_TEST(error("1 1:1\n", {.limits = {.max_memory = 5}}) ==
               "f.svm: has 6 bytes, more than the limit of 5 (ReadLimits::max_memory)");
    const std::string text = "1 1:1 2:-1\n";
    for (std::size_t size = 0; size < text.size(); ++size) error(text.substr(0, size));
    const std::string whole = text_of(gzip(bytes_of(text)));
    for (std::size_t size = 0; size < whole.size(); ++size) BOOST_TEST(error(whole.substr(0, size)) != "");
    const std::string bomb = text_of(gzip(bytes_of(std::string(5000000, '\n'))));
    BOOST_TEST(error(bomb, {.limits = {1000000}}) == "f.svm: gzip: expands to more than the limit of " +
                                                         std::to_string(1000000 + bomb.size()) +
                                                         by_max_bytes(1000000, bomb.size()));
}

BOOST_AUTO_TEST_SUITE_END()
