#include "../../support.hpp"
#include "../bytes.hpp"
#include "../hostile.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/npy.hpp>
#include <pollen/data/formats/npz.hpp>

#include <thread>

using namespace pollen;
using namespace pollen::test;

namespace {

// np.savez_compressed(w=np.array([[1, 2], [3, 4]], 'f4'), labels=np.array([7, -1, 3], 'i8'))
const std::string saved_by_numpy =
    "504b0304140000000800000021004efb2075530000009000000005001400772e6e707901001000900000000000000053000000000000009b"
    "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a"
    "463a0a469a3a0ab50a64032e0686067b060606072002e2060700504b030414000000080000002100b56ba62e4d000000980000000a001400"
    "6c6162656c732e6e70790100100098000000000000004d000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1ae"
    "a3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e760608f80f05cc503e00504b010214"
    "03140000000800000021004efb20755300000090000000050000000000000000000000800100000000772e6e7079504b0102140314000000"
    "080000002100b56ba62e4d000000980000000a000000000000000000000080018a0000006c6162656c732e6e7079504b0506000000000200"
    "02006b000000130100000000";
// A deflate stream of the 20128 bytes of np.save(np.zeros(20000, 'u1'))
const std::string many_zeros =
    "edc8310e01410040d1d53ac57443b2054a07d0118d42251b3ba2102b3368700a17b6aea052bcd7fdff5e6d96ebeda0ba578fd8a6b2cf711e"
    "e2f3368d7588872e5f7373de75b94ddfbf684e25f5bf1c9b4bea7b349bf4ea711d5ee147c30a000000000000000000000000000000000000"
    "80bff001";

// One entry of an archive, with every field that can lie.
struct Entry {
    std::string name;
    std::vector<std::byte> data;
    unsigned method = 0, flags = 0;
    std::int64_t size = -1, packed = -1, crc = -1;  // -1: as it is
};

void put(std::vector<std::byte>& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0));
}

void put(std::vector<std::byte>& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

// What local header and directory entry have in common: from the version needed to the length of the extra field.
void put_fields(std::vector<std::byte>& out, const Entry& entry) {
    const auto size = static_cast<std::int64_t>(entry.data.size());
    put(out, 20, 2);
    put(out, entry.flags, 2);
    put(out, entry.method, 2);
    put(out, 0x210000, 4);
    put(out, entry.crc < 0 ? crc32_of(entry.data) : static_cast<std::uint64_t>(entry.crc), 4);
    put(out, static_cast<std::uint64_t>(entry.packed < 0 ? size : entry.packed), 4);
    put(out, static_cast<std::uint64_t>(entry.size < 0 ? size : entry.size), 4);
    put(out, entry.name.size(), 2);
    put(out, 0, 2);
}

void put_end(std::vector<std::byte>& out, std::size_t entries, std::size_t size, std::size_t at) {
    put(out, 0x06054b50, 4);
    put(out, 0, 4);
    put(out, entries, 2);
    put(out, entries, 2);
    put(out, size, 4);
    put(out, at, 4);
    put(out, 0, 2);
}

std::vector<std::byte> archive_of(const std::vector<Entry>& entries) {
    std::vector<std::byte> out, directory;
    for (const Entry& entry : entries) {
        put(directory, 0x02014b50, 4);
        put(directory, 20, 2);
        put_fields(directory, entry);
        put(directory, 0, 10);
        put(directory, out.size(), 4);
        put(directory, from_text(entry.name));
        put(out, 0x04034b50, 4);
        put_fields(out, entry);
        put(out, from_text(entry.name));
        put(out, entry.data);
    }
    const std::size_t at = out.size();
    put(out, directory);
    put_end(out, entries.size(), directory.size(), at);
    return out;
}

const std::vector<std::byte> one = npy_bytes(Tensor<float>{1});

std::string error(Bytes bytes, const ReadLimits& limits = {}) {
    return error_of<FileError>([&] { Npz::parse(bytes, "x.npz", limits); });
}

std::string error(const Entry& entry, const ReadLimits& limits = {}) { return error(archive_of({entry}), limits); }

// The archive opens; its array "a" does not.
std::string array_error(const Entry& entry, const ReadLimits& limits = {}) {
    const Npz npz = Npz::parse(archive_of({entry}), "x.npz", limits);
    return error_of<FileError>([&] { npz.get<float>("a"); });
}

int read_all(Bytes bytes) {
    const Npz npz = Npz::parse(bytes, "x.npz");
    for (const std::string& name : npz.names()) npz.get<double>(name);
    return static_cast<int>(npz.names().size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npz)

BOOST_AUTO_TEST_CASE(an_archive_of_numpy) {
    const Npz npz = Npz::parse(from_hex(saved_by_numpy), "x.npz");
    BOOST_TEST(npz.names() == (std::vector<std::string>{"w", "labels"}), boost::test_tools::per_element());
    BOOST_TEST(npz.get<float>("w") == (Tensor<float>{{1, 2}, {3, 4}}));
    BOOST_TEST(npz.get<double>("w") == (Tensor<double>{{1, 2}, {3, 4}}));
    BOOST_TEST(npz.get<std::int32_t>("labels") == (Indices{7, -1, 3}));
    BOOST_TEST(error_of<FileError>([&] { npz.get<float>("W"); }) ==
               "x.npz: there is no array \"W\"; there are \"w\", \"labels\"");
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.npz";
    const Tensor<double> x = normals({50, 3});
    const Tensor<float> y = cast<float>(normals({7}, 2));
    const Indices labels{3, 1, 2};
    write_npz(path, {{"x", x}, {"group/y", y}, {"labels", labels}, {"none", Tensor<float>::zeros({0, 2})}});
    const Npz npz = Npz::read(path);
    BOOST_TEST(npz.names() == (std::vector<std::string>{"x", "group/y", "labels", "none"}),
               boost::test_tools::per_element());
    BOOST_TEST(npz.get<double>("x") == x);
    BOOST_TEST(npz.get<float>("group/y") == y);
    BOOST_TEST(npz.get<std::int32_t>("labels") == labels);
    BOOST_TEST(npz.get<float>("none").shape() == (Shape{0, 2}));
    BOOST_TEST(npz.get<double>("x") == x);  // more than once

    const NpzArrays arrays = {{"zeros", Tensor<double>::zeros({10000})}};
    const std::vector<std::byte> bytes = npz_bytes(arrays);
    BOOST_TEST(bytes.size() < 500);
    BOOST_TEST((bytes == npz_bytes(arrays)), "the bytes depend on something else than the arrays");
    BOOST_TEST(Npz::parse(bytes, "x.npz").get<double>("zeros") == Tensor<double>::zeros({10000}));

    const Npz empty = Npz::parse(npz_bytes({}), "x.npz");
    BOOST_TEST(empty.names().empty());
    BOOST_TEST(error_of<FileError>([&] { empty.get<float>("x"); }) ==
               "x.npz: there is no array \"x\"; the archive is empty");
    BOOST_TEST(error_of<FileError>([&] { Npz::read(path + "?"); }) ==
               path + "?: cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(two_threads_read_one_archive) {
    const Tensor<double> x = normals({2000}, 1), y = normals({3000}, 2);
    const Npz npz = Npz::parse(npz_bytes({{"x", x}, {"y", y}}), "x.npz");
    int right = 0;
    {
        const std::jthread other([&] {
            for (int i = 0; i < 50; ++i) right += npz.get<double>("x") == x;
        });
        for (int i = 0; i < 50; ++i) BOOST_TEST(npz.get<double>("y") == y);
    }
    BOOST_TEST(right == 50);
}

BOOST_AUTO_TEST_CASE(names_that_are_not_written) {
    const auto write_error = [](const NpzArrays& arrays) { return error_of<ValueError>([&] { npz_bytes(arrays); }); };
    const Tensor<float> x{1};
    BOOST_TEST(write_error({{"x", x}, {"x", x}}) == "write_npz: the name \"x\" comes twice");
    BOOST_TEST(write_error({{"", x}}) == "write_npz: a name is empty");
    BOOST_TEST(write_error({{"../x", x}}) == "write_npz: the name \"../x\" leads out of the archive with ..");
    BOOST_TEST(write_error({{std::string("a\0b", 3), x}}) == "write_npz: the name \"a?b\" holds a NUL");
    BOOST_TEST(write_error({{"a\xff"
                             "b",
                             x}}) == "write_npz: the name \"a?b\" holds a control character or is not UTF-8");
}

BOOST_AUTO_TEST_CASE(names_that_are_not_read) {
    const auto name_error = [](const std::string& name) { return error(Entry{name, one}); };
    BOOST_TEST(name_error("a.npy") == "");
    BOOST_TEST(name_error("a..b.npy") == "");
    BOOST_TEST(name_error("gr\xc3\xb6\xc3\x9f"
                          "e.npy") == "");
    BOOST_TEST(name_error("../a.npy") == "x.npz: entry 0: the name \"../a.npy\" leads out of the archive with ..");
    BOOST_TEST(name_error("a/../../b.npy") ==
               "x.npz: entry 0: the name \"a/../../b.npy\" leads out of the archive with ..");
    BOOST_TEST(name_error("/a.npy") == "x.npz: entry 0: the name \"/a.npy\" is absolute");
    BOOST_TEST(name_error("c:a.npy") == "x.npz: entry 0: the name \"c:a.npy\" is absolute");
    BOOST_TEST(name_error("..\\a.npy") == "x.npz: entry 0: the name \"..\\a.npy\" holds a backslash");
    BOOST_TEST(name_error(std::string("a.npy\0.npy", 10)) == "x.npz: entry 0: the name \"a.npy?.npy\" holds a NUL");
    BOOST_TEST(name_error("a\xff.npy") ==
               "x.npz: entry 0: the name \"a?.npy\" holds a control character or is not UTF-8");
    BOOST_TEST(name_error("a.txt") ==
               "x.npz: entry 0: the name \"a.txt\" does not end in .npy; an NPZ file holds nothing else");
    BOOST_TEST(name_error("a.npy/") ==
               "x.npz: entry 0: the name \"a.npy/\" does not end in .npy; an NPZ file holds nothing else");
    BOOST_TEST(name_error(".npy") ==
               "x.npz: entry 0: the name \".npy\" does not end in .npy; an NPZ file holds nothing else");
    BOOST_TEST(error(archive_of({{"a.npy", one}, {"b.npy", one}, {"a.npy", one}})) ==
               "x.npz: two entries have the name \"a.npy\"");
}

BOOST_AUTO_TEST_CASE(entries_that_are_not_read) {
    const std::string a = "x.npz: entry \"a.npy\": ";
    BOOST_TEST(error({.name = "a.npy", .data = one, .flags = 1}) == a + "is encrypted; only plain entries are read");
    BOOST_TEST(error({.name = "a.npy", .data = one, .flags = 0x41}) == a + "is encrypted; only plain entries are read");
    BOOST_TEST(error({.name = "a.npy", .data = one, .method = 12}) ==
               a + "compression method 12 is not read; 0 (stored) and 8 (deflate) are");
    BOOST_TEST(error({.name = "a.npy", .data = one, .method = 93}) ==
               a + "compression method 93 is not read; 0 (stored) and 8 (deflate) are");
    BOOST_TEST(error({.name = "a.npy", .data = one, .size = 133}) == a + "is stored, but its sizes are 132 and 133");
    BOOST_TEST(array_error({.name = "a.npy", .data = one, .crc = 1}) ==
               a + "the CRC32 of the data is not the one in the directory");
    BOOST_TEST(array_error({.name = "a.npy", .data = from_hex("07ff"), .method = 8, .size = 132}) ==
               a + "zlib error: data error");
    BOOST_TEST(array_error({.name = "a.npy", .data = from_text("hello")}) ==
               a + "offset 0: magic: not an NPY file, which starts with 93 4E 55 4D 50 59 (\\x93NUMPY)");
}

BOOST_AUTO_TEST_CASE(bombs) {
    const std::string a = "x.npz: entry \"a.npy\": ";
    const std::int64_t crc = 0xbda9cc16;
    const Entry zeros{"a.npy", from_hex(many_zeros), 8, 0, 20128, -1, crc};
    const Npz npz = Npz::parse(archive_of({zeros}), "x.npz");
    BOOST_TEST(npz.get<float>("a") == Tensor<float>::zeros({20000}));
    // Limits from the directory.
    const std::uint64_t size = archive_of({zeros}).size(), both = archive_of({{"b.npy", one}, zeros}).size();
    BOOST_TEST(error(zeros, {20127}) == a + "20128 bytes, beside the " + std::to_string(size) +
                                            " taken before, are more than the limit of " +
                                            std::to_string(size + 20127) + by_max_bytes(20127, size));
    BOOST_TEST(error(archive_of({{"b.npy", one}, zeros}), {20200}) ==
               a + "20128 bytes, beside the " + std::to_string(both + 132) +
                   " taken before, are more than the limit of " + std::to_string(both + 20200) +
                   by_max_bytes(20200, both));
    BOOST_TEST(error(archive_of({zeros}), {100}) == "x.npz: has " + std::to_string(archive_of({zeros}).size()) +
                                                        " bytes, more than the limit of 100 (ReadLimits::max_bytes)");
    BOOST_TEST(error({.name = "a.npy", .data = one, .method = 8, .size = 1000000}) ==
               a + "132 bytes cannot expand to 1000000, which is more than 1100 to 1");
    // A directory that tells less, or more, than the data is.
    Entry liar = zeros;
    liar.size = 20000;
    BOOST_TEST(array_error(liar) == a + "expands to more than 20000 bytes; the directory says 20000");
    liar.size = 30000;
    BOOST_TEST(array_error(liar) == a + "expands to no more than 20128 bytes; the directory says 30000");
    // What the tensor needs is counted too.
    BOOST_TEST(error_of<FileError>([&] { Npz::parse(archive_of({zeros}), "x.npz", {20128}).get<double>("a"); }) ==
               a + "offset 60: shape: 20000 x 8 bytes, beside the " + std::to_string(size + 20128) +
                   " taken before, are more than the limit of " + std::to_string(size + 20128) +
                   by_max_bytes(20128, size));
    // Entries on top of each other.
    std::vector<std::byte> twice = archive_of({{"a.npy", one}, {"b.npy", one}});
    const std::size_t second = twice.size() - 22 - 51 + 42;
    for (std::size_t i = 0; i < 4; ++i) twice[second + i] = std::byte{0};
    BOOST_CHECK_THROW(read_all(twice), FileError);
}

BOOST_AUTO_TEST_CASE(archives_that_are_wrong) {
    BOOST_TEST(
        error(one) ==
        "x.npz: offset 0: not an NPZ file, or cut short: a zip archive without a comment ends with an end record "
        "of 22 bytes");
    BOOST_TEST(error(Bytes()) == error(one));
    std::vector<std::byte> bytes = archive_of({{"a.npy", one}});
    bytes.push_back(std::byte{0});
    BOOST_TEST(error(bytes) == error(one));
    bytes.pop_back();
    // A local header that contradicts the directory: its size is not the directory's.
    bytes[18] = std::byte{1};
    BOOST_TEST(error(bytes) == "x.npz: central directory: zip archive inconsistent");

    std::vector<std::byte> end;
    put_end(end, 65535, 0, 0);
    BOOST_TEST(error(end) == "x.npz: offset 0: end record: 65535 entries, but 22 bytes have room for no more than 0");
    // A zip64 end record that asks libzip for memory for 2^40 entries.
    std::vector<std::byte> huge;
    put(huge, 0x06064b50, 4);
    put(huge, 44, 8);
    put(huge, 45, 2);
    put(huge, 45, 2);
    put(huge, 0, 8);
    put(huge, std::uint64_t{1} << 40, 8);
    put(huge, std::uint64_t{1} << 40, 8);
    put(huge, 0, 16);
    put(huge, 0x07064b50, 4);
    put(huge, 0, 4);
    put(huge, 0, 8);
    put(huge, 1, 4);
    const std::vector<std::byte> head = huge;
    put_end(huge, 65535, 0xffffffff, 0xffffffff);
    BOOST_TEST(error(huge) ==
               "x.npz: offset 76: end record: 1099511627776 entries, but 98 bytes have room for no more than 2");
    // The same hidden before the real end record.
    std::vector<std::byte> hidden = huge;
    put_end(hidden, 0, 0, 0);
    BOOST_TEST(error(hidden) == "x.npz: offset 56: end record: there is a second one");
    std::vector<std::byte> astray = head;
    astray[64] = std::byte{1};
    put_end(astray, 65535, 0xffffffff, 0xffffffff);
    BOOST_TEST(error(astray) == "x.npz: offset 64: end record: there is no zip64 end record at offset 1");
}

BOOST_AUTO_TEST_CASE(broken_in_every_place) {
    for (const std::vector<std::byte>& file :
         {from_hex(saved_by_numpy), archive_of({{"a.npy", one}}), npz_bytes({{"x", Tensor<float>{1, 2, 3}}})}) {
        BOOST_TEST(read_all(file) > 0);
        check_every_prefix(file, file.size(), read_all);
        BOOST_TEST(check_every_flip(file, read_all) > 100);
    }
}

BOOST_AUTO_TEST_SUITE_END()
