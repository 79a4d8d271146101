#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

// A sealed file is a safetensors file whose metadata say what it is ("format"), in which version, and the CRC-32 of the
// whole file ("checksum"). A file with a changed byte is refused, wherever the byte is, and so is one that was cut.
//
// A reader that also takes files without a seal asks has_seal() first. One changed byte cannot hide a seal: it has
// three keys, and one of them is enough.
namespace pollen::detail {

struct Seal {
    const char* format;       // "pollen chain"
    const char* version;      // "4": the only one that can be read
    const char* what;         // for messages: "the state of a chain"
    const char* prefix = "";  // of the three keys
    const char* advice = "";  // the end of the message for a damaged file
};

// Adds format, version and checksum; write_sealed() replaces the file as a whole or not at all.
TensorFile sealed(TensorFile file, const std::string& path, const Seal& seal);
void write_sealed(const std::string& path, TensorFile file, const Seal& seal);

// Throws a FileError if the file is damaged, of another format or of another version.
TensorFile read_sealed(const std::string& path, const Seal& seal, const ReadLimits& limits = {});
TensorFile parse_sealed(Bytes bytes, const std::string& name, const Seal& seal, const ReadLimits& limits = {});
// The same for bytes that were parsed already, as `file`.
void check_seal(Bytes bytes, const TensorFile& file, const Seal& seal);
// Whether the file has one of the three keys.
bool has_seal(const TensorFile& file, const Seal& seal);

// Gives a sealed file that was changed the checksum of what it holds now. Returns false if there is no place for it.
// Tests see by it what a reader does behind the checksum.
bool renew_checksum(std::span<std::byte> file, const std::string& prefix = "");

// A text or a number of the metadata. Throws a FileError if it is not there, or not such a number; a whole number must
// not be negative.
const std::string& metadata_text(const TensorFile& file, const std::string& field, const Seal& seal);

template <class N>
N metadata_number(const TensorFile& file, const std::string& field, const Seal& seal) {
    const std::string& text = metadata_text(file, field, seal);
    const char* last = text.data() + text.size();
    N number{};
    const auto [end, error] = std::from_chars(text.data(), last, number);
    const std::string found = file.source() + ": metadata: " + field + ": " + printable(text);
    if (error != std::errc() || end != last) throw FileError(found + " is not a number");
    if (number < 0 && std::is_integral_v<N>) throw FileError(found + " is negative");
    return number;
}

}  // namespace pollen::detail
