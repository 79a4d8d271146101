#include <pollen/data/formats/idx.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/exact_integer.hpp>
#include <pollen/data/formats/detail/idx_header.hpp>
#include <pollen/data/io/gzip.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace pollen {

using detail::big_endian;
using detail::fail_at_offset;

namespace {

constexpr std::int64_t grain = 1 << 18;

std::string shortest(double value) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

template <class T, class Element>
constexpr bool always_fits =
    std::is_floating_point_v<T> ? std::numeric_limits<Element>::digits <= std::numeric_limits<T>::digits
                                : std::is_integral_v<Element>;

template <class T, class Element>
void check_fits(Element element, std::int64_t index, const std::string& name, std::uint64_t offset) {
    const double value = element;
    const auto fail = [&](const char* what) {
        fail_at_offset(name, offset, "element " + std::to_string(index) + ": " + shortest(value) + what);
    };
    constexpr double low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if constexpr (std::is_integral_v<T>) {
        if (!(value >= low && value <= high) || std::trunc(value) != value)
            fail(" is not a whole number of 32 bits, as which it is read");
    } else if constexpr (std::is_integral_v<Element>) {
        if (!detail::holds_exactly<T>(element))
            fail(" is a whole number that a float does not hold; read it as double");
    } else {
        if (std::isfinite(value) && !(value >= low && value <= high)) fail(" is too large for a float");
    }
}

template <class T, class Element>
Tensor<T> convert(const std::byte* bytes, const Shape& shape, const std::string& name, std::uint64_t offset) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(Element));
    Tensor<T> tensor = Tensor<T>::empty(shape);
    T* out = tensor.fresh_data();
    if constexpr (!always_fits<T, Element>) {
        for (std::int64_t i = 0; i < tensor.size(); ++i)
            check_fits<T>(big_endian<Element>(bytes + i * width), i, name,
                          offset + static_cast<std::uint64_t>(i * width));
    }
    parallel_for(tensor.size(), grain, [&](std::int64_t begin, std::int64_t end) {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a letter
        for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(big_endian<Element>(bytes + i * width));
    });
    return tensor;
}

}  // namespace

template <class T>
Tensor<T> detail::parse_idx(Bytes bytes, const std::string& name, const ReadLimits& limits, IdxHeader& header) {
    MemoryBudget budget(name, limits, bytes.size());
    std::vector<std::byte> storage;
    const bool zipped = is_gzip(bytes);
    if (zipped) storage = gunzip_prefix(bytes, name, longest_idx_header);
    header = parse_idx_header(zipped ? Bytes(storage) : bytes, name, sizeof(T), zipped, budget);
    if (zipped) {
        // One byte more than there should be, to notice when there are more.
        storage = gunzip_prefix(bytes, name, header.file_bytes + 1);
        bytes = storage;
    }
    if (bytes.size() < header.file_bytes)
        fail_at_offset(name, bytes.size(),
                       "elements: the file ends here; its header says that it has " +
                           std::to_string(header.file_bytes) + " bytes");
    if (bytes.size() > header.file_bytes)
        fail_at_offset(name, header.file_bytes, "more bytes follow; the header says that the file ends here");
    const Shape shape{std::span<const std::int64_t>(header.sizes)};
    const std::byte* data = bytes.data() + header.bytes;
    switch (std::to_integer<int>(header.type)) {
        case 0x08:
            return convert<T, std::uint8_t>(data, shape, name, header.bytes);
        case 0x09:
            return convert<T, std::int8_t>(data, shape, name, header.bytes);
        case 0x0B:
            return convert<T, std::int16_t>(data, shape, name, header.bytes);
        case 0x0C:
            return convert<T, std::int32_t>(data, shape, name, header.bytes);
        case 0x0D:
            return convert<T, float>(data, shape, name, header.bytes);
        default:
            return convert<T, double>(data, shape, name, header.bytes);
    }
}

template <class T>
Tensor<T> parse_idx(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    return detail::with_errors_at(name, [&] {
        detail::IdxHeader header;
        return detail::parse_idx<T>(bytes, name, limits, header);
    });
}

template <class T>
Tensor<T> read_idx(const std::string& path, const ReadLimits& limits) {
    return parse_idx<T>(read_bytes(path, limits), path, limits);
}

namespace {

template <class T>
std::vector<std::byte> idx_file(const Tensor<T>& values) {
    if (values.rank() == 0) throw ValueError("idx_bytes: the tensor has shape (); IDX files have at least one axis");
    std::vector<std::byte> bytes{std::byte{0}, std::byte{0}, std::byte{8}, static_cast<std::byte>(values.rank())};
    for (const std::int64_t size : values.shape().sizes()) {
        if (size > std::numeric_limits<std::uint32_t>::max())
            throw ValueError("idx_bytes: shape " + to_string(values.shape()) + " has a size above 2^32 - 1");
        for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::byte>((size >> shift) & 255));
    }
    detail::reserve(bytes, bytes.size() + static_cast<std::size_t>(values.size()), "idx_bytes");
    for (const T& value : values) {
        if (!(value >= T(0) && value <= T(255)) || static_cast<T>(static_cast<int>(value)) != value)
            throw ValueError("idx_bytes: element " + std::to_string(&value - values.begin()) + " is " +
                             shortest(static_cast<double>(value)) + "; expected whole numbers from 0 to 255");
        bytes.push_back(static_cast<std::byte>(static_cast<int>(value)));
    }
    return bytes;
}

}  // namespace

template <class T>
std::vector<std::byte> idx_bytes(const Tensor<T>& values) {
    return detail::with_errors_at("idx_bytes", [&] { return idx_file(values); });
}

template Tensor<float> parse_idx(Bytes, const std::string&, const ReadLimits&);
template Tensor<double> parse_idx(Bytes, const std::string&, const ReadLimits&);
template Tensor<std::int32_t> parse_idx(Bytes, const std::string&, const ReadLimits&);
template Tensor<float> read_idx(const std::string&, const ReadLimits&);
template Tensor<double> read_idx(const std::string&, const ReadLimits&);
template Tensor<std::int32_t> read_idx(const std::string&, const ReadLimits&);
template std::vector<std::byte> idx_bytes(const Tensor<float>&);
template std::vector<std::byte> idx_bytes(const Tensor<double>&);
template std::vector<std::byte> idx_bytes(const Tensor<std::int32_t>&);
template Tensor<float> detail::parse_idx(Bytes, const std::string&, const ReadLimits&, IdxHeader&);
template Tensor<double> detail::parse_idx(Bytes, const std::string&, const ReadLimits&, IdxHeader&);
template Tensor<std::int32_t> detail::parse_idx(Bytes, const std::string&, const ReadLimits&, IdxHeader&);

}  // namespace pollen
