#include "table.hpp"

#include "text_file.hpp"

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

// The number of characters of a UTF-8 text.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string number(const char* format, int digits, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, digits, value);
    return text;
}

std::string shown(const Cell& cell) {
    if (cell.digits < 0) return cell.text;
    if (!std::isfinite(cell.value)) return "-";
    std::string text = number("%.*f", cell.digits, cell.value);
    if (std::isfinite(cell.error)) text += " ± " + number("%.*f", cell.digits, cell.error);
    return text;
}

}  // namespace

void ResultTable::row(std::vector<Cell> cells) {
    if (cells.size() != columns_.size())
        throw pollen::ValueError("a row of a table with " + std::to_string(columns_.size()) + " columns has " +
                                 std::to_string(cells.size()) + " cells");
    rows_.push_back(std::move(cells));
}

// The first column to the left, the others to the right.
void ResultTable::show() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width(columns_[c]));
        for (const auto& row : rows_) widths[c] = std::max(widths[c], width(shown(row[c])));
    }
    const auto line = [&](const auto& text_of) {
        std::string text;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string cell = text_of(c), space(widths[c] - width(cell), ' ');
            if (c == 0)
                text.append(cell).append(space);
            else
                text.append("  ").append(space).append(cell);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        std::printf("%s\n", text.c_str());
    };
    std::printf("\n");
    line([&](std::size_t c) { return columns_[c]; });
    for (const auto& row : rows_) line([&](std::size_t c) { return shown(row[c]); });
    std::printf("\n");
}

void ResultTable::save(const std::filesystem::path& name) const {
    std::string csv, md, rule = "|";
    md = "|";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const bool errors = std::ranges::any_of(rows_, [c](const auto& row) { return std::isfinite(row[c].error); });
        csv += (c == 0 ? "" : ",") + csv_field(columns_[c]) + (errors ? "," + csv_field(columns_[c] + " +-") : "");
        md += " " + columns_[c] + " |";
        rule += c == 0 ? "---|" : "--:|";
    }
    csv += "\n";
    md += "\n" + rule + "\n";
    for (const auto& row : rows_) {
        md += "|";
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Cell& cell = row[c];
            const bool errors = std::ranges::any_of(rows_, [c](const auto& r) { return std::isfinite(r[c].error); });
            csv += (c == 0 ? "" : ",") + (cell.digits < 0 ? csv_field(cell.text) : number("%.*g", 9, cell.value));
            if (errors) csv += "," + (std::isfinite(cell.error) ? number("%.*g", 9, cell.error) : "");
            md += " " + shown(cell) + " |";
        }
        csv += "\n";
        md += "\n";
    }
    write_text(name.string() + "_table.csv", csv);
    write_text(name.string() + "_table.md", md);
}
