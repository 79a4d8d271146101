#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// Where the numbers of a sparse matrix stand, and in which order they are kept.
//
// Rows of about the same length lie side by side, eight of them in a slice: first the first numbers of its rows, then
// the second ones, and so on up to the length of the shortest; then what the longer rows have beside, row by row. One
// vector of numbers belongs to eight rows then, and their sums need not be added up across a vector (the SELL-C-sigma
// form of Kreutzer et al. 2014, without its padding). Rows move within windows of 256 only.
class SparsePattern {
  public:
    static constexpr std::int64_t max_columns = 65536;  // columns are kept in 16 bits
    static constexpr std::int64_t slice_rows = 8;
    static constexpr std::int64_t window_rows = 256;

    // A matrix of zeros.
    SparsePattern(std::int64_t rows, std::int64_t columns);

    // The places of a matrix that are not zero.
    template <Real T>
    SparsePattern(const T* matrix, std::int64_t rows, std::int64_t columns);

    // What gaps() made. Throws a FileError that begins with `name` where it cannot have made it.
    SparsePattern(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> gaps, const std::string& name);

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    std::int64_t size() const { return static_cast<std::int64_t>(column_.size()); }  // how many numbers there are
    double density() const;                                                          // their share of the matrix

    // Rows are counted in the order of the slices; this is the place of one in the matrix.
    std::int64_t row(std::int64_t p) const { return row_[static_cast<std::size_t>(p)]; }
    // The column of each number.
    const std::uint16_t* column() const { return column_.data(); }

    // The numbers of row p: `steps` of them from `first` on, `stride` apart, and those from `rest` up to `end`.
    struct Row {
        std::int64_t first, stride, steps, rest, end;
    };
    Row numbers(std::int64_t p) const {
        const Slice& slice = slices_[static_cast<std::size_t>(p / slice_rows)];
        const std::int64_t lane = p % slice_rows, *end = end_.data() + p;
        return {slice.begin + lane, slice.rows, slice.steps,
                lane > 0 ? end[-1] : slice.begin + slice.rows * slice.steps, *end};
    }
    // The end of each row's numbers, as in Row.
    const std::int64_t* ends() const { return end_.data(); }

    // The places row by row: which number, its row and its column, in ascending order.
    struct Place {
        std::int64_t number, row, column;
    };
    std::vector<Place> places() const;

    // The form for files: how many zeros are before each number, counted through the matrix row by row, a byte each;
    // 255 stands for 255 zeros without a number behind them.
    std::vector<std::uint8_t> gaps() const;

    bool operator==(const SparsePattern& other) const {
        return rows_ == other.rows_ && columns_ == other.columns_ && gaps() == other.gaps();
    }

  private:
    struct Slice {
        std::int64_t begin, rows, steps;
    };
    void add(std::int64_t row, std::int64_t column);
    void arrange();

    std::int64_t rows_, columns_;
    std::vector<std::uint32_t> row_;
    std::vector<Slice> slices_;
    std::vector<std::int64_t> end_;  // until arrange() how many numbers each row has
    std::vector<std::uint16_t> column_;
};

}  // namespace pollen
