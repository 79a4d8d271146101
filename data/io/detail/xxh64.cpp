#include <pollen/data/io/detail/xxh64.hpp>

#include <bit>
#include <cstring>

namespace pollen::detail {

namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they are in memory");

constexpr std::uint64_t prime1 = 0x9e3779b185ebca87, prime2 = 0xc2b2ae3d27d4eb4f, prime3 = 0x165667b19e3779f9,
                        prime4 = 0x85ebca77c2b2ae63, prime5 = 0x27d4eb2f165667c5;

template <class Word>
Word take(Bytes& bytes) {
    Word word;
    std::memcpy(&word, bytes.data(), sizeof word);
    bytes = bytes.subspan(sizeof word);
    return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }

}  // namespace

// Written after the specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
std::uint64_t xxh64(Bytes bytes) {
    const std::uint64_t size = bytes.size();
    std::uint64_t hash = prime5;
    if (size >= 32) {
        std::uint64_t a = prime1 + prime2, b = prime2, c = 0, d = 0 - prime1;
        while (bytes.size() >= 32) {
            a = round(a, take<std::uint64_t>(bytes));
            b = round(b, take<std::uint64_t>(bytes));
            c = round(c, take<std::uint64_t>(bytes));
            d = round(d, take<std::uint64_t>(bytes));
        }
        hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
        for (const std::uint64_t lane : {a, b, c, d}) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    }
    hash += size;
    while (bytes.size() >= 8) hash = std::rotl(hash ^ round(0, take<std::uint64_t>(bytes)), 27) * prime1 + prime4;
    if (bytes.size() >= 4) hash = std::rotl(hash ^ take<std::uint32_t>(bytes) * prime1, 23) * prime2 + prime3;
    while (!bytes.empty()) hash = std::rotl(hash ^ take<std::uint8_t>(bytes) * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}

}  // namespace pollen::detail
