#include <pollen/data/formats/idx.hpp>

// The first byte chooses what is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const pollen::Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
    const pollen::ReadLimits limits{1 << 20};
    try {
        switch (data[0] % 4) {
            case 0:
                pollen::parse_idx<float>(bytes, "f", limits);
                break;
            case 1:
                pollen::parse_idx<double>(bytes, "f", limits);
                break;
            case 2:
                pollen::parse_idx<std::int32_t>(bytes, "f", limits);
                break;
            default:
                const std::size_t middle = bytes.size() / 2;
                pollen::parse_labelled_images<float>(bytes.first(middle), "i", bytes.subspan(middle), "l", 10, limits);
        }
    } catch (const pollen::FileError&) {
    }
    return 0;
}
