#include <pollen/samplers/draws/stan_csv.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        pollen::StanCsvReader reader(std::as_bytes(std::span(data + 1, size - 1)), "f", {.max_bytes = 1 << 20});
        pollen::StanCsvReader::Row row;
        while (reader.next(row, data[0] & 1)) {
        }
    } catch (const pollen::FileError&) {
    }
    return 0;
}
