#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

// Tables as text, plain or gzipped, which is told from the contents: one row a line, cells between delimiters. Cells
// may be quoted ("a ""b"", c"), lines may end in CRLF, and a byte order mark is skipped; blanks around cells do not
// count. Every row has as many cells as the first, and only the end of the file may have blank lines.
namespace pollen {

struct CsvOptions {
    enum class Header { automatic, yes, no };
    enum class Missing { error, nan };

    char delimiter = ',';  // ' ' means any run of blanks and tabs

    // automatic: in a table of numbers the first line is a header if one of its cells is not a number or, where columns
    // are selected, if it holds their names or if they are not all positions; in a table of text it always is one.
    // Without a header the columns are called by their positions: 1, 2, 3 and so on. With one, two columns of the same
    // name are an error, unless others are selected; so is, where it was found automatically, a name like "1 2" or
    // "1;2", which means another delimiter.
    Header header = Header::automatic;

    // What to make of a number that is left out: an empty cell, NA, ? or nan.
    Missing missing = Missing::error;

    std::vector<std::string> columns = {};        // only these, in this order; empty: all
    std::size_t max_line = std::size_t{1} << 20;  // bytes
    ReadLimits limits = {};
};

struct Table {
    std::vector<std::string> columns;
    Tensor<double> values;  // (rows, columns)

    // The position of a column. Throws a ValueError that lists the names if no column has this one.
    std::int64_t column(const std::string& name) const;
};

// Numbers are written as in C++, whatever the locale is. Infinities are errors, and so are numbers that no double
// holds: 1e400, which would become infinite, and 1e-400, which would become 0.
Table parse_csv(Bytes bytes, const std::string& name, const CsvOptions& options = {});
Table read_csv(const std::string& path, const CsvOptions& options = {});

// Cells as they are, for dates and categories.
struct TextTable {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;

    std::int64_t column(const std::string& name) const;
};

TextTable parse_csv_text(Bytes bytes, const std::string& name, const CsvOptions& options = {});
TextTable read_csv_text(const std::string& path, const CsvOptions& options = {});

// A header and the numbers, (rows, columns), each in as few digits as bring the same number back. NaN is written as
// nan, which Missing::nan reads. The file is replaced as a whole or not at all. Throws a ValueError if two columns have
// the same name.
void write_csv(const std::string& path, const std::vector<std::string>& columns, const Tensor<double>& values);

}  // namespace pollen
