#include <pollen/data/formats/libsvm.hpp>

// The first byte is the number of features.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const pollen::Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
    try {
        pollen::parse_libsvm(bytes, "f", {.features = data[0], .limits = {1 << 20}});
    } catch (const pollen::FileError&) {
    }
    return 0;
}
