#pragma once

#include <pollen/autograd/kernels/simd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

// Philox 4x32-10 on SIMD lanes.
//
// A block is a counter (c0, c1, c2, c3) of 32-bit words, scrambled under the key (k0, k1) in ten rounds:
//
//     c0, c1, c2, c3  <-  hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0)
//     k0, k1          <-  k0 + W0,  k1 + W1
//
// A word lives in the lower half of a 64-bit lane. There the multiplier takes its factors from and leaves the low half
// of the product; what stands in the upper half does not matter.
namespace pollen::kernels {

// The 64-bit products of a factor with the lower halves of the lanes.
template <class A>
inline xsimd::batch<std::uint64_t, A> multiply_words(const xsimd::batch<std::uint64_t, A>& x, std::uint32_t factor) {
    using Batch = xsimd::batch<std::uint64_t, A>;
    [[maybe_unused]] const Batch m(std::uint64_t{factor});
#if defined(__AVX512F__)
    if constexpr (sizeof(Batch) == 64) return Batch(_mm512_mul_epu32(x, m));
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(Batch) == 32) return Batch(_mm256_mul_epu32(x, m));
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(Batch) == 16) return Batch(_mm_mul_epu32(x, m));
#endif
    alignas(64) std::array<std::uint64_t, Batch::size> lane;
    x.store_aligned(lane.data());
    for (auto& l : lane) l = std::uint64_t{static_cast<std::uint32_t>(l)} * factor;
    return Batch::load_aligned(lane.data());
}

// The blocks with counters (position, stream, low half of step, high half of step), for all positions.
template <class A = xsimd::default_arch>
class Philox {
  public:
    using Lanes = xsimd::batch<std::uint64_t, A>;
    using Words = std::array<Lanes, 4>;

    // Only c0 varies between the blocks. So M1 c2 is one number for all of them in the first round, and M0 c0 in the
    // second; both are worked into the keys.
    Philox(std::uint64_t seed, std::uint32_t stream, std::uint64_t step) {
        auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
        const std::uint64_t first = std::uint64_t{m1} * static_cast<std::uint32_t>(step);
        const std::uint64_t second = std::uint64_t{m0} * static_cast<std::uint32_t>((first >> 32) ^ stream ^ k0);
        for (std::size_t r = 0; r < rounds; ++r, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
            k0_[r] = Lanes(std::uint64_t{k0});
            k1_[r] = Lanes(std::uint64_t{k1});
        }
        k0_[rounds] = k1_[rounds] = Lanes(std::uint64_t{0});
        k1_[0] = k1_[0] ^ Lanes(step >> 32);
        k0_[1] = k0_[1] ^ Lanes(first);
        k1_[1] = k1_[1] ^ Lanes(second >> 32);
        k1_[2] = k1_[2] ^ Lanes(second);
    }

    // The four words of the block at each position. Each operation waits for the one before it, so n batches go through
    // the rounds side by side.
    template <std::size_t n>
    std::array<Words, n> operator()(const std::array<Lanes, n>& position) const {
        std::array<Words, n> c;
        // After each round c1 and c3 are combined with the next round's key at once, off the path that others wait for.
        for (std::size_t i = 0; i < n; ++i) {
            const Lanes p0 = multiply_words(position[i], m0), p1 = multiply_words(Lanes((p0 >> 32) ^ k1_[0]), m1);
            c[i] = {(p1 >> 32) ^ k0_[1], p1 ^ k0_[2], p0 ^ k1_[1], k1_[2]};
        }
#pragma GCC unroll 1  // unrolled, the compiler would reorder the operations and undo that
        for (std::size_t r = 2; r < rounds; ++r) {
            for (std::size_t i = 0; i < n; ++i) {
                const Lanes p0 = multiply_words(c[i][0], m0), p1 = multiply_words(c[i][2], m1);
                c[i] = {(p1 >> 32) ^ c[i][1], p1 ^ k0_[r + 1], (p0 >> 32) ^ c[i][3], p0 ^ k1_[r + 1]};
            }
        }
        return c;
    }

  private:
    static constexpr std::size_t rounds = 10;
    static constexpr std::uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;

    std::array<Lanes, rounds + 1> k0_, k1_;
};

}  // namespace pollen::kernels
