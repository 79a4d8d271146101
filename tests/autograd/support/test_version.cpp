#include "../../support.hpp"

#include <pollen/autograd/support/version.hpp>

using namespace pollen;

BOOST_AUTO_TEST_SUITE(version_of_the_library)

BOOST_AUTO_TEST_CASE(header_library_and_package_have_one_version) {
    const std::string header = std::to_string(POLLEN_VERSION_MAJOR) + "." + std::to_string(POLLEN_VERSION_MINOR) + "." +
                               std::to_string(POLLEN_VERSION_PATCH);
    BOOST_TEST(version() == header);
    BOOST_TEST(version() == POLLEN_PACKAGE_VERSION);  // what CMake read from the header
}

BOOST_AUTO_TEST_SUITE_END()
