#include <pollen/data/formats/image.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/pixels.hpp>
#include <pollen/data/io/atomic_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace pollen {

namespace {

// Numbers, white space and comments: all of a plain PGM file and the header of a raw one.
class Scanner {
  public:
    Scanner(Bytes bytes, const std::string& name)
        : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name_(name) {}

    std::size_t at = 0;

    [[noreturn]] void fail(std::size_t where, const std::string& what) const {
        throw FileError(place(where) + ": " + what);
    }
    std::string place(std::size_t where) const { return name_ + ": offset " + std::to_string(where); }

    bool ended() const { return at == text_.size(); }
    bool at_space() const {
        return !ended() && std::string_view(" \t\n\v\f\r").find(text_[at]) != std::string_view::npos;
    }

    // White space and comments, which reach from # to the end of the line.
    void skip() {
        while (at_space() || (!ended() && text_[at] == '#')) {
            if (text_[at] == '#')
                at = std::min(text_.find_first_of("\r\n", at), text_.size());
            else
                ++at;
        }
    }

    // A number behind white space. Numbers above any limit of the format come back as 2^32.
    std::uint64_t number(const char* field) {
        const std::size_t before = at;
        skip();
        if (ended()) fail(at, std::string(field) + ": the file ends where a number is expected");
        if (at == before) fail(at, std::string(field) + ": white space is expected before it");
        const std::size_t start = at;
        std::uint64_t value = 0;
        for (; !ended() && text_[at] >= '0' && text_[at] <= '9'; ++at)
            value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(text_[at] - '0'),
                                            std::uint64_t{1} << 32);
        if (at == start) fail(at, std::string(field) + ": a number is expected");
        return value;
    }

  private:
    std::string_view text_;
    const std::string& name_;
};

[[noreturn]] void fail_above(const Scanner& scanner, std::size_t at, std::uint64_t pixel, std::uint64_t width,
                             std::uint64_t value, std::uint64_t largest) {
    scanner.fail(at, "pixel (" + std::to_string(pixel / width) + ", " + std::to_string(pixel % width) +
                         "): " + std::to_string(value) + " is above the largest value, " + std::to_string(largest));
}

template <Real T>
Tensor<T> pgm_tensor(Bytes bytes, const std::string& name, const ImageLimits& limits) {
    Scanner scanner(bytes, name);
    const bool plain = bytes.size() >= 2 && std::memcmp(bytes.data(), "P2", 2) == 0;
    if (!plain && (bytes.size() < 2 || std::memcmp(bytes.data(), "P5", 2) != 0))
        scanner.fail(0, "magic: not a PGM file, which starts with P2 or P5");
    scanner.at = 2;
    const std::uint64_t width = scanner.number("width");
    detail::check_image_size(scanner.place(scanner.at), "width", width, limits.max_width);
    const std::uint64_t height = scanner.number("height");
    detail::check_image_size(scanner.place(scanner.at), "height", height, limits.max_height);
    const std::uint64_t largest = scanner.number("largest value");
    if (largest < 1 || largest > 65535)
        scanner.fail(scanner.at, "largest value: " + std::to_string(largest) + " is not from 1 to 65535");
    if (!scanner.at_space()) scanner.fail(scanner.at, "largest value: white space is expected behind it");

    detail::MemoryBudget budget(name, limits.limits, bytes.size());
    const std::array<std::uint64_t, 3> sides = {height, width, sizeof(T)};
    const std::uint64_t pixels = budget.check("image", sides) / sizeof(T);
    const std::uint64_t sample = largest > 255 ? 2 : 1;
    const std::uint64_t held = bytes.size() - scanner.at - 1;
    // A plain number takes a digit and, but for the last, a space.
    if (plain ? held + 1 < 2 * pixels : held != sample * pixels)
        scanner.fail(scanner.at + 1, "data: " + std::to_string(held) + " bytes for " + std::to_string(pixels) +
                                         " pixels, which take " + (plain ? "at least " : "") +
                                         std::to_string(plain ? 2 * pixels - 1 : sample * pixels));
    Tensor<T> image = detail::new_image<T>(budget, 1, height, width, 0);
    T* out = image.fresh_data();
    const T scale = static_cast<T>(largest);
    if (plain) {
        for (std::uint64_t i = 0; i < pixels; ++i) {
            const std::uint64_t value = scanner.number("data");
            if (value > largest) fail_above(scanner, scanner.at, i, width, value, largest);
            out[i] = static_cast<T>(value) / scale;
        }
        scanner.skip();
        if (!scanner.ended()) scanner.fail(scanner.at, "data: there is more behind the last pixel");
        return image;
    }
    const std::byte* in = bytes.data() + scanner.at + 1;
    for (std::uint64_t i = 0; i < pixels; ++i) {
        std::uint64_t value = 0;
        for (std::uint64_t k = 0; k < sample; ++k)
            value = value << 8 | std::to_integer<std::uint64_t>(in[i * sample + k]);
        if (value > largest) fail_above(scanner, scanner.at + 1 + i * sample, i, width, value, largest);
        out[i] = static_cast<T>(value) / scale;
    }
    return image;
}

template <Real T>
std::vector<std::byte> pgm_file(const Tensor<T>& image) {
    const std::vector<std::uint8_t> pixels = detail::pixel_bytes("write_pgm", image, 1);
    const std::string head =
        "P5\n" + std::to_string(image.shape()[2]) + " " + std::to_string(image.shape()[1]) + "\n255\n";
    std::vector<std::byte> bytes(head.size() + pixels.size());
    std::memcpy(bytes.data(), head.data(), head.size());
    std::memcpy(bytes.data() + head.size(), pixels.data(), pixels.size());
    return bytes;
}

}  // namespace

template <Real T>
Tensor<T> parse_pgm(Bytes bytes, const std::string& name, const ImageLimits& limits) {
    return detail::with_errors_at(name, [&] { return pgm_tensor<T>(bytes, name, limits); });
}

template <Real T>
Tensor<T> read_pgm(const std::string& path, const ImageLimits& limits) {
    return parse_pgm<T>(read_bytes(path, limits.limits), path, limits);
}

template <Real T>
std::vector<std::byte> pgm_bytes(const Tensor<T>& image) {
    return detail::with_errors_at("write_pgm", [&] { return pgm_file(image); });
}

template <Real T>
void write_pgm(const std::string& path, const Tensor<T>& image) {
    write_file(path, pgm_bytes(image));
}

template Tensor<float> parse_pgm<float>(Bytes, const std::string&, const ImageLimits&);
template Tensor<double> parse_pgm<double>(Bytes, const std::string&, const ImageLimits&);
template Tensor<float> read_pgm<float>(const std::string&, const ImageLimits&);
template Tensor<double> read_pgm<double>(const std::string&, const ImageLimits&);
template std::vector<std::byte> pgm_bytes<float>(const Tensor<float>&);
template std::vector<std::byte> pgm_bytes<double>(const Tensor<double>&);
template void write_pgm<float>(const std::string&, const Tensor<float>&);
template void write_pgm<double>(const std::string&, const Tensor<double>&);

}  // namespace pollen
