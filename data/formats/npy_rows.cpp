#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/npy_header.hpp>
#include <pollen/data/formats/npy.hpp>
#include <pollen/data/io/detail/open_file.hpp>

#include <algorithm>
#include <cstring>

namespace pollen {

namespace {

constexpr std::uint64_t most_header = 1 << 16;
constexpr std::uint64_t most_piece = 4 << 20;  // bytes that are read at once; a row may have more

// The bytes of a row. Throws a FileError unless the file has as many bytes as its header says.
std::uint64_t bytes_of_row(const detail::NpyHeader& header, const std::string& path, std::uint64_t file_bytes) {
    auto row = static_cast<std::uint64_t>(header.item_bytes), all = std::uint64_t{0};
    bool too_large = false;
    for (std::size_t axis = 1; axis < header.sizes.size(); ++axis)
        too_large |= __builtin_mul_overflow(row, header.sizes[axis], &row);
    too_large |= __builtin_mul_overflow(row, header.sizes[0], &all);
    if (too_large || file_bytes - header.data_at != all)
        throw FileError(path + ": offset " + std::to_string(header.data_at) +
                        ": data: " + std::to_string(file_bytes - header.data_at) + " bytes, but the header says " +
                        (too_large ? "more than 2^64" : std::to_string(all)));
    return row;
}

template <class T>
Tensor<T> rows_of(const std::string& path, std::int64_t first, std::int64_t count, const ReadLimits& limits) {
    const detail::OpenFile file(path);
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(file.size(), most_header)));
    file.read(0, bytes);
    const detail::NpyHeader header = detail::parse_npy_header(bytes, path);
    if (header.sizes.empty()) throw FileError(path + ": has one number and no rows");
    if (header.fortran_order && header.sizes.size() > 1)
        throw FileError(path + ": is in Fortran order, so that its rows are not in one piece; read_npy reads it");
    const std::uint64_t row = bytes_of_row(header, path, file.size());
    if (first < 0 || count < 0 || static_cast<std::uint64_t>(first) > header.sizes[0] ||
        static_cast<std::uint64_t>(count) > header.sizes[0] - static_cast<std::uint64_t>(first))
        throw ValueError("read_npy_rows: " + path + " has " + std::to_string(header.sizes[0]) + " rows; " +
                         std::to_string(count) + " rows from row " + std::to_string(first) + " on are not all there");
    std::vector<std::int64_t> sizes(header.sizes.begin(), header.sizes.end());
    sizes[0] = count;
    detail::MemoryBudget budget(path, limits, static_cast<std::uint64_t>(count) * row);
    budget.take("the rows",
                {row / static_cast<std::uint64_t>(header.item_bytes), static_cast<std::uint64_t>(count), sizeof(T)});
    Tensor<T> all = Tensor<T>::empty(Shape{std::span<const std::int64_t>(sizes)});
    // Piece by piece, each as a file of its own.
    const std::string descr = header.kind == 'b' ? "|b1"
                                                 : (header.big_endian ? ">" : "<") + std::string(1, header.kind) +
                                                       std::to_string(header.item_bytes);
    const auto most =
        static_cast<std::int64_t>(std::max<std::uint64_t>(1, most_piece / std::max<std::uint64_t>(1, row)));
    T* to = all.fresh_data();
    for (std::int64_t done = 0; done < count; done += sizes[0]) {
        sizes[0] = std::min(most, count - done);
        const std::string top = detail::npy_header_text(descr, Shape{std::span<const std::int64_t>(sizes)});
        const std::string name = path + " (from row " + std::to_string(first + done) + " on)";
        detail::resize(bytes, top.size() + static_cast<std::size_t>(sizes[0]) * static_cast<std::size_t>(row), name);
        std::memcpy(bytes.data(), top.data(), top.size());
        file.read(header.data_at + static_cast<std::uint64_t>(first + done) * row,
                  std::span(bytes).subspan(top.size()));
        const Tensor<T> piece = parse_npy<T>(bytes, name);
        to = std::copy(piece.begin(), piece.end(), to);
    }
    return all;
}

}  // namespace

template <class T>
Tensor<T> read_npy_rows(const std::string& path, std::int64_t first, std::int64_t count, const ReadLimits& limits) {
    return detail::with_errors_at(path, [&] { return rows_of<T>(path, first, count, limits); });
}

template Tensor<float> read_npy_rows(const std::string&, std::int64_t, std::int64_t, const ReadLimits&);
template Tensor<double> read_npy_rows(const std::string&, std::int64_t, std::int64_t, const ReadLimits&);
template Tensor<std::int32_t> read_npy_rows(const std::string&, std::int64_t, std::int64_t, const ReadLimits&);

}  // namespace pollen
