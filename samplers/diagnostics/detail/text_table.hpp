#pragma once

#include <charconv>
#include <string>
#include <vector>

namespace pollen::detail {

// As printf's %.*f, %.*g and %.*e, whatever the program's locale.
std::string to_text(double x, std::chars_format format, int digits);

// Four digits, without an exponent from 0.001 to 999,999.
std::string number_text(double x);

// Rows of equal length, the first column aligned left and all others right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace pollen::detail
