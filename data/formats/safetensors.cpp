#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <pollen/data/formats/detail/half.hpp>
#include <pollen/data/formats/detail/safetensors_header.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace pollen {

namespace {

static_assert(std::endian::native == std::endian::little, "the numbers are copied as they are in the file");

using detail::MemoryBudget;
using detail::printable;
using detail::TensorPlace;

struct Dtype {
    std::string_view name;
    std::uint64_t bytes;     // of a number in the file
    std::uint64_t expanded;  // and in memory
};
constexpr Dtype kDtypes[] = {{"F32", 4, 4},  {"F64", 8, 8}, {"I32", 4, 4}, {"U64", 8, 8}, {"F16", 2, 4},
                             {"BF16", 2, 4}, {"I64", 8, 4}, {"U32", 4, 4}, {"I16", 2, 4}, {"U16", 2, 4},
                             {"I8", 1, 4},   {"U8", 1, 4},  {"BOOL", 1, 4}};

[[noreturn]] void fail(const std::string& file, const TensorPlace& place, const std::string& what) {
    throw FileError(file + ": tensor " + printable(place.name) + ": " + what);
}

const Dtype& dtype_of(const std::string& file, const TensorPlace& place) {
    for (const Dtype& dtype : kDtypes)
        if (dtype.name == place.dtype) return dtype;
    std::string known;
    for (const Dtype& dtype : kDtypes) known += (known.empty() ? "" : ", ") + std::string(dtype.name);
    fail(file, place, "dtype: " + printable(place.dtype) + " cannot be read; these can: " + known);
}

Shape shape_of(const std::string& file, const TensorPlace& place) {
    std::vector<std::int64_t> sizes;
    for (const std::uint64_t size : place.shape) {
        if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail(file, place, "shape: the size " + std::to_string(size) + " is too large");
        sizes.push_back(static_cast<std::int64_t>(size));
    }
    try {
        return Shape(sizes);
    } catch (const ShapeError& error) {
        fail(file, place, std::string("shape: ") + error.what());
    }
}

// Tensors in the order of their data, which must lie end to end from the first byte to the last, each as long as its
// shape and type say.
void check_layout(const std::string& file, std::vector<TensorPlace>& tensors, std::uint64_t data,
                  MemoryBudget& budget) {
    std::sort(tensors.begin(), tensors.end(), [](const TensorPlace& a, const TensorPlace& b) {
        return a.offsets != b.offsets ? a.offsets < b.offsets : a.name < b.name;
    });
    std::uint64_t end = 0, expanded = 0;
    for (const TensorPlace& place : tensors) {
        const std::string field = "data_offsets: ";
        if (place.offsets[0] > place.offsets[1] || place.offsets[1] > data)
            fail(file, place,
                 field + std::to_string(place.offsets[0]) + " to " + std::to_string(place.offsets[1]) +
                     " is not a part of the file's " + std::to_string(data) + " bytes of data");
        if (place.offsets[0] != end)
            fail(file, place,
                 field + "begins at " + std::to_string(place.offsets[0]) + ", but the data before it ends at " +
                     std::to_string(end));
        end = place.offsets[1];

        const Dtype& dtype = dtype_of(file, place);
        std::vector<std::uint64_t> factors = place.shape;
        factors.push_back(dtype.bytes);
        const std::uint64_t needed = budget.check("tensor " + printable(place.name) + ": shape", factors);
        if (needed != end - place.offsets[0])
            fail(file, place,
                 field + std::to_string(place.offsets[0]) + " to " + std::to_string(end) + " is " +
                     std::to_string(end - place.offsets[0]) + " bytes, but its shape and dtype need " +
                     std::to_string(needed));
        expanded += needed / dtype.bytes * dtype.expanded;  // at most 4 times the file
    }
    if (end != data)
        throw FileError(file + ": the tensors end after " + std::to_string(end) + " bytes of data, but the file has " +
                        std::to_string(data));
    budget.take("tensors", {expanded});
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

template <class T>
Tensor<T> copied(const Shape& shape, Bytes data) {
    Tensor<T> tensor = Tensor<T>::empty(shape);
    if (!data.empty()) std::memcpy(tensor.mutable_data(), data.data(), data.size());
    return tensor;
}

template <class From, class To, class F>
Tensor<To> converted(const Shape& shape, Bytes data, const F& f) {
    Tensor<To> tensor = Tensor<To>::empty(shape);
    To* to = tensor.mutable_data();
    for (std::size_t i = 0; i < data.size() / sizeof(From); ++i) {
        From from;
        std::memcpy(&from, data.data() + i * sizeof(From), sizeof(From));
        to[i] = f(from, i);
    }
    return tensor;
}

template <class From>
Indices to_indices(const std::string& file, const TensorPlace& place, const Shape& shape, Bytes data) {
    return converted<From, std::int32_t>(shape, data, [&](From number, std::size_t i) {
        if (!std::in_range<std::int32_t>(number))
            fail(file, place,
                 "element " + std::to_string(i) + ": " + std::to_string(number) + " does not fit into 32 bits");
        return static_cast<std::int32_t>(number);
    });
}

// A tensor whose place has been checked.
void add(TensorFile& file, const TensorPlace& place, Bytes data) {
    const std::string& source = file.source();
    const std::string& dtype = place.dtype;
    const Shape shape = shape_of(source, place);
    data = data.subspan(place.offsets[0], place.offsets[1] - place.offsets[0]);
    const auto indices = [&]<class From>(From) { file.set(place.name, to_indices<From>(source, place, shape, data)); };
    if (dtype == "F32") return file.set(place.name, copied<float>(shape, data));
    if (dtype == "F64") return file.set(place.name, copied<double>(shape, data));
    if (dtype == "I32") return file.set(place.name, copied<std::int32_t>(shape, data));
    if (dtype == "U64") {
        if (shape.rank() != 1)
            fail(source, place, "shape: " + to_string(shape) + ", but U64 is read with one axis only");
        TensorFile::Counters counters(data.size() / 8);
        if (!data.empty()) std::memcpy(counters.data(), data.data(), data.size());
        return file.set(place.name, std::move(counters));
    }
    if (dtype == "F16" || dtype == "BF16") {
        const auto widen = dtype == "F16" ? from_half : from_bfloat;
        return file.set(place.name, converted<std::uint16_t, float>(
                                        shape, data, [&](std::uint16_t bits, std::size_t) { return widen(bits); }));
    }
    if (dtype == "I64") return indices(std::int64_t{});
    if (dtype == "U32") return indices(std::uint32_t{});
    if (dtype == "I16") return indices(std::int16_t{});
    if (dtype == "U16") return indices(std::uint16_t{});
    if (dtype == "I8") return indices(std::int8_t{});
    if (dtype == "BOOL") {
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] > std::byte{1})
                fail(source, place,
                     "element " + std::to_string(i) + ": " + std::to_string(std::to_integer<int>(data[i])) +
                         " is neither true (1) nor false (0)");
    }
    return indices(std::uint8_t{});
}

TensorFile parse(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    detail::MemoryBudget budget(name, limits, bytes.size());
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length)
        throw FileError(name + ": offset 0: length of the header: needs 8 bytes, but the file has " +
                        std::to_string(bytes.size()));
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (length > detail::longest_safetensors_header)
        throw FileError(name + ": offset 0: length of the header: is " + std::to_string(length) + ", more than " +
                        std::to_string(detail::longest_safetensors_header));
    if (length > bytes.size())
        throw FileError(name + ": offset 0: length of the header: is " + std::to_string(length) +
                        ", but the file has only " + std::to_string(bytes.size()) + " bytes after it");
    const std::string_view json(reinterpret_cast<const char*>(bytes.data()), length);
    detail::SafetensorsHeader header = detail::parse_safetensors_header(json, name);
    bytes = bytes.subspan(length);
    check_layout(name, header.tensors, bytes.size(), budget);

    TensorFile file(name);
    file.metadata = std::move(header.metadata);
    for (const TensorPlace& place : header.tensors) add(file, place, bytes);
    return file;
}

}  // namespace

TensorFile parse_safetensors(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    return detail::with_errors_at(name, [&] { return parse(bytes, name, limits); });
}

TensorFile read_safetensors(const std::string& path, const ReadLimits& limits) {
    return parse_safetensors(read_bytes(path, limits), path, limits);
}

}  // namespace pollen
