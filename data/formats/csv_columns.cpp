#include <pollen/data/formats/detail/csv_records.hpp>

#include <pollen/data/io/detail/printable.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

std::vector<std::string> positions(std::size_t width) {
    std::vector<std::string> names;
    for (std::size_t k = 1; k <= width; ++k) names.push_back(std::to_string(k));
    return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// See CsvOptions::header.
bool looks_like_header(const CsvRecords& records, const CsvOptions& options, const std::vector<std::string>& names) {
    double ignored;
    if (options.columns.empty())
        return !std::all_of(records.cells().begin(), records.cells().end(),
                            [&](const CsvCell& cell) { return parse_csv_number(cell, ignored); });
    const auto all_in = [&](const std::vector<std::string>& set) {
        return std::all_of(options.columns.begin(), options.columns.end(),
                           [&](const std::string& name) { return contains(set, name); });
    };
    return all_in(names) || !all_in(positions(names.size()));
}

}  // namespace

std::string list_names(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), 20); ++k)
        text += (k ? ", " : "") + printable(names[k]);
    if (names.size() > 20) text += " and " + std::to_string(names.size() - 20) + " more";
    return text;
}

std::string CsvColumns::label(std::size_t column) const {
    std::string text = "column " + std::to_string(cells[column] + 1);
    if (!header) return text;
    const std::string name = printable(names[column]);
    return text + " (" + name.substr(1, name.size() - 2) + ")";
}

CsvColumns csv_columns(const CsvRecords& records, const CsvOptions& options, bool numbers) {
    CsvColumns columns;
    columns.width = records.cells().size();
    std::vector<std::string> names;
    for (const CsvCell& cell : records.cells()) names.push_back(cell.unquoted());
    if (options.header == CsvOptions::Header::automatic)
        columns.header = !numbers || looks_like_header(records, options, names);
    else
        columns.header = options.header == CsvOptions::Header::yes;
    if (!columns.header) names = positions(columns.width);
    if (options.columns.empty()) {
        for (std::size_t k = 0; k < columns.width; ++k) columns.cells.push_back(k);
        columns.names = std::move(names);
        return columns;
    }
    for (const std::string& name : options.columns) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            records.fail("there is no column " + printable(name) + "; the columns are " + list_names(names));
        if (std::find(found + 1, names.end(), name) != names.end())
            records.fail("there are several columns " + printable(name));
        if (contains(columns.names, name)) throw ValueError("csv: column " + printable(name) + " is selected twice");
        columns.cells.push_back(static_cast<std::size_t>(found - names.begin()));
        columns.names.push_back(name);
    }
    return columns;
}

}  // namespace pollen::detail
