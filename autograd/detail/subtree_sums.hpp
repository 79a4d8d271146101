#pragma once

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/shares.hpp>
#include <pollen/autograd/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace pollen {

// sum_i += x_i
template <Real T>
void add_to(T* sum, const T* x, std::int64_t n);

// The sums over the subtrees of a rank's share, for add_ordered_sum(). A leaf is a number in double and a row. Leaves
// come in their order, and two sums become one as soon as both parts of a node of the tree are there. So there are at
// most 2 log2(leaves) rows beside those of the leaves that come at once, log2(leaves) + 1 on a single rank.
template <Real T>
class SubtreeSums {
  public:
    // The leaves of the rank come next. Their rows have `width` numbers.
    void begin(const Shares& shares, int rank, std::int64_t width) {
        all_ = shares.leaves();
        next_ = shares.first(rank);
        width_ = static_cast<std::size_t>(width);
        sums_.clear();
        free_.clear();
        for (std::size_t row = rows_.size(); row-- > 0;) free_.push_back(row);
    }

    // Adds the next `count` leaves, which threads share. leaf(k, to) returns the number of the k-th of them and adds
    // its row to `to`. If leaves throw, this throws what the first of them threw.
    template <class Leaf>
    void add(std::int64_t count, const Leaf& leaf) {
        leaves_.clear();
        for (std::int64_t k = 0; k < count; ++k) leaves_.push_back(take_row());
        errors_.assign(leaves_.size(), nullptr);
        parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) {
                Row& row = rows_[leaves_[static_cast<std::size_t>(k)]];
                const std::span<T> to = numbers_of(row);
                parallel_for(std::ssize(to), 16 * stretch, [&](std::int64_t from, std::int64_t until) {
                    std::fill(to.begin() + from, to.begin() + until, T(0));
                });
                try {
                    row.number = leaf(k, to);
                } catch (...) {
                    errors_[static_cast<std::size_t>(k)] = std::current_exception();
                }
            }
        });
        for (const std::exception_ptr& error : errors_)
            if (error) std::rethrow_exception(error);
        additions_.clear();
        for (const std::size_t row : leaves_) {
            sums_.push_back({next_++, row});
            while (joins()) join();
        }
        // All additions for a stretch of the rows, which stays in the cache.
        parallel_for(additions_.empty() ? 0 : static_cast<std::int64_t>(width_), stretch,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (const auto& [to, from] : additions_)
                             add_to(rows_[to].numbers.data() + begin, rows_[from].numbers.data() + begin, end - begin);
                     });
    }

    // What add_ordered_sum() takes, after all leaves of the rank: the rows, and the numbers as rows of one.
    std::vector<std::span<T>> rows() {
        std::vector<std::span<T>> result;
        for (const Sum& sum : sums_) result.push_back(numbers_of(rows_[sum.row]));
        return result;
    }
    std::vector<std::span<double>> numbers() {
        std::vector<std::span<double>> result;
        for (const Sum& sum : sums_) result.emplace_back(&rows_[sum.row].number, 1);
        return result;
    }

  private:
    static constexpr std::int64_t stretch = 4096;

    struct Row {
        double number = 0;
        std::vector<T> numbers;
    };
    // Of the leaves from `begin` on.
    struct Sum {
        std::int64_t begin;
        std::size_t row;
    };

    std::span<T> numbers_of(Row& row) const { return std::span(row.numbers).first(width_); }

    std::size_t take_row() {
        if (free_.empty()) {
            rows_.emplace_back();
            free_.push_back(rows_.size() - 1);
        }
        const std::size_t row = free_.back();
        if (rows_[row].numbers.size() < width_) rows_[row].numbers.resize(width_);
        free_.pop_back();
        return row;
    }

    // Whether the last two sums are the parts of one node: the left one, whose size is a power of two, is a left part,
    // and the right one is complete.
    bool joins() const {
        if (sums_.size() < 2) return false;
        const std::int64_t left = sums_[sums_.size() - 2].begin, right = sums_.back().begin, step = right - left;
        return left % (2 * step) == 0 && next_ == std::min(right + step, all_);
    }
    void join() {
        const std::size_t from = sums_.back().row;
        sums_.pop_back();
        const std::size_t to = sums_.back().row;
        rows_[to].number += rows_[from].number;
        additions_.emplace_back(to, from);
        free_.push_back(from);
    }

    std::int64_t all_ = 0, next_ = 0;
    std::size_t width_ = 0;
    std::vector<Row> rows_;
    std::vector<std::size_t> free_, leaves_;
    std::vector<Sum> sums_;
    std::vector<std::pair<std::size_t, std::size_t>> additions_;
    std::vector<std::exception_ptr> errors_;
};

}  // namespace pollen
