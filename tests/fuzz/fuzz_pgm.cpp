#include <pollen/data/formats/image.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        pollen::parse_pgm<float>(std::as_bytes(std::span(data, size)), "f", {1024, 1024, {1 << 20}});
    } catch (const pollen::FileError&) {
    }
    return 0;
}
