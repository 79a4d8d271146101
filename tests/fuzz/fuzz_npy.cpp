#include <pollen/data/formats/npy.hpp>

template <class T>
static void parse(pollen::Bytes bytes) {
    try {
        pollen::parse_npy<T>(bytes, "f", {1 << 20});
    } catch (const pollen::FileError&) {
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const pollen::Bytes bytes = std::as_bytes(std::span(data, size));
    parse<float>(bytes);
    parse<double>(bytes);
    parse<std::int32_t>(bytes);
    return 0;
}
