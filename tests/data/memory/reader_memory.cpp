#include "../../support.hpp"
#include "../bytes.hpp"
#include "../child_process.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"
#include "counted_heap.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/data/formats/idx.hpp>
#include <pollen/data/formats/image.hpp>
#include <pollen/data/formats/libsvm.hpp>
#include <pollen/data/formats/npy.hpp>
#include <pollen/data/formats/npz.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/gzip.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <fstream>

// No file of at most 1 MiB makes a reader take more than 64 MB, unless an option allows it.

using namespace pollen;
using namespace pollen::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20, most = 64'000'000;

// A text of at most 1 MiB that repeats a piece.
std::string repeated(const std::string& piece, const std::string& before = "", std::size_t size = mebibyte) {
    std::string text = before;
    text.reserve(size);
    while (text.size() + piece.size() <= size) text += piece;
    return text;
}

std::string zipped(const std::string& text) { return text_of(gzip(bytes_of(text))); }

template <class Read>
std::size_t peak_of(const std::string& file, const Read& read, std::string& error) {
    Pool::global().trim();
    const std::size_t before = heap_bytes();
    forget_most_heap_bytes();
    try {
        const std::vector<std::byte> bytes(bytes_of(file).begin(), bytes_of(file).end());
        read(Bytes(bytes));
    } catch (const Error& e) {
        error = e.what();
    }
    return most_heap_bytes() - before;
}

// What reading takes, the file included; the error, or an empty text.
template <class Read>
std::string check_memory(const char* what, const std::string& file, const Read& read) {
    BOOST_REQUIRE(file.size() <= mebibyte);
    std::string error;
    const std::size_t peak = peak_of(file, read, error);
    BOOST_TEST_MESSAGE(what << ": " << file.size() << " bytes of file, " << peak << " of heap; " << error);
    BOOST_TEST(peak <= most, what << ": " << peak << " bytes");
    return error;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reader_memory)

BOOST_AUTO_TEST_CASE(libsvm_files) {
    const auto read = [](Bytes bytes) { parse_libsvm(bytes, "f"); };
    BOOST_TEST(check_memory("14 bytes", "1 500000000:1\n", read) ==
               "f: dense table: 1 x 500000001 x 8 bytes, beside the 14 taken before, are more than the limit of "
               "50331648" +
                   by_default);
    BOOST_TEST(check_memory("the longest row", "1 6291000:1\n", read) == "");
    BOOST_TEST(check_memory("many rows", repeated("1\n", "1 10:1\n"), read) == "");
    BOOST_TEST(check_memory("many zipped rows", zipped(repeated("1\n", "1 1:1\n", 300 * mebibyte)), read) != "");
    BOOST_TEST(check_memory("fewer zipped rows", zipped(repeated("1\n", "", 9 * mebibyte)), read) == "");
    // An option allows it.
    std::string error;
    const auto allowed = [](Bytes bytes) { parse_libsvm(bytes, "f", {.limits = {.max_memory = 200'000'000}}); };
    const std::size_t peak = peak_of("1 20000000:1\n", allowed, error);
    BOOST_TEST(error == "");
    BOOST_TEST(peak > 160'000'000u);
}

BOOST_AUTO_TEST_CASE(csv_numbers) {
    CsvOptions blanks;
    blanks.delimiter = ' ';
    CsvOptions one;
    one.columns = {"1"};
    CsvOptions no_header;
    no_header.header = CsvOptions::Header::no;
    for (const std::string piece : {"0,", "\"0\",", "0\n", "0 ", " ", ",", "x,", "1,2,3,4\n", "\"\"\n"}) {
        const std::string file = repeated(piece);
        for (const CsvOptions& options : {CsvOptions{}, blanks, one, no_header}) {
            const auto read = [&](Bytes bytes) { parse_csv(bytes, "f", options); };
            check_memory(("csv " + piece).c_str(), file, read);
            check_memory(("zipped csv " + piece).c_str(), zipped(repeated(piece, "", 20 * mebibyte)), read);
        }
    }
    const auto read = [&](Bytes bytes) { parse_csv(bytes, "f"); };
    BOOST_TEST(check_memory("a bomb", zipped(repeated("0,0,0\n", "", 300 * mebibyte)), read)
                   .starts_with("f: gzip: expands to more than the limit of 50331648 (48 MiB"));
    // A gzip file that announces little, and one of many members.
    std::string liar = zipped(repeated("0,0,0\n", "", 100 * mebibyte));
    liar[liar.size() - 1] = liar[liar.size() - 2] = '\0';
    BOOST_TEST(check_memory("a bomb that lies", liar, read) != "");
    BOOST_TEST(check_memory("many members", repeated(zipped(std::string(1000, '0'))), read) != "");
}

BOOST_AUTO_TEST_CASE(csv_texts) {
    const auto read = [](Bytes bytes) { parse_csv_text(bytes, "f"); };
    for (const std::string piece : {"a\n", ",\n", ",,\n", "a,", ",", "\"\",", "\"\"\n", "0123456789abcdef\n",
                                    "0123456789abcdef,0123456789abcdef\n"}) {
        check_memory(("text " + piece).c_str(), repeated(piece), read);
        check_memory(("zipped text " + piece).c_str(), zipped(repeated(piece, "", 10 * mebibyte)), read);
    }
    BOOST_TEST(check_memory("honest text", repeated("2020-01-02,1.5,red\n"), read) == "");
}

std::string idx(std::string_view sizes, std::size_t bytes) {
    return "\0\0\x08"s + static_cast<char>(sizes.size() / 4) + std::string(sizes) + std::string(bytes, '\0');
}

BOOST_AUTO_TEST_CASE(idx_files) {
    with_threads(1, [] {
        const auto floats = [](Bytes bytes) { parse_idx<float>(bytes, "f"); };
        const auto doubles = [](Bytes bytes) { parse_idx<double>(bytes, "f"); };
        // 2^23 and 2^26 bytes.
        const std::string small = zipped(idx("\0\x80\0\0"s, 1 << 23)), large = zipped(idx("\4\0\0\0"s, 1 << 26));
        BOOST_TEST(check_memory("8 MiB as float", small, floats) == "");
        BOOST_TEST(check_memory("8 MiB as double", small, doubles) != "");
        BOOST_TEST(check_memory("64 MiB", large, floats) ==
                   "f: offset 4: sizes: 67108864 x 4 bytes, beside the " + std::to_string(large.size()) +
                       " taken before, are more than the limit of 50331648" + by_default);
        BOOST_TEST(check_memory("only promised", idx("\0\x40\0\0"s, 0), floats) ==
                   "f: offset 8: elements: the file ends here; its header says that it has 4194312 bytes");
        BOOST_TEST(check_memory("only promised, zipped", zipped(idx("\0\x90\0\0"s, 0)), floats) ==
                   "f: offset 8: elements: the file ends here; its header says that it has 9437192 bytes");
        BOOST_TEST(check_memory("as large as the file", idx("\0\x0f\xff\0"s, 0xfff00), doubles) == "");
    });
}

BOOST_AUTO_TEST_CASE(npz_files) {
    const auto all = [](Bytes bytes) {
        const Npz npz = Npz::parse(bytes, "f");
        for (const std::string& name : npz.names()) npz.get<double>(name);
    };
    BOOST_TEST(check_memory("zeros", text_of(npz_bytes({{"a", Tensor<float>::zeros({4'000'000})}})), all) == "");
    const std::string large = text_of(npz_bytes({{"a", Tensor<double>::zeros({100'000'000})}}));
    BOOST_TEST(check_memory("many zeros", large, all) ==
               "f: entry \"a.npy\": 800000128 bytes, beside the " + std::to_string(large.size()) +
                   " taken before, are more than the limit of 50331648" + by_default);
    NpzArrays several;
    for (int k = 0; k < 20; ++k) several.emplace_back(std::to_string(k), Tensor<float>::zeros({1'000'000}));
    BOOST_TEST(check_memory("several", text_of(npz_bytes(several)), all) != "");
    NpzArrays tiny;
    for (int k = 0; k < 3500; ++k) tiny.emplace_back(std::to_string(k), Tensor<float>::zeros({0}));
    BOOST_TEST(check_memory("many arrays", text_of(npz_bytes(tiny)), all) == "");
}

BOOST_AUTO_TEST_CASE(npy_files) {
    const auto read = [](Bytes bytes) { parse_npy<double>(bytes, "f"); };
    BOOST_TEST(check_memory("bools",
                            "\x93NUMPY\1\0\x40\0{'descr': '|b1', 'fortran_order': False, 'shape': (1000000,)}  \n"s +
                                std::string(1000000, '\1'),
                            read) == "");
}

BOOST_AUTO_TEST_CASE(images) {
    const auto png = [](Bytes bytes) { parse_png<float>(bytes, "f"); };
    const auto pgm = [](Bytes bytes) { parse_pgm<double>(bytes, "f"); };
    BOOST_TEST(check_memory("PNG", text_of(png_bytes(Tensor<float>::zeros({1, 3000, 3000}))), png) == "");
    const std::string large = text_of(png_bytes(Tensor<float>::zeros({1, 6000, 6000})));
    BOOST_TEST(check_memory("large PNG", large, png) ==
               "f: image: 1 x 6000 x 6000 x 5 bytes, beside the " + std::to_string(large.size()) +
                   " taken before, are more than the limit of 50331648" + by_default);
    BOOST_TEST(check_memory("plain PGM", repeated("0 ", "P2 700 700 1 ", 700 * 1400 + 13), pgm) == "");
    BOOST_TEST(check_memory("raw PGM", repeated("0", "P5 1000 1000 255 ", 1'000'017), pgm) == "");
}

std::string safetensors(const std::string& header, const std::string& data) {
    std::string length;
    for (int shift = 0; shift < 64; shift += 8) length += static_cast<char>(header.size() >> shift);
    return length + header + data;
}

BOOST_AUTO_TEST_CASE(safetensors_files) {
    const auto read = [](Bytes bytes) { parse_safetensors(bytes, "f"); };
    std::string tensors = "{", texts = R"({"__metadata__":{)", offsets = "{\"a\":{\"dtype\":\"";
    for (int k = 0; tensors.size() < mebibyte - 200; ++k)
        tensors += (k ? ",\"" : "\"") + std::to_string(k) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    for (int k = 0; texts.size() < mebibyte - 200; ++k) texts += (k ? ",\"" : "\"") + std::to_string(k) + R"(":"")";
    BOOST_TEST(check_memory("tensors", safetensors(tensors + "}", ""), read) == "");
    BOOST_TEST(check_memory("metadata", safetensors(texts + "}}", ""), read) == "");
    BOOST_TEST(check_memory("bytes",
                            safetensors(R"({"a":{"dtype":"U8","shape":[1000000],"data_offsets":[0,1000000]}})",
                                        std::string(1000000, '\0')),
                            read) == "");
    BOOST_TEST(check_memory("no tensor", safetensors(offsets + std::string(mebibyte - 100, 'x') + "\"}}", ""), read) !=
               "");
}

BOOST_AUTO_TEST_CASE(draws) {
    const TemporaryDirectory directory;
    const std::string path = directory / "c.csv";
    const auto read = [&](Bytes bytes) {
        put(path, text_of({bytes.begin(), bytes.end()}));
        read_stan_csv(path);
    };
    std::string names = "lp__", again = "lp__,w.1";
    for (int k = 0; names.size() < mebibyte - 100; ++k) {
        names += ",";
        for (int rest = k; rest >= 0; rest = rest / 26 - 1) names += static_cast<char>('a' + rest % 26);
    }
    for (int k = 2; again.size() < mebibyte - 100; ++k) again += ",w." + std::to_string(k);
    check_memory("many quantities", names + "\n", read);
    BOOST_TEST(check_memory("a long quantity", again + "\n", read) == "");
    check_memory("short rows", repeated("1\n", "lp__\n"), read);
    check_memory("pairs", repeated("1,1\n", "lp__,a\n"), read);
    check_memory("a metric",
                 repeated("1,", "lp__\n# Diagonal elements of inverse mass matrix:\n# ", mebibyte - 2) + "1\n", read);
    std::string row = "lp__", rows;
    for (int k = 1; k <= 1000; ++k) row += ",w." + std::to_string(k);
    rows = "1";
    for (int k = 1; k <= 1000; ++k) rows += ",1";
    BOOST_TEST(check_memory("long rows", repeated(rows + "\n", row + "\n"), read) == "");
}

// A file larger than the memory there is.
BOOST_AUTO_TEST_CASE(memory_that_cannot_be_had) {
    const TemporaryDirectory directory;
    const std::string path = directory / "large";
    put(path, "");
    const std::uint64_t size = std::uint64_t{3} << 30;  // without a byte on the disk
    BOOST_REQUIRE(truncate(path.c_str(), static_cast<off_t>(size)) == 0);
    const int status = run_copy([&] {
        // 1 GiB more than there is already, of threads and what they hold.
        std::uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t most = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (std::uint64_t{1} << 30);
        const rlimit limit{most, most};
        if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
        const std::string message = error_of<MemoryError>([&] { read_bytes(path); });
        return message == path + ": the system has no 3221225472 bytes left" ? 0 : 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
