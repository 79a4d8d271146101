#pragma once

#include <cmath>
#include <cstdio>
#include <string>

// A number as gnuplot reads it.
inline std::string gnuplot_number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return std::isfinite(value) ? text : "NaN";
}

// In single quotes, as gnuplot reads it. They end at a line break, so it becomes a space, as other control characters.
inline std::string gnuplot_string(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("''") : std::string(1, static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    return out + "'";
}
