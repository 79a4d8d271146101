#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/gzip.hpp>

#include <zlib.h>
#include <algorithm>
#include <limits>

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

// Expands at most `count` bytes into `out` and returns how many they were. With `again`, `out` is filled from its
// beginning again when it is full; what was in it is lost.
std::uint64_t inflate_members(Bytes bytes, const std::string& name, std::uint64_t count, std::vector<std::byte>& out,
                              bool again) {
    Inflate state;
    z_stream& z = state.stream;
    std::uint64_t total = 0;
    std::size_t used = 0, made = 0;
    for (bool within_member = true; total < count;) {
        if (!within_member) {
            if (used == bytes.size()) break;
            if (!is_gzip(bytes.subspan(used)))
                fail(name, used, std::to_string(bytes.size() - used) + " bytes follow the end of the compressed data");
            inflateReset(&z);
            within_member = true;
        }
        if (again && made == out.size()) made = 0;
        const std::size_t before = made;
        const int status = convert(z, bytes, used, out, made, [&](bool) { return inflate(&z, Z_NO_FLUSH); });
        total += made - before;
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
    return total;
}

// `what` ends the message where the contents are more than max_bytes.
std::vector<std::byte> gunzip_within(Bytes bytes, const std::string& name, std::uint64_t max_bytes,
                                     const std::string& what) {
    const std::uint64_t one_more = max_bytes + (max_bytes < std::numeric_limits<std::uint64_t>::max());
    // The last four bytes say how much the last member expands to, and it is nearly always the only one. If they are
    // wrong, the contents are expanded up to three times: until they are too long, to count them, and for good.
    std::uint64_t announced = 0;
    for (std::size_t i = 1; i <= 4 && i <= bytes.size(); ++i)
        announced = announced << 8 | std::to_integer<std::uint64_t>(bytes[bytes.size() - i]);
    std::vector<std::byte> out;
    if (announced <= max_bytes) {
        out = gunzip_prefix(bytes, name, announced + 1);
        if (out.size() <= announced) return out;
        out = {};
    }
    std::vector<std::byte> scratch;
    detail::resize(scratch, std::size_t{1} << 16, name);
    const std::uint64_t size = inflate_members(bytes, name, one_more, scratch, true);
    if (size > max_bytes) throw FileError(name + ": gzip: expands to " + what);
    return gunzip_prefix(bytes, name, size);
}

}  // namespace

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b}; }

std::vector<std::byte> gunzip_prefix(Bytes bytes, const std::string& name, std::uint64_t count) {
    // Deflate makes at most 1032 bytes of one. There is always room for more, where zlib says that the file ends.
    const std::uint64_t most = 1032 * std::uint64_t{bytes.size()} + 1024;
    std::vector<std::byte> out;
    detail::resize(out, static_cast<std::size_t>(std::min(count, most)), name);
    out.resize(inflate_members(bytes, name, count, out, false));
    return out;
}

std::vector<std::byte> gunzip(Bytes bytes, const std::string& name, std::uint64_t max_bytes) {
    return gunzip_within(bytes, name, max_bytes, "more than the limit of " + std::to_string(max_bytes) + " bytes");
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
        if (made == out.size()) detail::resize(out, std::max<std::size_t>(made * 2, 256), "gzip");
        status =
            convert(z, bytes, used, out, made, [&](bool last) { return deflate(&z, last ? Z_FINISH : Z_NO_FLUSH); });
    }
    out.resize(made);
    return out;
}

Bytes detail::expanded(Bytes bytes, const std::string& name, MemoryBudget& budget, std::vector<std::byte>& storage) {
    if (!is_gzip(bytes)) return bytes;
    storage = gunzip_within(bytes, name, budget.left(), budget.limit_text());
    budget.take("gzip", {storage.size()});
    return storage;
}

}  // namespace pollen
