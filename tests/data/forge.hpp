#pragma once

#include "bytes.hpp"
#include "temporary_directory.hpp"

#include <boost/test/unit_test.hpp>
#include <pollen/data/formats/detail/sealed_tensors.hpp>

#include <functional>
#include <string>
#include <vector>

namespace pollen::test {

// Changes what a sealed file holds, and gives it the checksum of that, unless the change took the field away.
inline void forge(const std::string& path, const std::function<void(TensorFile&)>& change) {
    TensorFile file = read_safetensors(path);
    change(file);
    std::vector<std::byte> bytes = safetensors_bytes(file);
    BOOST_REQUIRE(detail::renew_checksum(bytes) == file.metadata.contains("checksum"));
    put(path, text_of(bytes));
}

}  // namespace pollen::test
