#include <pollen/autograd/math.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

std::string to_text(double x, std::chars_format format, int digits) {
    char text[400];
    return {text, std::to_chars(text, text + sizeof text, x, format, digits).ptr};
}

std::string number_text(double x) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    const double size = std::abs(x);
    if (size == 0) return "0";
    if (size >= 1e-3 && size < 1e6)
        return to_text(x, std::chars_format::fixed, std::max(0, 3 - static_cast<int>(std::floor(math::log10(size)))));
    return to_text(x, std::chars_format::scientific, 3);
}

namespace {

// In characters, not in bytes: a name may be UTF-8.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.empty() ? 0 : rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width(row[k]));
    }
    std::string text;
    for (const auto& row : rows) {
        text += row[0] + std::string(widths[0] - width(row[0]), ' ');
        for (std::size_t k = 1; k < row.size(); ++k) text += std::string(widths[k] + 2 - width(row[k]), ' ') + row[k];
        text += '\n';
    }
    return text;
}

}  // namespace pollen::detail
