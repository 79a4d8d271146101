#pragma once

#include <string>
#include <vector>

namespace pollen::detail {

// Four digits, without an exponent where the number can be read without one.
std::string number_text(double x);

// Rows of equal length, the first column aligned left and all others right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace pollen::detail
