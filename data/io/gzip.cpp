#include <pollen/data/io/gzip.hpp>

#include <zlib.h>
#include <algorithm>
#include <limits>
#include <new>

namespace pollen {

namespace {

constexpr int gzip_window = 15 + 16;                         // zlib's way to say: the largest window, and a gzip header
constexpr std::size_t largest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits

struct Inflate {
    z_stream stream{};
    Inflate() {
        if (inflateInit2(&stream, gzip_window) != Z_OK) throw MemoryError("gunzip: zlib has no memory for its state");
    }
    ~Inflate() { inflateEnd(&stream); }
};

struct Deflate {
    z_stream stream{};
    Deflate() {
        if (deflateInit2(&stream, 9, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
            throw MemoryError("gzip: zlib has no memory for its state");
    }
    ~Deflate() { deflateEnd(&stream); }
};

// zlib does not write through next_in, but its type does not say so.
Bytef* input(const std::byte* bytes) { return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes)); }
Bytef* output(std::byte* bytes) { return reinterpret_cast<Bytef*>(bytes); }

[[noreturn]] void fail(const std::string& name, std::size_t offset, const std::string& what) {
    throw FileError(name + ": offset " + std::to_string(offset) + ": gzip: " + what);
}

void resize(std::vector<std::byte>& bytes, std::size_t size, const std::string& name) {
    try {
        bytes.resize(size);
    } catch (const std::bad_alloc&) {
        throw FileError(name + ": gzip: there is no memory for " + std::to_string(size) + " expanded bytes");
    }
}

// Hands zlib the next piece of the input and the room behind what it has made, and calls step(last piece of the input).
// Counts what was used and made, and returns what step() returned.
template <class Step>
int convert(z_stream& z, Bytes bytes, std::size_t& used, std::vector<std::byte>& out, std::size_t& made,
            const Step& step) {
    const std::size_t in_piece = std::min(bytes.size() - used, largest_piece);
    const std::size_t out_piece = std::min(out.size() - made, largest_piece);
    z.next_in = input(bytes.data() + used);
    z.avail_in = static_cast<uInt>(in_piece);
    z.next_out = output(out.data() + made);
    z.avail_out = static_cast<uInt>(out_piece);
    const int status = step(used + in_piece == bytes.size());
    used += in_piece - z.avail_in;
    made += out_piece - z.avail_out;
    return status;
}

}  // namespace

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b}; }

std::vector<std::byte> gunzip_prefix(Bytes bytes, const std::string& name, std::uint64_t count) {
    Inflate state;
    z_stream& z = state.stream;
    const std::size_t limit =
        static_cast<std::size_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::ptrdiff_t>::max()));
    std::vector<std::byte> out;
    std::size_t used = 0, made = 0;
    for (bool within_member = true;;) {
        if (made == limit) break;
        if (!within_member) {
            if (used == bytes.size()) break;
            if (!is_gzip(bytes.subspan(used)))
                fail(name, used, std::to_string(bytes.size() - used) + " bytes follow the end of the compressed data");
            inflateReset(&z);
            within_member = true;
        }
        if (made == out.size()) {
            const std::size_t first = std::max<std::size_t>(4096, 4 * bytes.size());
            resize(out, std::min(limit, made ? 2 * made : first), name);
        }
        const int status = convert(z, bytes, used, out, made, [&](bool) { return inflate(&z, Z_NO_FLUSH); });
        if (status == Z_STREAM_END) {
            within_member = false;
        } else if (status == Z_MEM_ERROR) {
            throw MemoryError("gunzip: zlib has no memory for its window");
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            fail(name, used, z.msg ? z.msg : "not a gzip file");
        } else if (z.avail_out > 0 && used == bytes.size()) {
            fail(name, used, "the file ends before the compressed data does");
        }
    }
    resize(out, made, name);
    return out;
}

std::vector<std::byte> gunzip(Bytes bytes, const std::string& name, std::uint64_t max_bytes) {
    const std::uint64_t one_more = max_bytes + (max_bytes < std::numeric_limits<std::uint64_t>::max());
    std::vector<std::byte> out = gunzip_prefix(bytes, name, one_more);
    if (out.size() > max_bytes)
        throw FileError(name + ": gzip: expands to more than the limit of " + std::to_string(max_bytes) + " bytes");
    return out;
}

std::vector<std::byte> gzip(Bytes bytes) {
    Deflate state;
    z_stream& z = state.stream;
    gz_header header{};
    header.os = 3;  // Unix, whatever this is compiled on
    deflateSetHeader(&z, &header);
    std::vector<std::byte> out;
    std::size_t used = 0, made = 0;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (made == out.size()) out.resize(std::max<std::size_t>(made * 2, 256));
        status =
            convert(z, bytes, used, out, made, [&](bool last) { return deflate(&z, last ? Z_FINISH : Z_NO_FLUSH); });
    }
    out.resize(made);
    return out;
}

Bytes expanded(Bytes bytes, const std::string& name, std::uint64_t max_bytes, std::vector<std::byte>& storage) {
    if (!is_gzip(bytes)) return bytes;
    storage = gunzip(bytes, name, max_bytes);
    return storage;
}

}  // namespace pollen
