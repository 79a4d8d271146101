#include <pollen/data/formats/image.hpp>

#include <zlib.h>
#include <algorithm>

static void parse(pollen::Bytes bytes) {
    try {
        pollen::parse_png<float>(bytes, "f", {1024, 1024, {1 << 20}});
    } catch (const pollen::FileError&) {
    }
}

// Mutations hardly ever leave the checksums of the chunks right, so each input is read a second time with these mended.
static void mend(std::vector<std::uint8_t>& file) {
    for (std::size_t at = 8; at + 12 <= file.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | file[at + i];
        if (length > file.size() - at - 12) return;
        const auto crc = crc32(0, file.data() + at + 4, static_cast<uInt>(length + 4));
        for (std::size_t i = 0; i < 4; ++i) file[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
        at += length + 12;
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    parse(std::as_bytes(std::span(data, size)));
    std::vector<std::uint8_t> mended(data, data + size);
    mend(mended);
    parse(std::as_bytes(std::span(mended)));
    return 0;
}
