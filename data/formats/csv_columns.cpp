#include <pollen/data/formats/detail/csv_records.hpp>

#include <pollen/data/io/detail/printable.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace pollen::detail {

namespace {

// Whether it is the name of a column in a table without a header: 1, 2, 3, ..., width.
bool is_position(const std::string& name, std::size_t width) {
    std::size_t k = 0;
    const char* end = name.data() + name.size();
    return std::from_chars(name.data(), end, k).ec == std::errc() && k >= 1 && k <= width && std::to_string(k) == name;
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
    const auto all = [&](const auto& holds) {
        return std::all_of(options.columns.begin(), options.columns.end(), holds);
    };
    return all([&](const std::string& name) { return contains(names, name); }) ||
           !all([&](const std::string& name) { return is_position(name, names.size()); });
}

// Whether it is several numbers, with blanks or another delimiter between them.
bool holds_numbers(const std::string& name) {
    constexpr const char* between = " \t,;|";
    int count = 0;
    double ignored = 0;
    for (std::size_t at = name.find_first_not_of(between); at != name.npos; ++count) {
        const std::size_t end = std::min(name.find_first_of(between, at), name.size());
        if (!parse_number(std::string_view(name).substr(at, end - at), ignored)) return false;
        at = name.find_first_not_of(between, end);
    }
    return count > 1;
}

void check_no_numbers(const CsvRecords& records, const std::vector<std::string>& names) {
    const auto found = std::find_if(names.begin(), names.end(), holds_numbers);
    if (found != names.end())
        records.fail("column " + std::to_string(found - names.begin() + 1) + ": " + printable(*found) +
                     " holds several numbers; set CsvOptions::delimiter to the character between them, or, if it is a "
                     "name, CsvOptions::header to Header::yes");
}

// `order` are the positions of all names, in any order.
void check_different(const CsvRecords& records, const std::vector<std::string>& names,
                     std::vector<std::size_t>& order) {
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const int compared = names[a].compare(names[b]);
        return compared != 0 ? compared < 0 : a < b;
    });
    const auto twin = std::adjacent_find(order.begin(), order.end(),
                                         [&](std::size_t a, std::size_t b) { return names[a] == names[b]; });
    if (twin != order.end())
        records.fail("columns " + std::to_string(twin[0] + 1) + " and " + std::to_string(twin[1] + 1) +
                     " have the same name, " + printable(names[*twin]) +
                     "; rename one, select other columns (CsvOptions::columns), or, if this line is not a header, set "
                     "CsvOptions::header to Header::no");
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

CsvColumns csv_columns(const CsvRecords& records, const CsvOptions& options, bool numbers, MemoryBudget& budget) {
    CsvColumns columns;
    columns.width = records.cells().size();
    budget.take("columns", {columns.width, 2 * sizeof(CsvCell) + sizeof(std::string) + sizeof(std::size_t)});
    std::vector<std::string> names;
    names.reserve(columns.width);
    for (const CsvCell& cell : records.cells()) names.push_back(cell.unquoted());
    if (options.header == CsvOptions::Header::automatic)
        columns.header = !numbers || looks_like_header(records, options, names);
    else
        columns.header = options.header == CsvOptions::Header::yes;
    for (std::size_t k = 0; k < columns.width && !columns.header; ++k) names[k] = std::to_string(k + 1);
    if (options.columns.empty()) {
        columns.cells.resize(columns.width);
        std::iota(columns.cells.begin(), columns.cells.end(), std::size_t{0});
        if (columns.header) {
            if (numbers && options.header == CsvOptions::Header::automatic) check_no_numbers(records, names);
            check_different(records, names, columns.cells);
            std::sort(columns.cells.begin(), columns.cells.end());
        }
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
