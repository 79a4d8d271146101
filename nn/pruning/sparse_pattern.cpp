#include <pollen/nn/pruning/sparse_pattern.hpp>

#include <pollen/data/io/file.hpp>

#include <algorithm>
#include <numeric>

namespace pollen {

namespace {

constexpr std::int64_t most = 255;  // what a byte of gaps() can say

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

SparsePattern::SparsePattern(std::int64_t rows, std::int64_t columns)
    : rows_(rows), columns_(columns), row_(at(rows)), end_(at(rows)) {
    if (columns > max_columns)
        throw ValueError("a sparse matrix of " + std::to_string(columns) + " columns; at most " +
                         std::to_string(max_columns) + " are possible");
    arrange();
}

template <Real T>
SparsePattern::SparsePattern(const T* matrix, std::int64_t rows, std::int64_t columns) : SparsePattern(rows, columns) {
    column_.reserve(at(rows * columns - std::count(matrix, matrix + rows * columns, T(0))));
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            if (matrix[i * columns + j] != T(0)) add(i, j);
    arrange();
}

SparsePattern::SparsePattern(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> gaps,
                             const std::string& name)
    : SparsePattern(rows, columns) {
    column_.reserve(gaps.size() - at(std::count(gaps.begin(), gaps.end(), static_cast<std::uint8_t>(most))));
    std::int64_t place = 0;  // a byte moves it by 256 at most: 64 bits are enough for any file
    for (const std::uint8_t gap : gaps) {
        place += gap;
        if (gap == most) continue;
        if (place >= rows * columns)
            throw FileError(name + ": weight " + std::to_string(column_.size()) + " is at place " +
                            std::to_string(place) + ", but a matrix (" + std::to_string(rows) + ", " +
                            std::to_string(columns) + ") has " + std::to_string(rows * columns));
        add(place / columns, place % columns);
        ++place;
    }
    if (!gaps.empty() && gaps.back() == most) throw FileError(name + ": the last gap is 255, but no weight follows it");
    arrange();
}

void SparsePattern::add(std::int64_t row, std::int64_t column) {
    ++end_[at(row)];
    column_.push_back(static_cast<std::uint16_t>(column));
}

// Takes columns in the order of the rows, and the lengths of the rows, and puts both into the order of the slices.
void SparsePattern::arrange() {
    const std::vector<std::int64_t> length = end_;
    std::vector<std::int64_t> start(length.size());
    std::exclusive_scan(length.begin(), length.end(), start.begin(), std::int64_t{0});
    std::iota(row_.begin(), row_.end(), std::uint32_t{0});
    for (std::int64_t i = 0; i < rows_; i += window_rows)
        std::stable_sort(row_.begin() + i, row_.begin() + std::min(rows_, i + window_rows),
                         [&](std::uint32_t a, std::uint32_t b) { return length[a] > length[b]; });
    const std::vector<std::uint16_t> from = column_;
    std::int64_t next = 0;
    slices_.clear();
    for (std::int64_t p = 0; p < rows_; p += slice_rows) {
        const std::int64_t rows = std::min(slice_rows, rows_ - p), steps = length[row_[at(p + rows - 1)]];
        slices_.push_back({next, rows, steps});
        for (std::int64_t t = 0; t < steps; ++t)
            for (std::int64_t r = 0; r < rows; ++r) column_[at(next++)] = from[at(start[row_[at(p + r)]] + t)];
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::uint32_t i = row_[at(p + r)];
            for (std::int64_t t = steps; t < length[i]; ++t) column_[at(next++)] = from[at(start[i] + t)];
            end_[at(p + r)] = next;
        }
    }
}

double SparsePattern::density() const {
    return rows_ * columns_ > 0 ? static_cast<double>(size()) / static_cast<double>(rows_ * columns_) : 0;
}

std::vector<SparsePattern::Place> SparsePattern::places() const {
    std::vector<std::int64_t> position(at(rows_));
    for (std::int64_t p = 0; p < rows_; ++p) position[at(row(p))] = p;
    std::vector<Place> all;
    all.reserve(column_.size());
    for (std::int64_t i = 0; i < rows_; ++i) {
        const Row numbers_of = numbers(position[at(i)]);
        const auto put = [&](std::int64_t k) { all.push_back({k, i, column_[at(k)]}); };
        for (std::int64_t t = 0; t < numbers_of.steps; ++t) put(numbers_of.first + t * numbers_of.stride);
        for (std::int64_t k = numbers_of.rest; k < numbers_of.end; ++k) put(k);
    }
    return all;
}

std::vector<std::uint8_t> SparsePattern::gaps() const {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(column_.size());
    std::int64_t next = 0;
    for (const Place& p : places()) {
        const std::int64_t place = p.row * columns_ + p.column;
        for (; place - next >= most; next += most) bytes.push_back(static_cast<std::uint8_t>(most));
        bytes.push_back(static_cast<std::uint8_t>(place - next));
        next = place + 1;
    }
    return bytes;
}

template SparsePattern::SparsePattern(const float*, std::int64_t, std::int64_t);
template SparsePattern::SparsePattern(const double*, std::int64_t, std::int64_t);

}  // namespace pollen
