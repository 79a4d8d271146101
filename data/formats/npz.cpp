#include <pollen/data/formats/npz.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/deflate_ratio.hpp>
#include <pollen/data/formats/detail/npy_header.hpp>
#include <pollen/data/formats/detail/zip_handle.hpp>
#include <pollen/data/formats/detail/zip_name.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace pollen {

namespace {

constexpr std::size_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56, entry_bytes = 46;

std::uint64_t number(Bytes bytes, std::size_t at, std::size_t length) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length; ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    return value;
}

bool is_signature(Bytes bytes, std::size_t at, const char (&text)[5]) {
    return std::memcmp(bytes.data() + at, text, 4) == 0;
}

// The names in the central directory, whole, where libzip would end them at a NUL.
//
// libzip also allocates what an end record asks for before it looks at the entries. So the end record must be the last
// thing in the file, with no more entries than there is room for, and no other place that libzip searches may look like
// the end record of a zip64 archive, the only one that can ask for much.
std::vector<std::string> directory_names(Bytes bytes, const std::string& name) {
    const auto fail = [&](std::size_t at, const std::string& what) {
        throw FileError(name + ": offset " + std::to_string(at) + ": " + what);
    };
    if (bytes.size() < end_bytes || !is_signature(bytes, bytes.size() - end_bytes, "PK\5\6"))
        fail(0, "not an NPZ file, or cut short: a zip archive without a comment ends with an end record of 22 bytes");
    const std::size_t end = bytes.size() - end_bytes;
    std::uint64_t entries = number(bytes, end + 10, 2), at = number(bytes, end + 16, 4);
    const std::size_t first = bytes.size() - std::min<std::size_t>(bytes.size(), 70000);
    for (std::size_t locator = first; locator + locator_bytes <= end; ++locator) {
        if (!is_signature(bytes, locator, "PK\6\7") || !is_signature(bytes, locator + locator_bytes, "PK\5\6"))
            continue;
        if (locator + locator_bytes != end) fail(locator, "end record: there is a second one");
        const std::uint64_t end64 = number(bytes, locator + 8, 8);
        if (locator < end64_bytes || end64 > locator - end64_bytes || !is_signature(bytes, end64, "PK\6\6"))
            fail(locator + 8, "end record: there is no zip64 end record at offset " + std::to_string(end64));
        entries = number(bytes, end64 + 32, 8);
        at = number(bytes, end64 + 48, 8);
    }
    if (entries > bytes.size() / entry_bytes)
        fail(end, "end record: " + std::to_string(entries) + " entries, but " + std::to_string(bytes.size()) +
                      " bytes have room for no more than " + std::to_string(bytes.size() / entry_bytes));
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < entries; ++i) {
        const std::string entry = "central directory: entry " + std::to_string(i);
        if (at > end || end - at < entry_bytes || !is_signature(bytes, at, "PK\1\2")) fail(at, entry + " is not there");
        const std::uint64_t length = number(bytes, at + 28, 2);
        const std::uint64_t more = number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
        if (end - at - entry_bytes < length + more) fail(at, entry + " is cut short");
        names.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + entry_bytes, length);
        at += entry_bytes + length + more;
    }
    return names;
}

std::string message(zip_error_t* error) {
    switch (zip_error_code_zip(error)) {
        case ZIP_ER_CRC:
            return "the CRC32 of the data is not the one in the directory";
        default: {
            std::string text = zip_error_strerror(error);
            if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
            return text;
        }
    }
}

struct Close {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

class Npz::Archive {
  public:
    Archive(std::vector<std::byte> bytes, const std::string& name, const ReadLimits& limits)
        : bytes_(std::move(bytes)), name_(name), limits_(limits) {
        detail::MemoryBudget budget(name_, limits, bytes_.size());
        const std::vector<std::string> names = directory_names(bytes_, name_);
        check_names(names);
        open();
        check_entries(names, budget);
    }

    const std::string& name() const { return name_; }
    const std::vector<std::string>& names() const { return names_; }

    std::string entry(const std::string& name) const { return name_ + ": entry " + detail::printable(name + ".npy"); }

    template <class T>
    Tensor<T> get(const std::string& name) {
        const std::string place = entry(name);
        detail::MemoryBudget budget(place, limits_, bytes_.size());
        const std::vector<std::byte> data = expand(name, budget);
        return detail::parse_npy<T>(data, place, budget);
    }

  private:
    std::vector<std::byte> expand(const std::string& name, detail::MemoryBudget& budget) {
        const auto found = std::find(names_.begin(), names_.end(), name);
        if (found == names_.end()) {
            std::string list;
            for (std::size_t i = 0; i < std::min<std::size_t>(names_.size(), 20); ++i)
                list += (i ? ", " : "") + detail::printable(names_[i]);
            if (names_.size() > 20) list += " and " + std::to_string(names_.size() - 20) + " more";
            throw FileError(name_ + ": there is no array " + detail::printable(name) +
                            (names_.empty() ? "; the archive is empty" : "; there are " + list));
        }
        const auto index = static_cast<std::size_t>(found - names_.begin());
        const std::lock_guard lock(mutex_);
        const std::unique_ptr<zip_file_t, Close> file(zip_fopen_index(zip_.get(), index, 0));
        if (!file) throw FileError(entry(name) + ": " + message(zip_get_error(zip_.get())));
        // One byte more than the directory says is asked for: only at the end of the data does libzip compare the
        // CRC32.
        const std::uint64_t size = sizes_[index];
        budget.take("expanded", {size});
        std::vector<std::byte> data;
        detail::resize(data, size + 1, name_);
        std::uint64_t done = 0;
        while (true) {
            const zip_int64_t some = zip_fread(file.get(), data.data() + done, data.size() - done);
            if (some < 0) throw FileError(entry(name) + ": " + message(zip_file_get_error(file.get())));
            done += static_cast<std::uint64_t>(some);
            if (some == 0 || done > size) break;
        }
        if (done != size)
            throw FileError(entry(name) + ": expands to " + (done > size ? "more than" : "no more than") + " " +
                            std::to_string(std::min(done, size)) + " bytes; the directory says " +
                            std::to_string(size));
        data.resize(size);
        return data;
    }

    void check_names(const std::vector<std::string>& names) const {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string wrong = detail::zip_name_problem(names[i]);
            if (!wrong.empty()) throw FileError(place(i, names[i]) + wrong);
        }
        std::vector<std::string> sorted = names;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) throw FileError(name_ + ": two entries have the name " + detail::printable(*twice));
    }

    std::string place(std::size_t index, const std::string& name) const {
        return name_ + ": entry " + std::to_string(index) + ": the name " + detail::printable(name) + " ";
    }

    void open() {
        zip_error_t error;
        zip_error_init(&error);
        zip_source_t* source = zip_source_buffer_create(bytes_.data(), bytes_.size(), 0, &error);
        if (source) {
            zip_.reset(zip_open_from_source(source, ZIP_CHECKCONS | ZIP_RDONLY, &error));
            if (!zip_) zip_source_free(source);
        }
        const std::string text = zip_ ? "" : message(&error);
        zip_error_fini(&error);
        if (!zip_) throw FileError(name_ + ": central directory: " + text);
    }

    void check_entries(const std::vector<std::string>& names, detail::MemoryBudget& budget) {
        if (zip_get_num_entries(zip_.get(), 0) != static_cast<zip_int64_t>(names.size()))
            throw FileError(name_ + ": central directory: there is more than one");
        std::uint64_t packed = 0;
        for (std::size_t index = 0; index < names.size(); ++index) {
            const std::string& name = names[index];
            // libzip translates what is not UTF-8.
            const char* raw = zip_get_name(zip_.get(), index, ZIP_FL_ENC_RAW);
            if (!raw || name != raw)
                throw FileError(place(index, name) + "is another one in a second central directory");
            const char* translated = zip_get_name(zip_.get(), index, ZIP_FL_ENC_GUESS);
            if (!translated || name != translated)
                throw FileError(place(index, name) + "holds a control character or is not UTF-8");
            names_.push_back(name.substr(0, name.size() - 4));
            check_entry(index, budget, packed);
        }
    }

    void check_entry(zip_uint64_t index, detail::MemoryBudget& budget, std::uint64_t& packed) {
        const auto fail = [&](const std::string& what) { throw FileError(entry(names_.back()) + ": " + what); };
        constexpr zip_uint64_t needed =
            ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
        zip_stat_t status;
        zip_stat_init(&status);
        if (zip_stat_index(zip_.get(), index, 0, &status) != 0 || (status.valid & needed) != needed)
            fail("the directory does not describe it");
        if (status.encryption_method != ZIP_EM_NONE) fail("is encrypted; only plain entries are read");
        if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
            fail("compression method " + std::to_string(status.comp_method) +
                 " is not read; 0 (stored) and 8 (deflate) are");
        // All arrays together, for a program that reads them all and keeps them.
        budget.take("entry " + detail::printable(names_.back() + ".npy"), {status.size});
        packed += std::min<std::uint64_t>(status.comp_size, bytes_.size() + 1);
        if (packed > bytes_.size()) fail("overlaps with another entry");
        if (status.comp_method == ZIP_CM_STORE && status.size != status.comp_size)
            fail("is stored, but its sizes are " + std::to_string(status.comp_size) + " and " +
                 std::to_string(status.size));
        if (status.size / detail::max_deflate_ratio > status.comp_size)
            fail(std::to_string(status.comp_size) + " bytes cannot expand to " + std::to_string(status.size) +
                 ", which is more than " + std::to_string(detail::max_deflate_ratio) + " to 1");
        sizes_.push_back(status.size);
    }

    std::vector<std::byte> bytes_;  // before zip_, which points into it
    std::string name_;
    ReadLimits limits_;
    detail::ZipHandle zip_;
    std::vector<std::string> names_;
    std::vector<std::uint64_t> sizes_;
    std::mutex mutex_;  // one reader at a time: a zip_t is not made for more
};

Npz::Npz(std::unique_ptr<Archive> archive) : archive_(std::move(archive)) {}
Npz::Npz(Npz&&) noexcept = default;
Npz& Npz::operator=(Npz&&) noexcept = default;
Npz::~Npz() = default;

Npz Npz::parse(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    return detail::with_errors_at(name, [&] {
        return Npz(std::make_unique<Archive>(std::vector<std::byte>(bytes.begin(), bytes.end()), name, limits));
    });
}

Npz Npz::read(const std::string& path, const ReadLimits& limits) {
    return detail::with_errors_at(
        path, [&] { return Npz(std::make_unique<Archive>(read_bytes(path, limits), path, limits)); });
}

const std::vector<std::string>& Npz::names() const { return archive_->names(); }

template <class T>
Tensor<T> Npz::get(const std::string& name) const {
    return detail::with_errors_at(archive_->name(), [&] { return archive_->get<T>(name); });
}

template Tensor<float> Npz::get<float>(const std::string&) const;
template Tensor<double> Npz::get<double>(const std::string&) const;
template Tensor<std::int32_t> Npz::get<std::int32_t>(const std::string&) const;

}  // namespace pollen
