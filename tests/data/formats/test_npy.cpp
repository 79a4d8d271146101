#include "../../support.hpp"
#include "../hostile.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/npy.hpp>

#include <limits>

using namespace pollen;
using namespace pollen::test;

namespace {

// An NPY file with this dict and these numbers, in the version given.
std::vector<std::byte> file_of(const std::string& dict, const std::string& data_hex, int version = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    for (std::size_t i = 0; i < length_bytes; ++i) text += static_cast<char>((dict.size() >> (8 * i)) & 255);
    std::vector<std::byte> bytes = from_text(text + dict);
    const std::vector<std::byte> data = from_hex(data_hex);
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
}

std::vector<std::byte> file_of(const std::string& descr, const std::string& shape, const std::string& data_hex,
                               bool fortran = false) {
    return file_of(
        "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n",
        data_hex);
}

template <class T>
std::vector<T> numbers(const std::string& descr, const std::string& shape, const std::string& data_hex) {
    const Tensor<T> tensor = parse_npy<T>(file_of(descr, shape, data_hex), "x.npy");
    return {tensor.begin(), tensor.end()};
}

template <class T = float>
std::string error(const std::vector<std::byte>& bytes, const ReadLimits& limits = {}) {
    return error_of<FileError>([&] { parse_npy<T>(bytes, "x.npy", limits); });
}

std::string dict_error(const std::string& dict, const std::string& data = "") { return error(file_of(dict, data)); }

// np.save of np.array([[1, 2, 3], [4, 5, 6]], 'f4')
const std::string saved_by_numpy =
    "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c202773686170"
    "65273a2028322c2033292c207d20202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020202020202020202020200a0000803f0000004000004040000080400000a0400000c040";

const std::string accepted =
    "; accepted are b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8 behind <, > or =, or | for one byte";

}  // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(a_file_of_numpy_is_read_and_written_byte_for_byte) {
    const std::vector<std::byte> bytes = from_hex(saved_by_numpy);
    const Tensor<float> expected{{1, 2, 3}, {4, 5, 6}};
    BOOST_TEST(bytes.size() == 152u);
    BOOST_TEST(parse_npy<float>(bytes, "x.npy") == expected);
    BOOST_TEST(parse_npy<double>(bytes, "x.npy") == cast<double>(expected));
    BOOST_TEST(parse_npy<std::int32_t>(bytes, "x.npy") == cast<std::int32_t>(expected));
    BOOST_TEST(to_hex(npy_bytes(expected)) == saved_by_numpy);
}

BOOST_AUTO_TEST_CASE(every_type_in_both_byte_orders) {
    using F = std::vector<float>;
    using D = std::vector<double>;
    using I = std::vector<std::int32_t>;
    BOOST_TEST(numbers<float>("|b1", "(3,)", "00 01 01") == (F{0, 1, 1}));
    BOOST_TEST(numbers<std::int32_t>("|i1", "(3,)", "7f 80 ff") == (I{127, -128, -1}));
    BOOST_TEST(numbers<std::int32_t>("<u1", "(2,)", "7f ff") == (I{127, 255}));
    BOOST_TEST(numbers<float>("<i2", "(2,)", "0180 ff7f") == (F{-32767, 32767}));
    BOOST_TEST(numbers<float>(">i2", "(2,)", "8001 7fff") == (F{-32767, 32767}));
    BOOST_TEST(numbers<double>("<u2", "(2,)", "ffff 0100") == (D{65535, 1}));
    BOOST_TEST(numbers<double>(">u2", "(2,)", "ffff 0100") == (D{65535, 256}));
    BOOST_TEST(numbers<std::int32_t>("<i4", "(2,)", "ffffff7f 00000080") == (I{2147483647, -2147483648}));
    BOOST_TEST(numbers<std::int32_t>(">i4", "(2,)", "7fffffff 80000000") == (I{2147483647, -2147483648}));
    BOOST_TEST(numbers<double>("<u4", "(1,)", "ffffffff") == (D{4294967295}));
    BOOST_TEST(numbers<double>(">u4", "(1,)", "fffffffe") == (D{4294967294}));
    BOOST_TEST(numbers<std::int32_t>("<i8", "(2,)", "0000008 0ffffffff ffffff7f00000000") ==
               (I{-2147483648, 2147483647}));
    BOOST_TEST(numbers<double>(">i8", "(2,)", "8000000000000000 0020000000000000") == (D{-0x1p63, 0x1p53}));
    BOOST_TEST(numbers<float>("<u8", "(1,)", "0000000000000080") == (F{0x1p63f}));
    BOOST_TEST(numbers<std::int32_t>(">u8", "(1,)", "0000000000000102") == (I{258}));
    BOOST_TEST(numbers<float>("=f4", "(2,)", "0000803f cdcccc3d") == (F{1, 0.1f}));
    BOOST_TEST(numbers<float>(">f4", "(2,)", "3f800000 3dcccccd") == (F{1, 0.1f}));
    BOOST_TEST(numbers<double>("<f8", "(1,)", "9a9999999999b93f") == (D{0.1}));
    BOOST_TEST(numbers<double>(">f8", "(1,)", "3fb999999999999a") == (D{0.1}));
    BOOST_TEST(numbers<float>("<f8", "(1,)", "9a9999999999b93f") == (F{0.1f}));
    BOOST_TEST(numbers<std::int32_t>("<f8", "(1,)", "0000c0ffffffdfc1") == (I{-2147483647}));
    // NumPy's float16 of 0, 1, -2, 0.1, 65504, inf, -inf, 6e-8 and 6.1e-5
    const double inf = std::numeric_limits<double>::infinity();
    BOOST_TEST(numbers<double>("<f2", "(9,)", "0000 003c 00c0 662e ff7b 007c 00fc 0100 ff03") ==
               (D{0, 1, -2, 0.0999755859375, 65504, inf, -inf, 5.960464477539063e-08, 6.097555160522461e-05}));
    BOOST_TEST(std::isnan(numbers<float>(">f2", "(1,)", "7e00")[0]));
    BOOST_TEST(std::isnan(numbers<float>("<f8", "(1,)", "000000000000f87f")[0]));
    BOOST_TEST(numbers<float>("<f8", "(1,)", "000000000000f0ff")[0] == -std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_CASE(fortran_order_becomes_row_major) {
    // np.asfortranarray(np.arange(24).reshape(2, 3, 4)).astype('>i2')
    const std::string data =
        "0000000c00040010000800140001000d00050011000900150002000e00060012000a00160003000f00070013000b0017";
    const Tensor<double> expected = Tensor<double>::arange(24).reshaped({2, 3, 4});
    BOOST_TEST(parse_npy<double>(file_of(">i2", "(2, 3, 4)", data, true), "x.npy") == expected);
    // A float file, which has a fast path that must not be taken.
    const Tensor<float> matrix = parse_npy<float>(
        file_of("<f4", "(2, 3)", "0000803f 00008040 00000040 0000a040 00004040 0000c040", true), "x.npy");
    BOOST_TEST(matrix == (Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    BOOST_TEST(parse_npy<float>(file_of("<f4", "(2, 0, 3)", "", true), "x.npy").shape() == (Shape{2, 0, 3}));
    BOOST_TEST(parse_npy<float>(file_of("<f4", "()", "0000803f", true), "x.npy").item() == 1);
}

BOOST_AUTO_TEST_CASE(headers_in_any_order_and_version) {
    for (const int version : {1, 2, 3}) {
        for (const std::string dict : {"{'shape': (2,), 'descr': '|u1', 'fortran_order': False}",
                                       "{\"fortran_order\":False,\"descr\":\"|u1\",\"shape\":(2,)}  \n",
                                       " { 'descr' : '|u1' , 'shape' : ( 2 , ) , 'fortran_order' : False , } \n"}) {
            BOOST_TEST(parse_npy<float>(file_of(dict, "0102", version), "x.npy") == (Tensor<float>{1, 2}));
        }
    }
    BOOST_TEST(numbers<float>("|u1", "()", "07")[0] == 7);
    BOOST_TEST(parse_npy<float>(file_of("|u1", "(1, 1, 1, 1, 1, 1)", "07"), "x.npy").rank() == 6);
    BOOST_TEST(parse_npy<float>(file_of("<f8", "(0, 3)", ""), "x.npy").shape() == (Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.npy";
    const auto check = [&](const auto& tensor) {
        using T = std::remove_cvref_t<decltype(tensor(0))>;
        const std::vector<std::byte> bytes = npy_bytes(tensor);
        BOOST_TEST((bytes.size() - static_cast<std::size_t>(tensor.size()) * sizeof(T)) % 64 == 0);
        BOOST_TEST(parse_npy<T>(bytes, "x.npy") == tensor);
        write_npy(path, tensor);
        BOOST_TEST(read_npy<T>(path) == tensor);
        BOOST_TEST(read_bytes(path) == bytes, "write_npy and npy_bytes differ");
    };
    check(normals({3, 4, 5}));
    check(cast<float>(normals({7})));
    check(Indices{-5, 0, 2147483647});
    check(Tensor<double>::scalar(2.5).reshaped({1}));
    check(Tensor<float>::zeros({0, 3}));
    check(Tensor<float>::zeros({1, 2, 1, 2, 1, 2}));
    BOOST_TEST(parse_npy<double>(npy_bytes(Tensor<double>::scalar(2.5)), "x.npy").item() == 2.5);
    BOOST_TEST(error_of<FileError>([&] { read_npy<float>(path + "?"); }) ==
               path + "?: cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(numbers_that_do_not_fit) {
    const std::string int32 = " does not fit int32, which is -2147483648 to 2147483647";
    BOOST_TEST(error<std::int32_t>(file_of("<i8", "(1, 2)", "0000000000000000 0000008000000000")) ==
               "x.npy: offset 78: element (0, 1): 2147483648" + int32);
    BOOST_TEST(error<std::int32_t>(file_of("<i8", "()", "ffffff7fffffffff")) ==
               "x.npy: offset 66: element (): -2147483649" + int32);
    BOOST_TEST(error<std::int32_t>(file_of("<u4", "(1,)", "00000080")) ==
               "x.npy: offset 68: element (0): 2147483648" + int32);
    BOOST_TEST(error<std::int32_t>(file_of("<f4", "(1,)", "0000c03f")) ==
               "x.npy: offset 68: element (0): 1.5 is not an integer");
    BOOST_TEST(error<std::int32_t>(file_of("<f4", "(1,)", "0000004f")) ==
               "x.npy: offset 68: element (0): 2147483648" + int32);
    BOOST_TEST(error<std::int32_t>(file_of("<f8", "(1,)", "000000000000f87f")) ==
               "x.npy: offset 68: element (0): nan" + int32);
    BOOST_TEST(error<std::int32_t>(file_of("<f2", "(1,)", "007c")) == "x.npy: offset 68: element (0): inf" + int32);
    BOOST_TEST(
        error<float>(file_of("<i4", "(1,)", "01000001")) ==
        "x.npy: offset 68: element (0): 16777217 is an integer that float cannot hold exactly; read it as double");
    BOOST_TEST(error<double>(file_of("<i8", "(1,)", "ffffffffffffdfff")) ==
               "x.npy: offset 68: element (0): -9007199254740993 is an integer that double cannot hold exactly");
    BOOST_TEST(error<float>(file_of("<f8", "(1,)", "9c7500883ce4377e")) ==
               "x.npy: offset 68: element (0): 1e+300 is beyond the range of float");
    BOOST_TEST(error<float>(file_of("|b1", "(2,)", "0102")) ==
               "x.npy: offset 69: element (1): 2 is not a bool, which is 0 or 1");
    // The element is named by its place in the tensor, not in the file.
    BOOST_TEST(error<float>(file_of("|b1", "(2, 2)", "01010001", true)) == "");
    BOOST_TEST(error<float>(file_of("|b1", "(2, 2)", "01020001", true)) ==
               "x.npy: offset 70: element (1, 0): 2 is not a bool, which is 0 or 1");
}

BOOST_AUTO_TEST_CASE(types_that_are_not_read) {
    for (const std::string descr :
         {"|O", "<c8", "<U5", "|S3", "|V4", "<M8[ns]", "f4", "<f16", "<f1", "<i3", "|f4", "?f4", ""}) {
        std::string expected = "x.npy: offset 20: descr: \"";
        expected.append(descr).append("\" is not read").append(accepted);
        BOOST_TEST(error(file_of(descr, "(0,)", "")) == expected);
    }
    BOOST_TEST(dict_error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0,), }") ==
               "x.npy: offset 20: descr: records are not read" + accepted);
    BOOST_TEST(dict_error("{'descr': 4, 'fortran_order': False, 'shape': (0,), }") ==
               "x.npy: offset 20: descr: \"4\" stands where a string in quotes is expected");
}

BOOST_AUTO_TEST_CASE(headers_that_are_wrong) {
    const auto shape_error = [](const std::string& shape) { return error(file_of("<f4", shape, "")); };
    const std::string prefix = "x.npy: offset 60: shape: ";
    BOOST_TEST(shape_error("(-1,)") == "x.npy: offset 61: shape: a size is negative; sizes are 0 or more");
    BOOST_TEST(shape_error("(3)") == prefix + "one size in parentheses is no tuple; it needs a comma");
    BOOST_TEST(shape_error("(1, 1, 1, 1, 1, 1, 1)") == prefix + "more than 6 axes are not supported");
    BOOST_TEST(shape_error("[3]") == prefix + "\"[\" stands where ( is expected");
    BOOST_TEST(shape_error("(,)") == "x.npy: offset 61: shape: \",\" stands where a size is expected");
    BOOST_TEST(shape_error("(1.5,)") == "x.npy: offset 62: shape: \".\" stands where a comma or ) is expected");
    BOOST_TEST(shape_error("(03,)") == "x.npy: offset 61: shape: a size starts with 0");
    BOOST_TEST(shape_error("(1 2)") == "x.npy: offset 63: shape: \"2\" stands where a comma or ) is expected");
    BOOST_TEST(shape_error("(9223372036854775808,)") == "x.npy: offset 61: shape: a size is above 2^63 - 1");
    BOOST_TEST(shape_error("(99999999999999999999999999,)") == "x.npy: offset 61: shape: a size is above 2^63 - 1");

    BOOST_TEST(dict_error("{'descr': '<f4', 'fortran_order': False, }") ==
               "x.npy: offset 52: header: the key shape is missing");
    BOOST_TEST(dict_error("{}") == "x.npy: offset 12: header: the key descr is missing");
    BOOST_TEST(dict_error("{'descr': '<f4', 'descr': '<f4', }") ==
               "x.npy: offset 27: header: the key \"descr\" comes twice");
    BOOST_TEST(dict_error("{'descr': '<f4', 'order\x01': 1}") ==
               "x.npy: offset 27: header: the key \"order?\" is unknown; descr, fortran_order and shape are expected");
    BOOST_TEST(dict_error("{'fortran_order': 1}") ==
               "x.npy: offset 28: fortran_order: \"1\" stands where True or False is expected");
    BOOST_TEST(dict_error("{'fortran_order': False 'shape': ()}") ==
               "x.npy: offset 34: header: \"'\" stands where } is expected");
    BOOST_TEST(dict_error("{'descr") == "x.npy: offset 11: header: a key: the string has no closing quote");
    BOOST_TEST(dict_error("") == "x.npy: offset 10: header: the header ends where { is expected");
    BOOST_TEST(dict_error("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x") ==
               "x.npy: offset 66: header: there is more behind the closing }");
    BOOST_TEST(dict_error("{'descr': __import__('os').system('id')}") ==
               "x.npy: offset 20: descr: \"_\" stands where a string in quotes is expected");
}

BOOST_AUTO_TEST_CASE(files_that_are_wrong) {
    BOOST_TEST(error(from_text("PK\3\4")) ==
               "x.npy: offset 0: magic: not an NPY file, which starts with 93 4E 55 4D 50 59 (\\x93NUMPY)");
    BOOST_TEST(error(file_of("{}", "", 4)) == "x.npy: offset 6: version: 4.0 is not read; 1.0, 2.0 and 3.0 are");
    BOOST_TEST(error(from_hex("934e554d50590100ffff")) ==
               "x.npy: offset 8: header length: 65535 is above the limit of 10000");
    BOOST_TEST(error(from_hex("934e554d50590200ffffffff")) ==
               "x.npy: offset 8: header length: 4294967295 is above the limit of 10000");
    BOOST_TEST(error(from_hex("934e554d5059010010277b7d")) ==
               "x.npy: offset 8: header length: 10000, but only 2 bytes follow");
    BOOST_TEST(error(file_of("<f4", "(2,)", "0000803f 0000803f 00")) ==
               "x.npy: offset 68: data: 9 bytes, but the header says 8");
    BOOST_TEST(error(file_of("<f4", "(2,)", "0000803f 000080")) ==
               "x.npy: offset 68: data: 7 bytes, but the header says 8");
    // 2^32 x 2^32 x 4 is 0 modulo 2^64.
    BOOST_TEST(error(file_of("<f4", "(4294967296, 4294967296)", "")) ==
               "x.npy: offset 60: shape: 4294967296 x 4294967296 x 4 bytes, beside the 88 taken before, are more than "
               "the limit of 50331648" +
                   by_default);
    BOOST_TEST(error(file_of("<f4", "(4294967296, 4294967296)", ""), {.max_memory = ~std::uint64_t{0}}) ==
               "x.npy: offset 60: shape: 4294967296 x 4294967296 x 4 bytes, beside the 88 taken before, are more than "
               "the limit of 1152921504606846976 (ReadLimits::max_memory)");
    // Nothing, times what no file can have.
    BOOST_TEST(error(file_of("<f4", "(0, 4611686018427387904)", "")) ==
               "x.npy: offset 60: shape: 0 x 4611686018427387904 x 4 bytes, beside the 88 taken before, are more than "
               "the limit of 50331648" +
                   by_default);
    BOOST_TEST(parse_npy<float>(file_of("<f4", "(0, 1000)", ""), "x.npy").shape() == (Shape{0, 1000}));
    BOOST_TEST(error(file_of("<f4", "(1000000000,)", ""), {.max_memory = std::uint64_t{1} << 33}) ==
               "x.npy: offset 77: data: 0 bytes, but the header says 4000000000");
    // The limit counts what a file becomes, not only what it is.
    const std::vector<std::byte> small = file_of("|u1", "(4,)", "01020304");
    BOOST_TEST(parse_npy<float>(small, "x.npy", {.max_memory = small.size() + 16}).size() == 4);
    const std::string size = std::to_string(small.size()), limit = std::to_string(small.size() + 31);
    BOOST_TEST(error<double>(small, {.max_memory = small.size() + 31}) ==
               "x.npy: offset 60: shape: 4 x 8 bytes, beside the " + size +
                   " taken before, are more than the limit of " + limit + " (ReadLimits::max_memory)");
}

BOOST_AUTO_TEST_CASE(broken_in_every_place) {
    for (const std::vector<std::byte>& file :
         {from_hex(saved_by_numpy), file_of(">i2", "(2, 3)", "000000010002000300040005", true)}) {
        const auto parse = [](Bytes bytes) { return parse_npy<float>(bytes, "x.npy").size(); };
        BOOST_TEST(parse(file) == 6);
        check_every_prefix(file, file.size(), parse);
        BOOST_TEST(check_every_flip(file, parse) > 300);
        const auto parse_integers = [](Bytes bytes) { return parse_npy<std::int32_t>(bytes, "x.npy").size(); };
        check_every_flip(file, parse_integers);
    }
}

BOOST_AUTO_TEST_SUITE_END()
