#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/npz.hpp>

#include <pollen/data/formats/detail/zip_handle.hpp>
#include <pollen/data/formats/detail/zip_name.hpp>
#include <pollen/data/formats/npy.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <zip.h>

#include <set>

namespace pollen {

namespace {

struct Free {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};

[[noreturn]] void fail(zip_error_t* error) {
    throw Error(std::string("write_npz: the archive cannot be made: ") + zip_error_strerror(error));
}

void check_names(const NpzArrays& arrays) {
    std::set<std::string> seen;
    for (const auto& [name, value] : arrays) {
        const std::string wrong = detail::zip_name_problem(name + ".npy");
        if (name.empty()) throw ValueError("write_npz: a name is empty");
        if (!wrong.empty()) throw ValueError("write_npz: the name " + detail::printable(name) + " " + wrong);
        if (!seen.insert(name).second)
            throw ValueError("write_npz: the name " + detail::printable(name) + " comes twice");
    }
}

std::vector<std::byte> archive_of(const NpzArrays& arrays) {
    check_names(arrays);
    if (arrays.empty()) {  // libzip writes no archive without entries: this is an end record alone
        std::vector<std::byte> bytes(22);
        for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>("PK\5\6"[i]);
        return bytes;
    }
    zip_error_t error;
    zip_error_init(&error);
    const std::unique_ptr<zip_source_t, Free> target(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (!target) fail(&error);
    // libzip reads the arrays when the archive is closed.
    std::vector<std::vector<std::byte>> contents;
    for (const auto& [name, value] : arrays)
        contents.push_back(std::visit([](const auto& tensor) { return npy_bytes(tensor); }, value));

    detail::ZipHandle zip(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
    if (!zip) fail(&error);
    zip_source_keep(target.get());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        zip_source_t* source = zip_source_buffer(zip.get(), contents[i].data(), contents[i].size(), 0);
        if (!source) fail(zip_get_error(zip.get()));
        const std::string name = arrays[i].first + ".npy";
        const zip_int64_t index = zip_file_add(zip.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
            if (zip_error_code_zip(zip_get_error(zip.get())) == ZIP_ER_INVAL)
                throw ValueError("write_npz: the name " + detail::printable(arrays[i].first) +
                                 " holds a control character or is not UTF-8");
            fail(zip_get_error(zip.get()));
        }
        constexpr zip_uint16_t midnight = 0, first_of_january_1980 = 0x21;
        const auto at = static_cast<zip_uint64_t>(index);
        if (zip_set_file_compression(zip.get(), at, ZIP_CM_DEFLATE, 6) != 0 ||
            zip_file_set_dostime(zip.get(), at, midnight, first_of_january_1980, 0) != 0)
            fail(zip_get_error(zip.get()));
    }
    if (zip_close(zip.get()) != 0) fail(zip_get_error(zip.get()));
    (void)zip.release();

    zip_source_t* written = target.get();
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_source_stat(written, &status) != 0 || zip_source_open(written) != 0) fail(zip_source_error(written));
    std::vector<std::byte> bytes;
    detail::resize(bytes, status.size, "npz_bytes");
    std::uint64_t done = 0;
    while (done < status.size) {
        const zip_int64_t some = zip_source_read(written, bytes.data() + done, status.size - done);
        if (some <= 0) fail(zip_source_error(written));
        done += static_cast<std::uint64_t>(some);
    }
    zip_source_close(written);
    return bytes;
}

}  // namespace

std::vector<std::byte> npz_bytes(const NpzArrays& arrays) {
    return detail::with_errors_at("npz_bytes", [&] { return archive_of(arrays); });
}

void write_npz(const std::string& path, const NpzArrays& arrays) { write_file(path, npz_bytes(arrays)); }

}  // namespace pollen
