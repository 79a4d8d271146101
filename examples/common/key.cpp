#include "key.hpp"

#include "gnuplot_text.hpp"

#include <string_view>
#include <utility>

namespace {

constexpr double sample_width = 48;

// The left end of each label, and its line.
std::vector<std::pair<double, int>> places_of(const Key& key, double width) {
    std::vector<std::pair<double, int>> places;
    double x = 0;
    int line = 0;
    for (const KeyEntry& entry : key) {
        const double needed = sample_width + text_width(entry.label);
        if (x > 0 && x + needed > width) x = 0, ++line;
        places.emplace_back(x + sample_width, line);
        x += needed + letter_size;
    }
    return places;
}

}  // namespace

double text_width(const std::string& text) {
    constexpr std::string_view narrow = " ijlftI.,:;'|()[]-/", wide = "mwMWG%@=+<>";
    double letters = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // a further byte of the same character
        letters += narrow.find(c) != narrow.npos ? 0.34 : wide.find(c) != wide.npos ? 0.86 : 0.6;
    }
    return letters * letter_size;
}

double key_height(const Key& key, double width) {
    return key.empty() ? 0 : line_height * (places_of(key, width).back().second + 1);
}

std::string key_commands(const Key& key, const KeyPlace& place) {
    std::string text;
    const auto places = places_of(key, place.width);
    for (std::size_t k = 0; k < key.size(); ++k) {
        const auto [x, line] = places[k];
        const double y = place.top + (line + 0.5) * line_height;
        text += ", keyentry with " + key[k].style + " lc rgb '" + key[k].colour + "' title " +
                gnuplot_string(key[k].label) + " at " + gnuplot_number((place.left + x) / place.figure_width) + ", " +
                gnuplot_number(1 - y / place.figure_height);
    }
    return text;
}
