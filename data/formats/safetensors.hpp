#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pollen {

// Named tensors, and strings about them, as a safetensors file holds them.
class TensorFile {
  public:
    using Counters = std::vector<std::uint64_t>;
    using Octets = std::vector<std::uint8_t>;
    using Value = std::variant<Tensor<float>, Tensor<double>, Indices, Counters, Octets>;

    TensorFile() = default;
    explicit TensorFile(std::string source);

    // What the file says about itself.
    std::map<std::string, std::string> metadata;

    // Adds a tensor, or replaces the one of that name. Tensors are shared, not copied, until somebody writes to them.
    void set(const std::string& name, Tensor<float> tensor);
    void set(const std::string& name, Tensor<double> tensor);
    void set(const std::string& name, Indices tensor);
    void set(const std::string& name, Counters counters);
    void set(const std::string& name, Octets octets);

    // The tensor of that name. Throws a FileError if the file has no such tensor, or if its type differs, or (second
    // form) its shape: `m.safetensors: there is no tensor "w1"; near it: "w0", "w2"`.
    template <class T>
    const Tensor<T>& get(std::string_view name) const;
    template <class T>
    const Tensor<T>& get(std::string_view name, const Shape& shape) const;
    const Counters& counters(std::string_view name) const;
    // Numbers from 0 to 255 with one axis, however they are stored; FileError if one is not.
    Octets octets(std::string_view name) const;

    bool contains(std::string_view name) const;
    std::vector<std::string> names() const;  // sorted
    std::size_t size() const;
    const std::map<std::string, Value, std::less<>>& values() const { return values_; }

    // The name that messages call it by, usually the path it was read from.
    const std::string& source() const { return source_; }

  private:
    void put(const std::string& name, Value value);
    const Value& find(std::string_view name) const;
    template <class V>
    const V& find_as(std::string_view name, const char* dtype) const;

    std::map<std::string, Value, std::less<>> values_;
    std::string source_ = "tensors";
};

// The safetensors format: the length of the header (8 bytes, little-endian), the header (JSON: for each tensor its
// dtype, shape and place) and the numbers. Reading one runs no code and takes no memory that the file does not fill.
//
// F32, F64, I32 and one-axis U64 (counters) are read as they are, F16 and BF16 as float, and BOOL, U8, I8, I16, U16,
// U32 and I64 as std::int32_t, which they must fit into. Anything else, and any file that the format does not allow in
// every detail, is a FileError. What is written as U8 (octets) is therefore read as std::int32_t, and octets() takes
// both.
TensorFile parse_safetensors(Bytes bytes, const std::string& name, const ReadLimits& limits = {});
TensorFile read_safetensors(const std::string& path, const ReadLimits& limits = {});

// Equal contents give equal bytes: wide types come first, as in the reference implementation, then tensors are in the
// order of their names; the numbers begin at a multiple of 8. The file is replaced as a whole or not at all.
void write_safetensors(const std::string& path, const TensorFile& file);

// What write_safetensors writes.
std::vector<std::byte> safetensors_bytes(const TensorFile& file);

}  // namespace pollen
