#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/safetensors_header.hpp>
#include <pollen/data/formats/detail/safetensors_parts.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/atomic_file.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace pollen {

namespace {

static_assert(std::endian::native == std::endian::little, "the numbers are written as they are in memory");

// What the writer needs to know of one tensor, of whatever type.
struct Piece {
    const std::string* name;
    int order;  // wide types first, so that every tensor is aligned to its type
    const char* dtype;
    std::vector<std::int64_t> shape;
    Bytes data;
};

Piece piece_of(const std::string& name, const TensorFile::Value& value) {
    return std::visit(
        [&]<class V>(const V& numbers) -> Piece {
            constexpr bool counters = std::is_same_v<V, TensorFile::Counters>;
            if constexpr (counters || std::is_same_v<V, TensorFile::Octets>) {
                return {&name,
                        counters ? 0 : 4,
                        counters ? "U64" : "U8",
                        {static_cast<std::int64_t>(numbers.size())},
                        std::as_bytes(std::span(numbers))};
            } else {
                const auto sizes = numbers.shape().sizes();
                constexpr bool is_double = std::is_same_v<V, Tensor<double>>,
                               is_float = std::is_same_v<V, Tensor<float>>;
                return {&name,
                        is_double  ? 1
                        : is_float ? 2
                                   : 3,
                        is_double  ? "F64"
                        : is_float ? "F32"
                                   : "I32",
                        {sizes.begin(), sizes.end()},
                        std::as_bytes(numbers.values())};
            }
        },
        value);
}

// {"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}} and spaces up to a multiple of 8.
std::string header_of(const TensorFile& file, const std::vector<Piece>& pieces, const std::string& path) {
    std::string json = "{", comma;
    if (!file.metadata.empty()) {
        json += "\"__metadata__\":{";
        for (const auto& [key, text] : file.metadata) {
            json += comma + detail::json_string(key, path) + ":" + detail::json_string(text, path);
            comma = ",";
        }
        json += "}";
    }
    std::size_t at = 0;
    for (const Piece& piece : pieces) {
        std::string sizes;
        for (const std::int64_t size : piece.shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
        const std::size_t end = at + piece.data.size();
        json += comma;
        json += detail::json_string(*piece.name, path);
        json += std::string(":{\"dtype\":\"") + piece.dtype + "\",\"shape\":[";
        json += sizes;
        json += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
        comma = ",";
        at = end;
    }
    json += "}";
    json.resize((json.size() + 7) / 8 * 8, ' ');
    if (json.size() > detail::longest_safetensors_header)
        throw FileError(path + ": the names and texts make a header of " + std::to_string(json.size()) +
                        " bytes, more than the " + std::to_string(detail::longest_safetensors_header) +
                        " that the format allows");
    return json;
}

// Everything that can be wrong with the contents is found before the first byte is put anywhere.
struct Layout {
    std::string header;
    std::vector<Piece> pieces;

    Layout(const TensorFile& file, const std::string& path) {
        for (const auto& [name, value] : file.values()) pieces.push_back(piece_of(name, value));
        std::stable_sort(pieces.begin(), pieces.end(),
                         [](const Piece& a, const Piece& b) { return a.order < b.order; });
        header = header_of(file, pieces, path);
    }

    template <class Put>
    void write(const Put& put) const {
        const std::uint64_t length = header.size();
        put(&length, sizeof length);
        put(header.data(), header.size());
        for (const Piece& piece : pieces) put(piece.data.data(), piece.data.size());
    }
};

}  // namespace

void write_safetensors(const std::string& path, const TensorFile& file) {
    detail::with_errors_at(path, [&] {
        const Layout layout(file, path);
        AtomicFile out(path);
        layout.write([&](const void* data, std::size_t bytes) { out.write(data, bytes); });
        out.commit();
    });
}

void detail::each_safetensors_part(const TensorFile& file, const std::string& name,
                                   const std::function<void(const void*, std::size_t)>& put) {
    Layout(file, name).write(put);
}

std::vector<std::byte> safetensors_bytes(const TensorFile& file) {
    return detail::with_errors_at(file.source(), [&] {
        std::vector<std::byte> all;
        Layout(file, file.source()).write([&](const void* data, std::size_t bytes) {
            const std::byte* from = static_cast<const std::byte*>(data);
            detail::allocating(file.source(), all.size() + bytes, [&] { all.insert(all.end(), from, from + bytes); });
        });
        return all;
    });
}

}  // namespace pollen
