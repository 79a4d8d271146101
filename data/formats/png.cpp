#include <pollen/data/formats/image.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/deflate_ratio.hpp>
#include <pollen/data/formats/detail/pixels.hpp>
#include <pollen/data/io/atomic_file.hpp>

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace pollen {

namespace {

// What libpng's callbacks see. An error of libpng jumps over every frame between here and there, so everything that is
// alive then is plain data: this struct, and the functions read_header and read_rows, which own nothing.
struct Decoder {
    const png_byte* bytes;
    std::size_t size;
    std::size_t at;
    std::jmp_buf jump;
    char message[200];
    png_structp png;
    png_infop info;
    png_uint_32 width, height;
    int channels, depth, passes;
    png_colorp palette;  // null if the pixels are not numbers of colours
    int colours;
    png_bytep alphas;  // of the first colours
    int alpha_count;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
    auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(decoder->message, message, sizeof decoder->message - 1);
    std::longjmp(decoder->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, std::size_t count) {
    auto* decoder = static_cast<Decoder*>(png_get_io_ptr(png));
    if (count > decoder->size - decoder->at) png_error(png, "the file ends too early");
    std::memcpy(out, decoder->bytes + decoder->at, count);
    decoder->at += count;
}

// False, with a message, where libpng gave up.
bool read_header(Decoder* decoder, png_uint_32 max_width, png_uint_32 max_height) {
    if (setjmp(decoder->jump)) return false;
    decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, on_error, on_warning);
    if (!decoder->png) return false;
    decoder->info = png_create_info_struct(decoder->png);
    if (!decoder->info) return false;
    png_set_read_fn(decoder->png, decoder, on_read);
    png_set_user_limits(decoder->png, max_width, max_height);
    png_set_chunk_cache_max(decoder->png, 100);
    png_set_chunk_malloc_max(decoder->png, 8000000);
    png_set_crc_action(decoder->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_benign_errors(decoder->png, 0);
    // Every chunk that the pixels do not need is skipped, after its CRC.
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(decoder->png, decoder->info);
    // libpng takes colours that a palette does not have for black, so it only unpacks their numbers.
    if (png_get_color_type(decoder->png, decoder->info) == PNG_COLOR_TYPE_PALETTE) {
        png_get_PLTE(decoder->png, decoder->info, &decoder->palette, &decoder->colours);
        png_get_tRNS(decoder->png, decoder->info, &decoder->alphas, &decoder->alpha_count, nullptr);
        png_set_packing(decoder->png);
        png_set_check_for_invalid_index(decoder->png, 0);
    } else {
        png_set_expand(decoder->png);
    }
    decoder->passes = png_set_interlace_handling(decoder->png);
    png_read_update_info(decoder->png, decoder->info);
    decoder->width = png_get_image_width(decoder->png, decoder->info);
    decoder->height = png_get_image_height(decoder->png, decoder->info);
    decoder->channels = png_get_channels(decoder->png, decoder->info);
    decoder->depth = png_get_bit_depth(decoder->png, decoder->info);
    return true;
}

bool read_rows(Decoder* decoder, png_bytep pixels, std::size_t row_bytes) {
    if (setjmp(decoder->jump)) return false;
    for (int pass = 0; pass < decoder->passes; ++pass) {
        for (png_uint_32 row = 0; row < decoder->height; ++row)
            png_read_row(decoder->png, pixels + row * row_bytes, nullptr);
    }
    png_read_end(decoder->png, nullptr);
    return true;
}

struct Destroy {
    Decoder& decoder;
    ~Destroy() { png_destroy_read_struct(&decoder.png, &decoder.info, nullptr); }
};

// The fields of IHDR that decide how much memory is needed, before libpng sees them.
void check_ihdr(Bytes bytes, const std::string& name, const ImageLimits& limits) {
    const auto place = [&](std::size_t at) { return name + ": offset " + std::to_string(at); };
    const auto number = [&](std::size_t at) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
        return value;
    };
    if (bytes.size() < 8 || std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) != 0)
        throw FileError(place(0) + ": signature: not a PNG file, which starts with 89 50 4E 47 0D 0A 1A 0A");
    if (bytes.size() < 33) throw FileError(place(8) + ": IHDR: the file ends too early");
    if (number(8) != 13 || std::memcmp(bytes.data() + 12, "IHDR", 4) != 0)
        throw FileError(place(8) + ": IHDR: the first chunk is not an IHDR of 13 bytes");
    const std::uint64_t width = number(16), height = number(20);
    detail::check_image_size(place(16), "width", width, std::min<std::int64_t>(limits.max_width, PNG_UINT_31_MAX));
    detail::check_image_size(place(20), "height", height, std::min<std::int64_t>(limits.max_height, PNG_UINT_31_MAX));
    const auto depth = std::to_integer<std::uint64_t>(bytes[24]), colour = std::to_integer<std::uint64_t>(bytes[25]);
    const std::uint64_t samples = colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
    const std::uint64_t row_bytes = (width * samples * depth + 7) / 8 + 1;  // a row starts with its filter
    if (row_bytes > detail::max_deflate_ratio * bytes.size() / height)
        throw FileError(place(16) + ": size: " + std::to_string(bytes.size()) + " bytes cannot hold an image of " +
                        std::to_string(width) + " x " + std::to_string(height) + " pixels");
}

// The colours whose numbers the pixels are.
template <Real T>
void look_up(const Decoder& decoder, const std::vector<png_byte>& pixels, const std::string& name, std::size_t channels,
             T* out) {
    for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) {
        const int number = pixels[pixel];
        if (number >= decoder.colours)
            throw FileError(name + ": pixel (" + std::to_string(pixel / decoder.width) + ", " +
                            std::to_string(pixel % decoder.width) + "): is colour " + std::to_string(number) +
                            ", but the palette has colours 0 to " + std::to_string(decoder.colours - 1));
        const png_color& colour = decoder.palette[number];
        const png_byte alpha = number < decoder.alpha_count ? decoder.alphas[number] : 255;
        const png_byte levels[] = {colour.red, colour.green, colour.blue, alpha};
        for (std::size_t channel = 0; channel < channels; ++channel)
            out[channel * pixels.size() + pixel] = static_cast<T>(levels[channel]) / T(255);
    }
}

template <Real T>
Tensor<T> png_tensor(Bytes bytes, const std::string& name, const ImageLimits& limits) {
    detail::MemoryBudget budget(name, limits.limits, bytes.size());
    check_ihdr(bytes, name, limits);
    Decoder decoder{};
    const Destroy destroy{decoder};
    decoder.bytes = reinterpret_cast<const png_byte*>(bytes.data());
    decoder.size = bytes.size();
    const auto fail = [&] {
        const char* message = decoder.message[0] ? decoder.message : "libpng cannot start";
        throw FileError(name + ": offset " + std::to_string(decoder.at) + ": " + message);
    };
    const auto limit = [](std::int64_t size) {
        return static_cast<png_uint_32>(std::min<std::int64_t>(size, PNG_UINT_31_MAX));
    };
    if (!read_header(&decoder, limit(limits.max_width), limit(limits.max_height))) fail();
    const std::size_t width = decoder.width, height = decoder.height;
    const auto channels = static_cast<std::size_t>(decoder.channels);
    const std::size_t sample = decoder.depth == 16 ? 2 : 1;
    const std::size_t shown = !decoder.palette ? channels : decoder.alpha_count > 0 ? 4 : 3;
    Tensor<T> image = detail::new_image<T>(budget, shown, height, width, sample);
    std::vector<png_byte> pixels;
    detail::resize(pixels, width * height * channels * sample, name);
    if (!read_rows(&decoder, pixels.data(), width * channels * sample)) fail();
    if (decoder.at != bytes.size())
        throw FileError(name + ": offset " + std::to_string(decoder.at) + ": " +
                        std::to_string(bytes.size() - decoder.at) + " bytes follow the end of the image");
    T* out = image.fresh_data();
    if (decoder.palette) {
        look_up(decoder, pixels, name, shown, out);
        return image;
    }
    for (std::size_t channel = 0; channel < channels; ++channel) {
        for (std::size_t pixel = 0; pixel < width * height; ++pixel) {
            const png_byte* in = pixels.data() + (pixel * channels + channel) * sample;
            *out++ = sample == 1 ? static_cast<T>(in[0]) / T(255) : static_cast<T>(in[0] << 8 | in[1]) / T(65535);
        }
    }
    return image;
}

template <Real T>
std::vector<std::byte> png_file(const Tensor<T>& image) {
    const std::vector<std::uint8_t> pixels = detail::pixel_bytes("write_png", image, 4);
    constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
    const auto fail = [](const std::string& what) { throw ValueError("write_png: " + what); };
    const Shape& shape = image.shape();
    if (shape[1] > PNG_UINT_31_MAX || shape[2] > PNG_UINT_31_MAX)
        fail("the image " + to_string(shape) + " is too large");
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(shape[2]);
    header.height = static_cast<png_uint_32>(shape[1]);
    header.format = formats[shape[0] - 1];
    png_alloc_size_t size = 0;
    if (!png_image_write_to_memory(&header, nullptr, &size, 0, pixels.data(), 0, nullptr)) fail(header.message);
    std::vector<std::byte> bytes;
    detail::resize(bytes, size, "write_png");
    if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, pixels.data(), 0, nullptr)) fail(header.message);
    bytes.resize(size);
    return bytes;
}

}  // namespace

template <Real T>
Tensor<T> parse_png(Bytes bytes, const std::string& name, const ImageLimits& limits) {
    return detail::with_errors_at(name, [&] { return png_tensor<T>(bytes, name, limits); });
}

template <Real T>
Tensor<T> read_png(const std::string& path, const ImageLimits& limits) {
    return parse_png<T>(read_bytes(path, limits.limits), path, limits);
}

template <Real T>
std::vector<std::byte> png_bytes(const Tensor<T>& image) {
    return detail::with_errors_at("write_png", [&] { return png_file(image); });
}

template <Real T>
void write_png(const std::string& path, const Tensor<T>& image) {
    write_file(path, png_bytes(image));
}

template Tensor<float> parse_png<float>(Bytes, const std::string&, const ImageLimits&);
template Tensor<double> parse_png<double>(Bytes, const std::string&, const ImageLimits&);
template Tensor<float> read_png<float>(const std::string&, const ImageLimits&);
template Tensor<double> read_png<double>(const std::string&, const ImageLimits&);
template std::vector<std::byte> png_bytes<float>(const Tensor<float>&);
template std::vector<std::byte> png_bytes<double>(const Tensor<double>&);
template void write_png<float>(const std::string&, const Tensor<float>&);
template void write_png<double>(const std::string&, const Tensor<double>&);

}  // namespace pollen
