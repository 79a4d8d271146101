#pragma once

#include "../../data/bytes.hpp"
#include "../../data/child_process.hpp"
#include "../../data/forge.hpp"
#include "../../data/temporary_directory.hpp"

#include <pollen/data/formats/safetensors.hpp>

#include <regex>
#include <string>
#include <vector>

namespace pollen::test {

// A file of draws without its timings.
inline std::string timeless(const std::string& path) {
    static const std::regex seconds("[-+.0-9e]+ seconds");
    return std::regex_replace(contents(path), seconds, "s");
}

// Everything in the state of a chain but its timings.
inline std::string timeless_state(const std::string& path) {
    TensorFile file = read_safetensors(path);
    for (const char* field : {"warmup_seconds", "sampling_seconds", "checksum"}) file.metadata.erase(field);
    const std::vector<std::byte> bytes = safetensors_bytes(file);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether two runs ended with the same files.
inline bool same_run(const std::string& a, const std::string& b, int chains) {
    for (int c = 1; c <= chains; ++c) {
        const std::string name = "/chain_" + std::to_string(c);
        if (timeless(a + name + ".csv") != timeless(b + name + ".csv")) return false;
        if (timeless_state(a + name + ".state") != timeless_state(b + name + ".state")) return false;
    }
    return true;
}

}  // namespace pollen::test
