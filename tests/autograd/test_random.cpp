#include <pollen/autograd/kernels/random_numbers.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/random.hpp>

#include <Random123/philox.h>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

// Which bits stand where: against Random123, alone and in bulk, on any number of threads, before and after saving.
// How the numbers are distributed is tested in test_random_laws.cpp, what is refused in test_random_errors.cpp.

namespace {

using namespace pollen;
using Words = std::array<std::uint32_t, 4>;

Words random123(const Words& counter, const std::array<std::uint32_t, 2>& key) {
    const r123::Philox4x32::ctr_type c{{counter[0], counter[1], counter[2], counter[3]}};
    const r123::Philox4x32::key_type k{{key[0], key[1]}};
    const auto out = r123::Philox4x32{}(c, k);
    return {out[0], out[1], out[2], out[3]};
}

// Block `position` of one kind of number, as the header documents the counter.
Words block(const RandomKey& key, RandomKind kind, std::uint64_t position) {
    const std::uint64_t step = key.step + (static_cast<std::uint64_t>(kind) << 56);
    return random123({static_cast<std::uint32_t>(position), key.stream, static_cast<std::uint32_t>(step),
                      static_cast<std::uint32_t>(step >> 32)},
                     {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
}

// Block of number k of a group with 16 columns and the given number of rows, and its row.
struct Place {
    std::uint64_t block, row;
    Place(std::uint64_t k, std::uint64_t rows) : block(k / (16 * rows) * 16 + k % 16), row(k / 16 % rows) {}
};

// One kind of number seen through all the ways to draw it.
struct Bits {
    using Value = std::uint32_t;
    static Value at(const RandomKey& key, std::uint64_t k) { return bits_at(key, k); }
    static void fill(const RandomKey& key, std::uint64_t first, std::span<Value> out) { fill_bits(key, first, out); }
    static Value next(Random& random) { return random.bits(); }
    static void fill_next(Random& random, std::span<Value> out) { random.fill_bits(out); }
};
template <class T>
struct Uniform {
    using Value = T;
    static T at(const RandomKey& key, std::uint64_t k) { return uniform_at<T>(key, k, T(-2), T(3)); }
    static void fill(const RandomKey& key, std::uint64_t first, std::span<T> out) {
        fill_uniform(key, first, out, -2, 3);
    }
    static T next(Random& random) { return random.uniform<T>(-2, 3); }
    static void fill_next(Random& random, std::span<T> out) { random.fill_uniform(out, -2, 3); }
};
template <class T>
struct Normal {
    using Value = T;
    static T at(const RandomKey& key, std::uint64_t k) { return normal_at<T>(key, k, T(1), T(0.3)); }
    static void fill(const RandomKey& key, std::uint64_t first, std::span<T> out) {
        fill_normal(key, first, out, T(1), T(0.3));
    }
    static T next(Random& random) { return random.normal<T>(T(1), T(0.3)); }
    static void fill_next(Random& random, std::span<T> out) { random.fill_normal(out, T(1), T(0.3)); }
};

template <class F>
void for_each_kind(const F& f) {
    f(Bits{});
    f(Uniform<float>{});
    f(Uniform<double>{});
    f(Normal<float>{});
    f(Normal<double>{});
}

const RandomKey odd_key{0x0123456789ABCDEFu, 77, 0x00FEDCBA98765432u};

}  // namespace

BOOST_AUTO_TEST_SUITE(random_numbers)

// The known answers that are published with Random123 for philox4x32-10.
BOOST_AUTO_TEST_CASE(known_answers) {
    BOOST_TEST((random123({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const RandomKey zero;
    BOOST_TEST(bits_at(zero, 0) == 0x6627e8d5u);
    BOOST_TEST(bits_at(zero, 16) == 0xe169c58du);
    BOOST_TEST(bits_at(zero, 32) == 0xbc57ac4cu);
    BOOST_TEST(bits_at(zero, 48) == 0x9b00dbd8u);

    const auto check = [](const Words& counter, std::uint64_t key, const Words& expected) {
        const kernels::Philox<> philox(key, counter[1], counter[2] | (std::uint64_t{counter[3]} << 32));
        using Lanes = kernels::Philox<>::Lanes;
        const auto words = philox(std::array<Lanes, 1>{Lanes(std::uint64_t{counter[0]})})[0];
        for (std::size_t j = 0; j < 4; ++j) {
            std::array<std::uint64_t, Lanes::size> lane;
            words[j].store_unaligned(lane.data());
            for (const std::uint64_t l : lane) BOOST_TEST(static_cast<std::uint32_t>(l) == expected[j]);
        }
    };
    check({0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check({~0u, ~0u, ~0u, ~0u}, ~std::uint64_t{0}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    check({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u,
          {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

BOOST_AUTO_TEST_CASE(bits_and_uniforms_are_those_of_random123) {
    const std::size_t n = 5000;
    for (const RandomKey& key : {RandomKey{}, RandomKey{1, 0, 0}, RandomKey{0, ~0u, 0}, odd_key}) {
        std::vector<std::uint32_t> bits(n);
        std::vector<float> floats(n);
        std::vector<double> doubles(n);
        for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{123456789}, (std::uint64_t{1} << 33) - n}) {
            fill_bits(key, first, bits);
            fill_uniform(key, first, floats);
            fill_uniform(key, first, doubles);
            for (std::size_t i = 0; i < n; ++i) {
                const Place word(first + i, 4), pair(first + i, 2);
                BOOST_REQUIRE_EQUAL(bits[i], block(key, RandomKind::bits, word.block)[word.row]);
                const std::uint32_t w = block(key, RandomKind::uniform_float, word.block)[word.row];
                BOOST_REQUIRE_EQUAL(floats[i], std::ldexp(static_cast<float>(w >> 8), -24));
                const Words b = block(key, RandomKind::uniform_double, pair.block);
                const std::uint64_t d = b[2 * pair.row] | (std::uint64_t{b[2 * pair.row + 1]} << 32);
                BOOST_REQUIRE_EQUAL(doubles[i], std::ldexp(static_cast<double>(d >> 11), -53));
            }
        }
    }
}

// Box and Muller in long double from the words of Random123.
BOOST_AUTO_TEST_CASE(normals_are_those_of_random123) {
    const auto normal = [](std::int64_t u, std::int64_t v, int bits, bool sine) {
        const long double radius = std::ldexp(static_cast<long double>(u | 1), -bits);
        const long double r = std::sqrt(-2 * (radius > 0 ? std::log(radius) : std::log1p(radius)));
        const long double phi = std::ldexp(static_cast<long double>(v), -bits) * std::acos(-1.0L) / 2;
        return ((v & 2) != 0 ? -r : r) * (sine != ((v & 1) != 0) ? std::sin(phi) : std::cos(phi));
    };
    const auto ulps = []<class T>(T got, long double exact) {
        const int place = std::ilogb(static_cast<T>(exact)) - std::numeric_limits<T>::digits + 1;
        return static_cast<double>(std::abs(got - exact) / std::ldexp(1.0L, place));
    };
    const std::size_t n = 200000;
    std::vector<float> floats(n);
    std::vector<double> doubles(n);
    fill_normal(odd_key, 0, floats);
    fill_normal(odd_key, 0, doubles);
    double worst_float = 0, worst_double = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Place word(i, 4), pair(i, 2);
        const Words f = block(odd_key, RandomKind::normal_float, word.block);
        const std::size_t r = word.row / 2 * 2;
        const auto u = static_cast<std::int32_t>(f[r]), v = static_cast<std::int32_t>(f[r + 1]);
        worst_float = std::max(worst_float, ulps(floats[i], normal(u, v, 32, word.row % 2 == 1)));
        const Words d = block(odd_key, RandomKind::normal_double, pair.block);
        const auto x = std::bit_cast<std::int64_t>(d[0] | (std::uint64_t{d[1]} << 32));
        const auto y = std::bit_cast<std::int64_t>(d[2] | (std::uint64_t{d[3]} << 32));
        worst_double = std::max(worst_double, ulps(doubles[i], normal(x, y, 64, pair.row == 1)));
    }
    BOOST_TEST(worst_float <= 4.0);
    BOOST_TEST(worst_double <= 4.0);
}

BOOST_AUTO_TEST_CASE(the_same_bits_alone_in_part_and_in_bulk) {
    for_each_kind([](auto kind) {
        using Kind = decltype(kind);
        using Value = typename Kind::Value;
        std::vector<Value> all(500);
        Kind::fill(odd_key, 0, all);
        for (std::size_t k = 0; k < all.size(); ++k) BOOST_REQUIRE_EQUAL(Kind::at(odd_key, k), all[k]);
        for (std::size_t first = 0; first <= 200; ++first)
            for (const std::size_t count : {0, 1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 130, 300}) {
                std::vector<Value> part(count + 2, Value(-1));
                Kind::fill(odd_key, first, std::span(part).subspan(1, count));
                BOOST_REQUIRE(
                    std::equal(part.begin() + 1, part.end() - 1, all.begin() + static_cast<std::ptrdiff_t>(first)));
                BOOST_REQUIRE(part.front() == Value(-1) && part.back() == Value(-1));
            }
    });
}

BOOST_AUTO_TEST_CASE(the_same_bits_on_any_number_of_threads) {
    for_each_kind([](auto kind) {
        using Kind = decltype(kind);
        std::vector<typename Kind::Value> one(300001), many(one.size());
        with_threads(1, [&] { Kind::fill(odd_key, 37, one); });
        for (const int threads : {2, 4, 8}) {
            std::fill(many.begin(), many.end(), typename Kind::Value(0));
            with_threads(threads, [&] { Kind::fill(odd_key, 37, many); });
            BOOST_TEST((one == many), threads << " threads");
        }
    });
}

// The bits of a Law's first numbers, folded into one (FNV-1a).
template <class Law, class A>
static std::uint64_t fingerprint() {
    using Draws = kernels::Draws<Law, A>;
    const Draws draws(odd_key);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::uint32_t g = 0; g < 200; ++g) {
        std::array<typename Law::Value, Draws::size> numbers;
        draws.group(g, [&](std::size_t i, const auto& batch) { batch.store_unaligned(&numbers[i]); });
        for (const unsigned char byte : std::bit_cast<std::array<unsigned char, sizeof(numbers)>>(numbers))
            hash = (hash ^ byte) * 0x100000001b3u;
    }
    return hash;
}

// Fixed numbers: the same on every machine, in every version of pollen, with any width of SIMD.
BOOST_AUTO_TEST_CASE(the_same_bits_everywhere) {
    using Arch = xsimd::default_arch;
    using namespace kernels;
    BOOST_TEST((fingerprint<BitsDraw, Arch>()) == 0x5d4b685dfe3516beu);
    BOOST_TEST((fingerprint<UniformDraw<float>, Arch>()) == 0x233dd53590a21f5du);
    BOOST_TEST((fingerprint<UniformDraw<double>, Arch>()) == 0xffa1be822847cd23u);
#if defined(__SSE4_2__)
    BOOST_TEST((fingerprint<BitsDraw, xsimd::sse4_2>()) == 0x5d4b685dfe3516beu);
    BOOST_TEST((fingerprint<UniformDraw<float>, xsimd::sse4_2>()) == 0x233dd53590a21f5du);
    BOOST_TEST((fingerprint<UniformDraw<double>, xsimd::sse4_2>()) == 0xffa1be822847cd23u);
#endif
#if defined(__FMA__)
    BOOST_TEST((fingerprint<NormalDraw<float>, Arch>()) == 0x311799477e5932acu);
    BOOST_TEST((fingerprint<NormalDraw<double>, Arch>()) == 0x4d3d43012926fe47u);
#endif
#if defined(__AVX2__) && defined(__FMA__)
    BOOST_TEST((fingerprint<NormalDraw<float>, xsimd::fma3<xsimd::avx2>>()) == 0x311799477e5932acu);
    BOOST_TEST((fingerprint<NormalDraw<double>, xsimd::fma3<xsimd::avx2>>()) == 0x4d3d43012926fe47u);
#endif
}

BOOST_AUTO_TEST_CASE(a_sequence_walks_through_the_addresses_of_each_kind) {
    Random random(odd_key.seed, odd_key.stream, odd_key.step);
    BOOST_TEST((random.key() == odd_key));
    std::uint64_t k = 0;
    for (const std::size_t count : {1, 3, 64, 1, 100, 0, 5}) {
        for_each_kind([&](auto kind) {
            using Kind = decltype(kind);
            std::vector<typename Kind::Value> expected(count + 1), got(count);
            Kind::fill(odd_key, k, expected);
            BOOST_TEST(Kind::next(random) == expected[0]);
            Kind::fill_next(random, got);
            BOOST_TEST((std::equal(got.begin(), got.end(), expected.begin() + 1)));
        });
        k += count + 1;
    }
    for (const std::uint64_t drawn : random.state().drawn) BOOST_TEST(drawn == k);
}

BOOST_AUTO_TEST_CASE(every_part_of_the_address_matters) {
    const RandomKey key{5, 6, 7};
    for (const RandomKey& other :
         {RandomKey{6, 6, 7}, RandomKey{5, 7, 7}, RandomKey{5, 6, 8}, RandomKey{5 + (std::uint64_t{1} << 32), 6, 7},
          RandomKey{5, 6, 7 + (std::uint64_t{1} << 32)}})
        for_each_kind([&](auto kind) {
            using Kind = decltype(kind);
            std::vector<typename Kind::Value> a(1000), b(1000);
            Kind::fill(key, 0, a);
            Kind::fill(other, 0, b);
            std::size_t same = 0;
            for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
            BOOST_TEST(same <= 2u);  // two floats of 24 bits agree once in 16 million
        });
    const Random random(5);
    BOOST_TEST((random.at(6, 7).key() == key));
    BOOST_TEST((random.at(6).key() == RandomKey{5, 6, 0}));
}

BOOST_AUTO_TEST_CASE(saved_in_mid_stream_and_restored) {
    Random random(42, 3, 9);
    std::vector<float> skipped(1001);
    random.fill_normal(skipped);
    random.permutation(10);
    random.uniform();
    const std::string line = random.save();
    BOOST_TEST(line ==
               "philox4x32-10 seed=42 stream=3 step=9 bits=9 uniform_float=0 uniform_double=1 normal_float=1001 "
               "normal_double=0");
    Random from_text = Random::restore(line), from_state(random.state());
    BOOST_TEST((from_text == random && from_state == random));
    for_each_kind([&](auto kind) {
        using Kind = decltype(kind);
        for (int i = 0; i < 100; ++i) {
            const auto expected = Kind::next(random);
            BOOST_REQUIRE_EQUAL(Kind::next(from_text), expected);
            BOOST_REQUIRE_EQUAL(Kind::next(from_state), expected);
        }
    });
    BOOST_TEST(from_text.save() == random.save());
}

BOOST_AUTO_TEST_CASE(a_shuffle_is_a_permutation_made_of_draws_below) {
    for (const std::int64_t n : {0, 1, 2, 3, 10, 256, 257, 258, 3000}) {
        Random one(11), other(11);
        const std::vector<std::int64_t> order = one.permutation(n);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
        std::iota(expected.begin(), expected.end(), std::int64_t{0});
        for (std::size_t left = expected.size(); left > 1; --left)
            std::swap(expected[left - 1], expected[other.below(left)]);
        BOOST_TEST((order == expected));
        BOOST_TEST((one == other));
        std::sort(expected.begin(), expected.end());
        for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(expected[i] == static_cast<std::int64_t>(i));
    }
}

BOOST_AUTO_TEST_CASE(uniforms_stay_below_the_open_end) {
    // 1 - 2^-24 times 2^-23 is half a place of 1: rounding to nearest would reach 1 + 2^-23.
    const float low = 1, high = std::nextafter(1.0f, 2.0f);
    std::vector<float> out(1000);
    fill_uniform(odd_key, 0, out, low, high);
    for (const float x : out) BOOST_REQUIRE_EQUAL(x, low);
}

BOOST_AUTO_TEST_SUITE_END()
