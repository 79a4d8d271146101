#include "../bytes.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"
#include "support.hpp"

#include <pollen/data/formats/idx.hpp>
#include <pollen/data/io/gzip.hpp>

#include <functional>
#include <tuple>

using namespace pollen;
using namespace pollen::test;

namespace {

template <class T = double>
Tensor<T> idx(const std::string& text, const ReadLimits& limits = {}) {
    return parse_idx<T>(bytes_of(text), "f.idx", limits);
}
template <class T = double>
std::string error(const std::string& text, const ReadLimits& limits = {}) {
    return error_of<FileError>([&] { idx<T>(text, limits); });
}
std::string zipped(const std::string& text) { return text_of(gzip(bytes_of(text))); }

const std::string bytes_2_3 = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x00\x01\x7f\x80\xfe\xff"s;
const std::string images = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x00\x33\x66\xff"s;
const std::string labels = "\0\0\x08\x01\0\0\0\x02\x09\x00"s;

LabelledImages<float> labelled(const std::string& image_text, const std::string& label_text, int classes = 10) {
    return parse_labelled_images<float>(bytes_of(image_text), "i.idx", bytes_of(label_text), "l.idx", classes);
}
std::string labelled_error(const std::string& image_text, const std::string& label_text) {
    return error_of<FileError>([&] { labelled(image_text, label_text); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(idx_files)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_element_type, T, decltype(std::tuple<float, double, std::int32_t>())) {
    BOOST_TEST((idx<T>(bytes_2_3) == Tensor<T>{{0, 1, 127}, {128, 254, 255}}));
    BOOST_TEST((idx<T>("\0\0\x09\x01\0\0\0\x03\x7f\x80\xff"s) == Tensor<T>{127, -128, -1}));
    BOOST_TEST((idx<T>("\0\0\x0b\x01\0\0\0\x03\x01\x02\x80\x00\xff\xff"s) == Tensor<T>{258, -32768, -1}));
    BOOST_TEST((idx<T>("\0\0\x0c\x01\0\0\0\x02\x00\x01\x00\x02\xff\xff\xff\xfe"s) == Tensor<T>{65538, -2}));
    BOOST_TEST((idx<T>("\0\0\x0d\x01\0\0\0\x02\x40\x40\x00\x00\xbf\x80\x00\x00"s) == Tensor<T>{3, -1}));
    BOOST_TEST((idx<T>("\0\0\x0e\x01\0\0\0\x01\x40\x59\x00\x00\x00\x00\x00\x00"s) == Tensor<T>{100}));
}

BOOST_AUTO_TEST_CASE(shapes) {
    BOOST_TEST((idx("\0\0\x08\x06\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0\x01\x05\x06"s) ==
                Tensor<double>(Shape{1, 1, 1, 1, 2, 1}, std::vector<double>{5, 6})));
    BOOST_TEST((idx("\0\0\x08\x03\0\0\0\x00\0\0\0\x1c\0\0\0\x1c"s).shape() == Shape{0, 28, 28}));
}

BOOST_AUTO_TEST_CASE(fractions) {
    const std::string half = "\0\0\x0d\x01\0\0\0\x02\x40\x40\x00\x00\xbf\x00\x00\x00"s;
    BOOST_TEST((idx<float>(half) == Tensor<float>{3, -0.5f}));
    BOOST_TEST(error<std::int32_t>(half) ==
               "f.idx: offset 12: element 1: -0.5 is not a whole number of 32 bits, as which it is read");
    const std::string not_a_number = "\0\0\x0d\x01\0\0\0\x01\x7f\xc0\x00\x00"s;
    BOOST_TEST(std::isnan(idx(not_a_number)(0)));
    BOOST_TEST(error<std::int32_t>(not_a_number) ==
               "f.idx: offset 8: element 0: nan is not a whole number of 32 bits, as which it is read");
    const std::string two_to_31 = "\0\0\x0d\x01\0\0\0\x01\x4f\x00\x00\x00"s;
    BOOST_TEST((idx(two_to_31) == Tensor<double>{2147483648.0}));
    BOOST_TEST(error<std::int32_t>(two_to_31) != "");
    BOOST_TEST((idx<std::int32_t>("\0\0\x0d\x01\0\0\0\x01\xcf\x00\x00\x00"s) == Indices{INT32_MIN}));
    const std::string huge = "\0\0\x0e\x01\0\0\0\x01\x7e\x37\xe4\x3c\x88\x00\x75\x9c"s;
    BOOST_TEST((idx(huge) == Tensor<double>{1e300}));
    // Whole numbers above 2^24, of which a float holds some.
    const std::string large = "\0\0\x0c\x01\0\0\0\x04"s + "\1\0\0\0\1\0\0\2\xff\0\0\0\x80\0\0\0"s;
    BOOST_TEST((idx<float>(large) == Tensor<float>{16777216, 16777218, -16777216, -2147483648.0f}));
    const std::string odd = "\0\0\x0c\x01\0\0\0\x02"s + "\0\0\0\7\1\0\0\1"s;
    BOOST_TEST(error<float>(odd) ==
               "f.idx: offset 12: element 1: 16777217 is a whole number that a float does not hold; read it as double");
    BOOST_TEST((idx(odd) == Tensor<double>{7, 16777217}));
    BOOST_TEST((idx<std::int32_t>(odd) == Indices{7, 16777217}));
    BOOST_TEST(error<float>(huge) == "f.idx: offset 8: element 0: 1e+300 is too large for a float");
}

BOOST_AUTO_TEST_CASE(through_gzip) {
    BOOST_TEST((idx(zipped(bytes_2_3)) == idx(bytes_2_3)));
    BOOST_TEST(error(zipped(bytes_2_3 + "x")) ==
               "f.idx: offset 18: more bytes follow; the header says that the file ends here");
    BOOST_TEST(error(zipped(bytes_2_3.substr(0, 17))) ==
               "f.idx: offset 17: elements: the file ends here; its header says that it has 18 bytes");
    const std::string whole = zipped(bytes_2_3);
    for (std::size_t size = 0; size < whole.size(); ++size) BOOST_TEST(error(whole.substr(0, size)) != "");
    BOOST_TEST(error(whole + "x").ends_with("gzip: 1 bytes follow the end of the compressed data"));
    std::string wrong_sum = whole;
    wrong_sum[whole.size() - 8] ^= 1;
    BOOST_TEST(error(wrong_sum).ends_with("gzip: incorrect data check"));
    // Eight million zeros behind a header that announces 6 bytes.
    BOOST_TEST(error(zipped(bytes_2_3 + std::string(8000000, '\0'))) ==
               "f.idx: offset 18: more bytes follow; the header says that the file ends here");
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
    for (std::size_t size = 0; size < bytes_2_3.size(); ++size) BOOST_TEST(error(bytes_2_3.substr(0, size)) != "");
    BOOST_TEST(error("") == "f.idx: offset 0: magic: the file ends here; expected 2 bytes up to the end of the field");
    BOOST_TEST(error(bytes_2_3.substr(0, 7)) ==
               "f.idx: offset 7: sizes: the file ends here; expected 12 bytes up to the end of the field");
    BOOST_TEST(error(bytes_2_3.substr(0, 17)) ==
               "f.idx: offset 17: elements: the file ends here; its header says that it has 18 bytes");
    BOOST_TEST(error(bytes_2_3 + "x") ==
               "f.idx: offset 18: more bytes follow; the header says that the file ends here");
}

BOOST_AUTO_TEST_CASE(wrong_headers) {
    BOOST_TEST(error("PK\x08\x01\0\0\0\x01\x05"s) ==
               "f.idx: offset 0: magic: 0x50 0x4B; an IDX file begins with two zero bytes");
    BOOST_TEST(error("\0\0\x0a\x01\0\0\0\x01\x05"s) ==
               "f.idx: offset 2: element type: 0x0A is unknown; expected 0x08, "
               "0x09, 0x0B, 0x0C, 0x0D or 0x0E");
    BOOST_TEST(error("\0\0\x08\0\x05"s) == "f.idx: offset 3: rank: 0 axes; expected 1 to 6");
    BOOST_TEST(error("\0\0\x08\x07"s + std::string(28, '\1')) == "f.idx: offset 3: rank: 7 axes; expected 1 to 6");
}

BOOST_AUTO_TEST_CASE(announced_sizes_are_not_believed) {
    const std::string most = "\xff\xff\xff\xff", header_1 = "\0\0\x08\x01"s + most,
                      header_2 = "\0\0\x08\x02"s + most + most, nothing = "\0\0\x08\x03\0\0\0\0"s + most + most,
                      header_6 = "\0\0\x0e\x06"s + most + most + most + most + most + most;
    for (const auto& wrap : {std::function<std::string(std::string)>([](std::string s) { return s; }),
                             std::function<std::string(std::string)>(zipped)}) {
        const auto refused = [&](const std::string& sizes, std::size_t bytes) {
            std::string text = "f.idx: offset 4: sizes: ";
            text.append(sizes).append(" x 8 bytes, beside the ").append(std::to_string(bytes));
            return text.append(" taken before, are more than the limit of 50331648").append(by_default);
        };
        const std::string one = wrap(header_1), two = wrap(header_2), none = wrap(nothing);
        BOOST_TEST(error(one) == refused("4294967295", one.size()));
        BOOST_TEST(error(two) == refused("4294967295 x 4294967295", two.size()));
        // Nothing, times what no file can have.
        BOOST_TEST(error(none) == refused("0 x 4294967295 x 4294967295", none.size()));
        BOOST_TEST(idx(wrap("\0\0\x08\x02\0\0\0\0\0\0\x01\0"s)).shape() == (Shape{0, 256}));
        BOOST_TEST(error(wrap(header_6)) != "");
        BOOST_TEST(error(wrap(header_6), {.max_memory = UINT64_MAX}) != "");
        BOOST_TEST(error(wrap("\0\0\x08\x01"s + most), {.max_memory = UINT64_MAX}) ==
                   "f.idx: offset 8: elements: the file ends here; its header says that it has 4294967303 bytes");
    }
    const std::string doubles = "\0\0\x0e\x01\0\0\0\x02"s + std::string(16, '\0');
    BOOST_TEST(error<float>(doubles, {23}) == "f.idx: has 24 bytes, more than the limit of 23 (ReadLimits::max_bytes)");
    BOOST_TEST(error<double>(bytes_2_3, {47}) ==
               "f.idx: offset 4: sizes: 2 x 3 x 8 bytes, beside the 18 taken before, "
               "are more than the limit of 65" +
                   by_max_bytes(47, 18));
    const std::string small = zipped(bytes_2_3);
    BOOST_TEST(error<double>(small, {48 + 5}) ==
               "f.idx: offset 4: expanded sizes: 6 x 1 bytes, beside the " + std::to_string(small.size() + 48) +
                   " taken before, are more than the limit of " + std::to_string(small.size() + 53) +
                   by_max_bytes(53, small.size()));
    BOOST_TEST(error<double>(small, {48 + 6}) == "");
    BOOST_TEST(error<double>(bytes_2_3, {48}) == "");
}

BOOST_AUTO_TEST_CASE(bytes_to_write) {
    BOOST_TEST((text_of(idx_bytes(Tensor<float>{{0, 1, 127}, {128, 254, 255}})) == bytes_2_3));
    BOOST_TEST((text_of(idx_bytes(Indices{9, 0})) == labels));
    const auto refused = [](const auto& tensor) { return error_of<ValueError>([&] { idx_bytes(tensor); }); };
    BOOST_TEST(refused(Tensor<double>{0, 1, 2.5}) ==
               "idx_bytes: element 2 is 2.5; expected whole numbers from 0 to 255");
    BOOST_TEST(refused(Indices{256}) == "idx_bytes: element 0 is 256; expected whole numbers from 0 to 255");
    BOOST_TEST(refused(Tensor<float>{-1}) != "");
    BOOST_TEST(refused(Tensor<float>{NAN}) != "");
    BOOST_TEST(refused(Tensor<double>::scalar(1)) ==
               "idx_bytes: the tensor has shape (); IDX files have at least one axis");
}

BOOST_AUTO_TEST_CASE(labelled_images) {
    const LabelledImages<float> data = labelled(images, labels);
    BOOST_TEST((data.images == Tensor<float>(Shape{2, 1, 1, 2}, std::vector<float>{0, 0.2f, 0.4f, 1})));
    BOOST_TEST((data.labels == Indices{9, 0}));

    const TemporaryDirectory directory;
    put(directory / "i", zipped(images));
    put(directory / "l", labels);
    BOOST_TEST((read_labelled_images<float>(directory / "i", directory / "l").images == data.images));
    BOOST_TEST((read_labelled_images<double>(directory / "i", directory / "l").images(0, 0, 0, 1) == 51.0 / 255));
    BOOST_TEST((read_idx<std::int32_t>(directory / "l") == data.labels));
    BOOST_TEST(error_of<FileError>([&] { read_idx<float>(directory / "none"); }) ==
               directory / "none" + ": cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(wrong_labels) {
    BOOST_TEST(labelled_error(images, "\0\0\x08\x01\0\0\0\x02\x09\x0a"s) ==
               "l.idx: offset 9: item 1: label 10; expected 0 to 9");
    BOOST_TEST(labelled_error(images, "\0\0\x09\x01\0\0\0\x02\xff\x09"s) ==
               "l.idx: offset 8: item 0: label -1; expected 0 to 9");
    BOOST_TEST(labelled_error(images, "\0\0\x0d\x01\0\0\0\x01\x7f\xc0\x00\x00"s) ==
               "l.idx: offset 8: element 0: nan is not a whole number of 32 bits, as which it is read");
    BOOST_TEST(labelled_error(images, "\0\0\x08\x01\0\0\0\x03\x01\x02\x03"s) ==
               "l.idx: offset 4: count: 3 labels, but i.idx has 2 images");
    BOOST_TEST(labelled_error(images, images) == "l.idx: offset 3: rank: labels of shape (2, 1, 2); expected one axis");
    BOOST_TEST(labelled_error(labels, labels) ==
               "i.idx: offset 3: rank: images of shape (2); expected three axes: count, height, width");
    BOOST_TEST(labelled_error("\0\0\x09\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x00\x33\x66\x7f"s, labels) ==
               "i.idx: offset 2: element type: 0x09; images are unsigned bytes, 0x08");
    BOOST_TEST(error_of<ValueError>([] { labelled(images, labels, 0); }) ==
               "labelled images: 0 classes; expected at least 1");
}

BOOST_AUTO_TEST_SUITE_END()
