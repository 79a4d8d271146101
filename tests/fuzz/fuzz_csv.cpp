#include <pollen/data/formats/csv.hpp>

// The first byte chooses the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const pollen::Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
    pollen::CsvOptions options;
    options.limits.max_bytes = 1 << 20;
    options.max_line = 1 << 10;
    options.delimiter = ",; \t"[data[0] & 3];
    options.missing = data[0] & 4 ? pollen::CsvOptions::Missing::nan : pollen::CsvOptions::Missing::error;
    options.header = static_cast<pollen::CsvOptions::Header>((data[0] >> 3) % 3);
    if (data[0] & 64) options.columns = {"a", "2"};
    try {
        if (data[0] & 128)
            pollen::parse_csv_text(bytes, "f", options);
        else
            pollen::parse_csv(bytes, "f", options);
    } catch (const pollen::FileError&) {
    }
    return 0;
}
