#pragma once

#include <string>

// The colour of a method in all figures, such as "#0072B2" for SGLD; empty if the label names no method of the table in
// method_colour.cpp. A label belongs to the method with whose name it begins: "SGLD, batch 10" to SGLD.
std::string method_colour(const std::string& label);
