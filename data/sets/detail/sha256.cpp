#include <pollen/data/sets/detail/sha256.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace pollen::detail {

namespace {

constexpr std::size_t block_bytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// One block of the message, in the notation of FIPS 180-4.
void add_block(std::array<std::uint32_t, 8>& hash, const std::byte* block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t t = 0; t < 16; ++t) {
        w[t] = 0;
        for (std::size_t k = 0; k < 4; ++k) w[t] = w[t] << 8 | std::to_integer<std::uint32_t>(block[4 * t + k]);
    }
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[t - 7] +
               (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t t1 =
            h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
        const std::uint32_t t2 =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) hash[i] += added[i];
}

}  // namespace

std::string sha256(Bytes bytes) {
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    std::array<std::uint32_t, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const std::size_t whole = bytes.size() / block_bytes * block_bytes, rest = bytes.size() - whole;
    for (std::size_t at = 0; at < whole; at += block_bytes) add_block(hash, bytes.data() + at);

    // What is left, a bit 1, zeros, and the length in bits.
    std::array<std::byte, 2 * block_bytes> last{};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end(), last.begin());
    last[rest] = std::byte{0x80};
    const std::size_t end = rest + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
    const std::uint64_t bits = 8 * std::uint64_t{bytes.size()};
    for (std::size_t k = 0; k < 8; ++k) last[end - 1 - k] = static_cast<std::byte>(bits >> (8 * k));
    for (std::size_t at = 0; at < end; at += block_bytes) add_block(hash, last.data() + at);

    std::string text;
    for (const std::uint32_t word : hash)
        for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    return text;
}

}  // namespace pollen::detail
