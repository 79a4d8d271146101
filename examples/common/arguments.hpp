#pragma once

#include <cstdint>
#include <string>

// The values of options, from the text of a command line. Each function throws a pollen::ValueError that names the
// option, what was given and what is needed.

// A whole number from least to most, in decimal.
template <class Integer>
Integer whole_number(const std::string& option, const std::string& text, Integer least, Integer most);

// A finite number.
double finite_number(const std::string& option, const std::string& text);

// Throws for a path that is empty or has control characters, such as a line break.
void check_path(const std::string& option, const std::string& path);
