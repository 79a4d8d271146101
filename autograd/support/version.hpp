#pragma once

#include <string_view>

// The version of these headers, for #if. CMakeLists.txt reads it from here.
#define POLLEN_VERSION_MAJOR 0
#define POLLEN_VERSION_MINOR 1
#define POLLEN_VERSION_PATCH 0

namespace pollen {

// The version of the library that the program is linked with: "0.1.0".
std::string_view version();

}  // namespace pollen
