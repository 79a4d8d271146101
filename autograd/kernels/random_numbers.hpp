#pragma once

#include <pollen/autograd/kernels/box_muller.hpp>
#include <pollen/autograd/kernels/philox.hpp>
#include <pollen/autograd/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

// From blocks of random words to numbers, in batches: for kernels that use random numbers without storing them.
//
// Number k of a kind stands in group k / size. A group takes 16 blocks of four words; written as a table with a block
// in each column, the numbers run along the rows:
//
//              block 0   block 1  ...  block 15
//     word 0       0         1             15
//     word 1      16        17             31          A double takes two words: numbers 0 to 15 of a group use words
//     word 2      32        33             47          0 and 1, numbers 16 to 31 words 2 and 3.
//     word 3      48        49             63
//
// So a batch of neighbouring blocks is a batch of neighbouring numbers, whatever its width. Normals come in pairs, one
// below the other, in rows 0 and 1 or rows 2 and 3.
//
//     const Draws<NormalDraw<float>> noise(key);
//     noise.group(g, [&](std::size_t i, const auto& z) { ... });       // z = numbers noise.size * g + i and following
namespace pollen::kernels {

inline constexpr std::size_t blocks_per_group = 16;

// n batches side by side for each row of a group.
template <class T, class A, std::size_t rows, std::size_t n>
using Strip = std::array<std::array<xsimd::batch<T, A>, n>, rows>;

// Batch i holds the positions first[i], first[i] + step, first[i] + 2 step, ...
template <class A, std::size_t n>
inline std::array<xsimd::batch<std::uint64_t, A>, n> positions(const std::array<std::size_t, n>& first,
                                                               std::size_t step) {
    using Batch = xsimd::batch<std::uint64_t, A>;
    alignas(64) std::array<std::uint64_t, Batch::size> lane;
    for (std::size_t i = 0; i < Batch::size; ++i) lane[i] = i * step;
    std::array<Batch, n> result;
    for (std::size_t i = 0; i < n; ++i) result[i] = Batch::load_aligned(lane.data()) + Batch(std::uint64_t{first[i]});
    return result;
}

struct OddLanes {
    static constexpr bool get(std::size_t lane, std::size_t) { return lane % 2 == 1; }
};

// A law says how the blocks from position `first` on become rows of numbers.
struct BitsDraw {
    using Value = std::uint32_t;
    static constexpr RandomKind kind = RandomKind::bits;
    static constexpr std::size_t rows = 4;

    // Philox has a block in each 64-bit lane: a batch of even blocks and one of odd blocks are laid into each other.
    template <std::size_t n, class A>
    static Strip<Value, A, rows, n> strip(const Philox<A>& philox, std::size_t first) {
        using Batch = xsimd::batch<Value, A>;
        std::array<std::size_t, 2 * n> begin;
        for (std::size_t i = 0; i < 2 * n; ++i) begin[i] = first + i / 2 * Batch::size + i % 2;
        const auto words = philox(positions<A>(begin, 2));
        Strip<Value, A, rows, n> out;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < n; ++i) {
                const Batch even = xsimd::bitwise_cast<Batch>(words[2 * i][r]);
                const Batch odd = xsimd::bitwise_cast<Batch>(words[2 * i + 1][r] << 32);
                out[r][i] = xsimd::select(xsimd::make_batch_bool_constant<Batch, OddLanes>(), odd, even);
            }
        return out;
    }
};

template <class T>
struct UniformDraw;
template <class T>
struct NormalDraw;

template <>
struct UniformDraw<float> {
    using Value = float;
    static constexpr RandomKind kind = RandomKind::uniform_float;
    static constexpr std::size_t rows = 4;

    // (word >> 8) 2^-24
    template <std::size_t n, class A>
    static Strip<Value, A, rows, n> strip(const Philox<A>& philox, std::size_t first) {
        using Ints = xsimd::batch<std::int32_t, A>;
        const auto words = BitsDraw::strip<n>(philox, first);
        const xsimd::batch<float, A> unit(0x1p-24f);
        Strip<Value, A, rows, n> out;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < n; ++i)
                out[r][i] = xsimd::to_float(xsimd::bitwise_cast<Ints>(words[r][i] >> 8)) * unit;
        return out;
    }
};

template <>
struct NormalDraw<float> {
    using Value = float;
    static constexpr RandomKind kind = RandomKind::normal_float;
    static constexpr std::size_t rows = 4;

    // A word read as a signed integer, times 2^-32; the last two bits of the angle's word choose the quarter.
    template <std::size_t n, class A>
    static Strip<Value, A, rows, n> strip(const Philox<A>& philox, std::size_t first) {
        using Batch = xsimd::batch<float, A>;
        using Ints = xsimd::batch<std::int32_t, A>;
        const auto words = BitsDraw::strip<n>(philox, first);
        const Batch unit(0x1p-32f);
        std::array<Batch, 2 * n> radius, angle;
        std::array<Ints, 2 * n> quarter;
        for (std::size_t i = 0; i < 2 * n; ++i) {
            const std::size_t r = i / n * 2;
            quarter[i] = xsimd::bitwise_cast<Ints>(words[r + 1][i % n]);
            radius[i] = xsimd::to_float(xsimd::bitwise_cast<Ints>(words[r][i % n]) | Ints(1)) * unit;
            angle[i] = xsimd::to_float(quarter[i]) * unit;
        }
        box_muller<float, A>(radius, angle, quarter);
        Strip<Value, A, rows, n> out;
        for (std::size_t i = 0; i < 2 * n; ++i) {
            const std::size_t r = i / n * 2;
            out[r][i % n] = radius[i];
            out[r + 1][i % n] = angle[i];
        }
        return out;
    }
};

template <std::size_t n, class A>
inline std::array<typename Philox<A>::Words, n> blocks_in_order(const Philox<A>& philox, std::size_t first) {
    std::array<std::size_t, n> begin;
    for (std::size_t i = 0; i < n; ++i) begin[i] = first + i * Philox<A>::Lanes::size;
    return philox(positions<A>(begin, 1));
}

// Before AVX-512 no instruction makes a double of a 64-bit integer. Instead a number below 2^52 is written into the
// last places of a power of two, here 2^e, and stands for its 2^(e - 52)-fold once the power is subtracted again.
template <int e, class A>
inline xsimd::batch<double, A> in_last_places(const xsimd::batch<std::uint64_t, A>& number) {
    const xsimd::batch<std::uint64_t, A> power(std::uint64_t{1023 + e} << 52);
    return xsimd::bitwise_cast<xsimd::batch<double, A>>(number | power);
}

template <>
struct UniformDraw<double> {
    using Value = double;
    static constexpr RandomKind kind = RandomKind::uniform_double;
    static constexpr std::size_t rows = 2;

    // high 2^-32 + (low >> 11) 2^-53
    template <std::size_t n, class A>
    static Strip<Value, A, rows, n> strip(const Philox<A>& philox, std::size_t first) {
        using Lanes = typename Philox<A>::Lanes;
        const auto words = blocks_in_order<n>(philox, first);
        const xsimd::batch<double, A> powers(0x1p20 + 0x1p-1);
        Strip<Value, A, rows, n> out;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < n; ++i) {
                const Lanes low = (words[i][2 * r] << 32) >> 43, high = words[i][2 * r + 1] & Lanes(0xFFFFFFFFu);
                out[r][i] = (in_last_places<20>(high) - powers) + in_last_places<-1>(low);
            }
        return out;
    }
};

template <>
struct NormalDraw<double> {
    using Value = double;
    static constexpr RandomKind kind = RandomKind::normal_double;
    static constexpr std::size_t rows = 2;

    // Two words read as a signed integer, times 2^-64 and rounded once. Flipping the sign bit adds 1/2.
    template <class Lanes>
    static auto signed_fraction(const Lanes& low, const Lanes& high) {
        const Lanes word(0xFFFFFFFFu), sign(0x80000000u);
        const auto h = in_last_places<20>(Lanes((high & word) ^ sign)), l = in_last_places<-12>(Lanes(low & word));
        using Batch = std::decay_t<decltype(h)>;
        return (h - Batch(0x1p20 + 0.5)) + (l - Batch(0x1p-12));
    }

    template <std::size_t n, class A>
    static Strip<Value, A, rows, n> strip(const Philox<A>& philox, std::size_t first) {
        using Lanes = typename Philox<A>::Lanes;
        const auto words = blocks_in_order<n>(philox, first);
        Strip<Value, A, rows, n> out;
        std::array<xsimd::batch<std::int64_t, A>, n> quarter;
        for (std::size_t i = 0; i < n; ++i) {
            out[0][i] = signed_fraction(Lanes(words[i][0] | Lanes(1u)), words[i][1]);
            out[1][i] = signed_fraction(words[i][2], words[i][3]);
            quarter[i] = xsimd::bitwise_cast<xsimd::batch<std::int64_t, A>>(words[i][2]);
        }
        box_muller<double, A>(out[0], out[1], quarter);
        return out;
    }
};

// All numbers of one kind that a key has.
template <class Law, class A = xsimd::default_arch>
class Draws {
  public:
    using Value = typename Law::Value;
    using Batch = xsimd::batch<Value, A>;
    static constexpr std::size_t lanes = Batch::size;
    static constexpr std::size_t size = Law::rows * blocks_per_group;  // numbers in a group
    static_assert(blocks_per_group % lanes == 0);

    explicit Draws(const RandomKey& key)
        : philox_(key.seed, key.stream, key.step | (std::uint64_t{static_cast<std::uint8_t>(Law::kind)} << 56)) {}

    // Calls use(i, batch) until all of group g was used: batch holds its numbers i, i + 1, ..., i + lanes - 1.
    template <class Use>
    void group(std::uint32_t g, Use&& use) const {
        for (std::size_t c = 0; c < blocks_per_group; c += side_by_side * lanes) strip<side_by_side>(g, c, use);
    }

    // The same for n batches of each row, from the given column on (a multiple of lanes).
    template <std::size_t n, class Use>
    void strip(std::uint32_t g, std::size_t column, Use&& use) const {
        const auto rows = Law::template strip<n>(philox_, std::size_t{g} * blocks_per_group + column);
        for (std::size_t r = 0; r < Law::rows; ++r)
            for (std::size_t i = 0; i < n; ++i) use(r * blocks_per_group + column + i * lanes, rows[r][i]);
    }

  private:
    // Four batches of blocks at a time keep the multipliers busy and fit the registers.
    static constexpr std::size_t side_by_side = std::min(blocks_per_group / lanes, 4 * sizeof(Value) / 8);

    Philox<A> philox_;
};

}  // namespace pollen::kernels
