#include <pollen/data/formats/detail/sealed_tensors.hpp>

#include <pollen/data/formats/detail/safetensors_parts.hpp>
#include <pollen/data/io/detail/crc32.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace pollen::detail {

namespace {

constexpr std::string_view no_checksum = "00000000";

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Where the eight digits of the checksum are; npos if they are nowhere. A quote inside of a text is not written as it
// is, so the key is unique.
std::size_t place_of_checksum(std::string_view bytes, const std::string& prefix) {
    const std::string key = '"' + prefix + "checksum\":\"";
    const std::size_t at = bytes.find(key), place = at + key.size(), end = place + no_checksum.size();
    return at != bytes.npos && end < bytes.size() && bytes[end] == '"' ? place : bytes.npos;
}

// CRC-32 of the file as it is with a checksum of 0.
std::string checksum_of(std::string_view bytes, std::size_t place) {
    Crc32 sum;
    sum.add(bytes.substr(0, place));
    sum.add(no_checksum);
    sum.add(bytes.substr(place + no_checksum.size()));
    return crc32_text(sum.sum());
}

}  // namespace

TensorFile sealed(TensorFile file, const std::string& path, const Seal& seal) {
    const std::string prefix = seal.prefix;
    file.metadata[prefix + "format"] = seal.format;
    file.metadata[prefix + "version"] = seal.version;
    std::string& checksum = file.metadata[prefix + "checksum"];
    checksum = no_checksum;
    Crc32 sum;
    each_safetensors_part(file, path, [&](const void* data, std::size_t bytes) { sum.add(data, bytes); });
    checksum = crc32_text(sum.sum());
    return file;
}

void write_sealed(const std::string& path, TensorFile file, const Seal& seal) {
    write_safetensors(path, sealed(std::move(file), path, seal));
}

bool has_seal(const TensorFile& file, const Seal& seal) {
    const std::string prefix = seal.prefix;
    return file.metadata.contains(prefix + "format") || file.metadata.contains(prefix + "version") ||
           file.metadata.contains(prefix + "checksum");
}

void check_seal(Bytes bytes, const TensorFile& file, const Seal& seal) {
    const std::string prefix = seal.prefix, where = file.source() + ": metadata: ";
    if (const std::string& format = metadata_text(file, prefix + "format", seal); format != seal.format)
        throw FileError(where + prefix + "format: " + printable(format) + " is not " + seal.what + seal.advice);
    if (const std::string& version = metadata_text(file, prefix + "version", seal); version != seal.version)
        throw FileError(where + prefix + "version: " + printable(version) + "; this version of pollen reads " +
                        seal.version);
    metadata_text(file, prefix + "checksum", seal);
    const std::string_view text = text_of(bytes);
    const std::size_t place = place_of_checksum(text, prefix);
    if (place == text.npos)
        throw FileError(where + prefix + "checksum: does not have the form in which pollen writes it" + seal.advice);
    const std::string_view saved = text.substr(place, no_checksum.size());
    if (const std::string computed = checksum_of(text, place); saved != computed)
        throw FileError(where + prefix + "checksum: " + printable(saved) + ", but what it holds has " + computed +
                        "; the file is damaged" + seal.advice);
}

TensorFile parse_sealed(Bytes bytes, const std::string& name, const Seal& seal, const ReadLimits& limits) {
    TensorFile file = parse_safetensors(bytes, name, limits);
    check_seal(bytes, file, seal);
    return file;
}

TensorFile read_sealed(const std::string& path, const Seal& seal, const ReadLimits& limits) {
    return parse_sealed(read_bytes(path, limits), path, seal, limits);
}

bool renew_checksum(std::span<std::byte> file, const std::string& prefix) {
    const std::size_t place = place_of_checksum(text_of(file), prefix);
    if (place == std::string_view::npos) return false;
    const std::string sum = checksum_of(text_of(file), place);
    std::transform(sum.begin(), sum.end(), file.begin() + static_cast<std::ptrdiff_t>(place),
                   [](char c) { return static_cast<std::byte>(c); });
    return true;
}

const std::string& metadata_text(const TensorFile& file, const std::string& field, const Seal& seal) {
    const auto at = file.metadata.find(field);
    if (at == file.metadata.end())
        throw FileError(file.source() + ": metadata: there is no " + field + "; is it " + seal.what + "?" +
                        seal.advice);
    return at->second;
}

}  // namespace pollen::detail
