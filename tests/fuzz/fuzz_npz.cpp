#include <pollen/data/formats/npz.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const pollen::Npz npz = pollen::Npz::parse(std::as_bytes(std::span(data, size)), "f", {1 << 20});
        for (const std::string& name : npz.names()) {
            try {
                npz.get<float>(name);
            } catch (const pollen::FileError&) {
            }
        }
    } catch (const pollen::FileError&) {
    }
    return 0;
}
