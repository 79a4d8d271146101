#include <pollen/data/formats/csv.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/csv_records.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/data/io/gzip.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pollen {

using detail::CsvCell;
using detail::CsvColumns;
using detail::CsvRecords;
using detail::printable;

namespace {

bool is_nan_word(std::string_view text) {
    return text.size() == 3 && (text[0] | 32) == 'n' && (text[1] | 32) == 'a' && (text[2] | 32) == 'n';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && detail::is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && detail::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

[[noreturn]] void fail_number(const CsvRecords& records, const std::string& label, const CsvCell& cell, double value) {
    const std::string text = label + ": " + printable(cell.text());
    if (!detail::fits_double(cell.text(), value)) records.fail(text + " " + detail::range_text(value));
    if (std::isinf(value)) records.fail(text + " is not a finite number");
    records.fail(text + " is a missing number; Missing::nan would read it as NaN");
}

CsvRecords first_record(Bytes bytes, const std::string& name, const CsvOptions& options) {
    CsvRecords records(bytes, name, options);
    if (!records.next()) throw FileError(name + ": is empty; expected at least one line");
    return records;
}

TextTable text_table(CsvRecords& records, CsvColumns columns, std::uint64_t rows) {
    TextTable table;
    table.rows.reserve(static_cast<std::size_t>(rows));
    for (bool more = !columns.header || records.next(); more; more = records.next()) {
        check_width(records, columns.width);
        std::vector<std::string>& row = table.rows.emplace_back();
        row.reserve(columns.cells.size());
        for (const std::size_t cell : columns.cells) row.push_back(records.cells()[cell].unquoted());
    }
    table.columns = std::move(columns.names);
    return table;
}

std::int64_t find_column(const std::vector<std::string>& columns, const std::string& name) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end())
        throw ValueError("table: there is no column " + printable(name) + "; the columns are " +
                         detail::list_names(columns));
    return found - columns.begin();
}

}  // namespace

bool detail::parse_csv_number(const CsvCell& cell, double& value) {
    const std::string_view text = cell.quoted() ? trimmed(cell.text()) : cell.text();
    if (!text.empty() && text.back() >= '0' && text.back() <= '9') return parse_number(text, value);
    if (text.empty() || text == "NA" || text == "?" || is_nan_word(text)) {
        value = std::numeric_limits<double>::quiet_NaN();
        return true;
    }
    return parse_number(text, value) && !std::isnan(value);
}

std::int64_t Table::column(const std::string& name) const { return find_column(columns, name); }
std::int64_t TextTable::column(const std::string& name) const { return find_column(columns, name); }

namespace {

Table number_table(Bytes bytes, const std::string& name, const CsvOptions& options) {
    detail::MemoryBudget budget(name, options.limits, bytes.size());
    std::vector<std::byte> storage;
    bytes = expanded(bytes, name, budget, storage);
    CsvRecords records = first_record(bytes, name, options);
    CsvColumns columns = csv_columns(records, options, true, budget);
    const std::uint64_t rows = records.count() + !columns.header;
    budget.take("table", {rows, columns.cells.size(), sizeof(double)});

    Table table;
    table.values =
        Tensor<double>::empty(Shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns.cells.size())});
    double* out = table.values.fresh_data();
    const bool nan_allowed = options.missing == CsvOptions::Missing::nan;
    for (bool more = !columns.header || records.next(); more; more = records.next()) {
        check_width(records, columns.width);
        for (std::size_t k = 0; k < columns.cells.size(); ++k) {
            const CsvCell& cell = records.cells()[columns.cells[k]];
            double value = 0;
            const bool fine = parse_csv_number(cell, value);
            if (!fine) records.fail(columns.label(k) + ": " + printable(cell.text()) + " is not a number");
            if (!(std::isfinite(value) || (nan_allowed && std::isnan(value))) ||
                (value == 0 && !detail::fits_double(cell.text(), value)))
                fail_number(records, columns.label(k), cell, value);
            *out++ = value;
        }
    }
    table.columns = std::move(columns.names);
    return table;
}

TextTable text_table(Bytes bytes, const std::string& name, const CsvOptions& options) {
    detail::MemoryBudget budget(name, options.limits, bytes.size());
    std::vector<std::byte> storage;
    bytes = expanded(bytes, name, budget, storage);
    CsvRecords records = first_record(bytes, name, options);
    CsvColumns columns = csv_columns(records, options, false, budget);
    const std::uint64_t rows = records.count() + !columns.header;
    // The heap keeps 16 bytes for itself with each row, and up to as much as the text itself with cells of more
    // than 15.
    budget.take("table", {rows, 16 + sizeof(std::vector<std::string>) + columns.cells.size() * sizeof(std::string)});
    budget.take("text of the table", {2, bytes.size()});
    return detail::allocating(name, bytes.size(), [&] { return text_table(records, std::move(columns), rows); });
}

}  // namespace

Table parse_csv(Bytes bytes, const std::string& name, const CsvOptions& options) {
    return detail::with_errors_at(name, [&] { return number_table(bytes, name, options); });
}

TextTable parse_csv_text(Bytes bytes, const std::string& name, const CsvOptions& options) {
    return detail::with_errors_at(name, [&] { return text_table(bytes, name, options); });
}

Table read_csv(const std::string& path, const CsvOptions& options) {
    return parse_csv(read_bytes(path, options.limits), path, options);
}

TextTable read_csv_text(const std::string& path, const CsvOptions& options) {
    return parse_csv_text(read_bytes(path, options.limits), path, options);
}

}  // namespace pollen
