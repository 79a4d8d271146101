#include <pollen/autograd/support/version.hpp>

#define POLLEN_TEXT_OF(x) #x
#define POLLEN_TEXT(x) POLLEN_TEXT_OF(x)

namespace pollen {

std::string_view version() {
    return POLLEN_TEXT(POLLEN_VERSION_MAJOR) "." POLLEN_TEXT(POLLEN_VERSION_MINOR) "." POLLEN_TEXT(
        POLLEN_VERSION_PATCH);
}

}  // namespace pollen
