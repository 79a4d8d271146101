#include <pollen/data/formats/npy.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/exact_integer.hpp>
#include <pollen/data/formats/detail/half.hpp>
#include <pollen/data/formats/detail/npy_header.hpp>
#include <pollen/data/io/atomic_file.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace pollen {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

struct Half {
    std::uint16_t bits;
};
struct Bool {
    std::uint8_t bits;
};

template <class T>
constexpr const char* descr = std::is_same_v<T, float>    ? "<f4"
                              : std::is_same_v<T, double> ? "<f8"
                                                          : "<i4";

float widen(Half half) { return from_half(half.bits); }
std::uint8_t widen(Bool value) { return value.bits; }
template <class From>
From widen(From value) {
    return value;
}

// Why `value` cannot become a T; null where it can.
template <class T, class From>
const char* problem(From value) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<T>) {
        return std::in_range<T>(value) ? nullptr : "does not fit int32, which is -2147483648 to 2147483647";
    } else if constexpr (std::is_integral_v<From>) {
        return detail::holds_exactly<T>(value) ? nullptr
               : std::is_same_v<T, float>      ? "is an integer that float cannot hold exactly; read it as double"
                                               : "is an integer that double cannot hold exactly";
    } else if constexpr (std::is_integral_v<T>) {
        const double x = value;
        if (!(x >= -2147483648.0 && x <= 2147483647.0)) return "does not fit int32, which is -2147483648 to 2147483647";
        return x == std::trunc(x) ? nullptr : "is not an integer";
    } else {
        return std::isfinite(value) && !std::isfinite(static_cast<T>(value)) ? "is beyond the range of float" : nullptr;
    }
}

template <class From>
std::string number_text(From value) {
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string index_text(const Shape& shape, std::int64_t position) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        text.insert(0, std::to_string(position % shape[axis]) + (text.empty() ? "" : ", "));
        position /= shape[axis];
    }
    return "(" + text + ")";
}

// The row-major positions of the numbers of a file, in the file's order.
class Positions {
  public:
    Positions(const Shape& shape, bool fortran_order) : shape_(shape), fortran_order_(fortran_order) {
        std::int64_t stride = 1;
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
            strides_[static_cast<std::size_t>(axis)] = stride;
            stride *= shape[axis];
        }
    }

    std::int64_t operator*() const { return position_; }

    void operator++() {
        if (!fortran_order_) {
            ++position_;
            return;
        }
        for (int k = 0; k < shape_.rank(); ++k) {
            const auto axis = static_cast<std::size_t>(k);
            position_ += strides_[axis];
            if (++index_[axis] < shape_[k]) return;
            position_ -= strides_[axis] * shape_[k];
            index_[axis] = 0;
        }
    }

  private:
    const Shape& shape_;
    bool fortran_order_;
    std::int64_t position_ = 0;
    std::array<std::int64_t, max_rank> strides_{}, index_{};
};

template <class From, class T>
void convert(Bytes bytes, const std::string& name, const detail::NpyHeader& header, const Shape& shape, T* out) {
    if constexpr (std::is_same_v<From, T>) {
        if (!header.big_endian && !header.fortran_order) {
            if (shape.size() > 0)
                std::memcpy(out, bytes.data() + header.data_at, static_cast<std::size_t>(shape.size()) * sizeof(T));
            return;
        }
    }
    Positions position(shape, header.fortran_order);
    const auto count = static_cast<std::size_t>(shape.size());
    for (std::size_t i = 0; i < count; ++i, ++position) {
        const std::size_t at = header.data_at + i * sizeof(From);
        std::array<std::byte, sizeof(From)> raw;
        std::memcpy(raw.data(), bytes.data() + at, sizeof(From));
        if (header.big_endian) std::reverse(raw.begin(), raw.end());
        const auto value = widen(std::bit_cast<From>(raw));
        const char* wrong = problem<T>(value);
        if constexpr (std::is_same_v<From, Bool>) wrong = value > 1 ? "is not a bool, which is 0 or 1" : nullptr;
        if (wrong)
            throw FileError(name + ": offset " + std::to_string(at) + ": element " + index_text(shape, *position) +
                            ": " + number_text(value) + " " + wrong);
        out[*position] = static_cast<T>(value);  // NOLINT(bugprone-signed-char-misuse): a number, not a letter
    }
}

}  // namespace

template <class T>
Tensor<T> detail::parse_npy(Bytes bytes, const std::string& name, MemoryBudget& budget) {
    const NpyHeader header = parse_npy_header(bytes, name);
    const std::string place = "offset " + std::to_string(header.shape_at) + ": shape";
    std::vector<std::uint64_t> factors = header.sizes;
    factors.push_back(sizeof(T));
    const std::uint64_t elements = budget.take(place, factors) / sizeof(T);
    const std::uint64_t expected = elements * static_cast<std::uint64_t>(header.item_bytes);
    const std::uint64_t held = bytes.size() - header.data_at;
    if (held != expected)
        throw FileError(name + ": offset " + std::to_string(header.data_at) + ": data: " + std::to_string(held) +
                        " bytes, but the header says " + std::to_string(expected));

    // The budget allows all these numbers, or all but those of the axes of size 0: the sizes cannot be too large for a
    // Shape.
    const std::vector<std::int64_t> sizes(header.sizes.begin(), header.sizes.end());
    const Shape shape{std::span<const std::int64_t>(sizes)};
    Tensor<T> tensor = Tensor<T>::empty(shape);
    T* out = tensor.fresh_data();
    const auto as = [&]<class From>(std::type_identity<From>) { convert<From>(bytes, name, header, shape, out); };
    switch (header.kind * 16 + header.item_bytes) {
        case 'b' * 16 + 1:
            as(std::type_identity<Bool>{});
            break;
        case 'i' * 16 + 1:
            as(std::type_identity<std::int8_t>{});
            break;
        case 'i' * 16 + 2:
            as(std::type_identity<std::int16_t>{});
            break;
        case 'i' * 16 + 4:
            as(std::type_identity<std::int32_t>{});
            break;
        case 'i' * 16 + 8:
            as(std::type_identity<std::int64_t>{});
            break;
        case 'u' * 16 + 1:
            as(std::type_identity<std::uint8_t>{});
            break;
        case 'u' * 16 + 2:
            as(std::type_identity<std::uint16_t>{});
            break;
        case 'u' * 16 + 4:
            as(std::type_identity<std::uint32_t>{});
            break;
        case 'u' * 16 + 8:
            as(std::type_identity<std::uint64_t>{});
            break;
        case 'f' * 16 + 2:
            as(std::type_identity<Half>{});
            break;
        case 'f' * 16 + 4:
            as(std::type_identity<float>{});
            break;
        default:
            as(std::type_identity<double>{});
    }
    return tensor;
}

template <class T>
Tensor<T> parse_npy(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    return detail::with_errors_at(name, [&] {
        detail::MemoryBudget budget(name, limits, bytes.size());
        return detail::parse_npy<T>(bytes, name, budget);
    });
}

template <class T>
Tensor<T> read_npy(const std::string& path, const ReadLimits& limits) {
    return parse_npy<T>(read_bytes(path, limits), path, limits);
}

template <class T>
std::vector<std::byte> npy_bytes(const Tensor<T>& tensor) {
    return detail::with_errors_at("npy_bytes", [&] {
        const std::string header = detail::npy_header_text(descr<T>, tensor.shape());
        const auto numbers = std::as_bytes(tensor.values());
        std::vector<std::byte> bytes;
        detail::resize(bytes, header.size() + numbers.size(), "npy_bytes");
        std::memcpy(bytes.data(), header.data(), header.size());
        std::copy(numbers.begin(), numbers.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header.size()));
        return bytes;
    });
}

template <class T>
void write_npy(const std::string& path, const Tensor<T>& tensor) {
    detail::with_errors_at(path, [&] {
        AtomicFile file(path);
        file.write(detail::npy_header_text(descr<T>, tensor.shape()));
        if (tensor.size() > 0) file.write(tensor.data(), tensor.values().size_bytes());
        file.commit();
    });
}

#define POLLEN_INSTANTIATE(T)                                                          \
    template Tensor<T> detail::parse_npy<T>(Bytes, const std::string&, MemoryBudget&); \
    template Tensor<T> parse_npy<T>(Bytes, const std::string&, const ReadLimits&);     \
    template Tensor<T> read_npy<T>(const std::string&, const ReadLimits&);             \
    template std::vector<std::byte> npy_bytes<T>(const Tensor<T>&);                    \
    template void write_npy<T>(const std::string&, const Tensor<T>&);

POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)
POLLEN_INSTANTIATE(std::int32_t)

#undef POLLEN_INSTANTIATE

}  // namespace pollen
