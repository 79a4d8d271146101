#pragma once

#include <pollen/autograd/shape.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

// What the names of the columns in a CSV file of draws say.
namespace pollen::detail {

// "w.2.1" is element (2, 1) of w.
struct CsvColumn {
    std::string_view base;
    std::array<std::int64_t, max_rank> index{};
    int rank = 0;
};

inline CsvColumn parse_csv_column(std::string_view name) {
    CsvColumn column{name};
    for (;;) {
        const std::size_t dot = column.base.rfind('.');
        if (dot == 0 || dot == column.base.npos || column.rank == max_rank) break;
        std::int64_t n = 0;
        const char *first = column.base.data() + dot + 1, *last = column.base.data() + column.base.size();
        const auto [end, error] = std::from_chars(first, last, n);
        if (error != std::errc() || end != last || n < 1) break;
        column.index[static_cast<std::size_t>(column.rank++)] = n;
        column.base = column.base.substr(0, dot);
    }
    std::reverse(column.index.begin(), column.index.begin() + column.rank);
    return column;
}

}  // namespace pollen::detail
