#include <pollen/data/formats/safetensors.hpp>

#include <cstdlib>

// Whatever parses can be written, and what was written parses to the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const pollen::ReadLimits limits{1 << 20};
    try {
        const pollen::TensorFile file =
            pollen::parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "f", limits);
        const std::vector<std::byte> bytes = pollen::safetensors_bytes(file);
        if (pollen::safetensors_bytes(pollen::parse_safetensors(bytes, "again")) != bytes) std::abort();
    } catch (const pollen::FileError&) {
    }
    return 0;
}
