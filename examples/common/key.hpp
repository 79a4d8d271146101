#pragma once

#include <string>
#include <vector>

// What the key of a figure shows: a sample in a style of gnuplot and a colour, with a label.
struct KeyEntry {
    std::string label, style, colour;
    bool operator==(const KeyEntry&) const = default;
};
using Key = std::vector<KeyEntry>;

// In pixels, as all lengths of a figure. The text is readable in a figure that is shown at half its size.
inline constexpr double letter_size = 56.0 / 3, line_height = 27;

// About the width of a text; gnuplot alone knows it exactly.
double text_width(const std::string& text);

// The height of a key in lines of this width.
double key_height(const Key& key, double width);

// A figure's size, and in it a place for a key.
struct KeyPlace {
    double figure_width, figure_height, left, top, width;
};

// The end of a plot command, which draws the key at the place.
std::string key_commands(const Key& key, const KeyPlace& place);
