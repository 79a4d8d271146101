// Every primitive that kernels are made of, on SIMD registers, has the bits of its scalar definition.
#include "support.hpp"

#include <pollen/autograd/kernels/simd.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

BOOST_AUTO_TEST_SUITE(simd)

namespace {

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
std::vector<T> special_values() {
    using L = std::numeric_limits<T>;
    std::vector<T> values{L::quiet_NaN(),
                          L::infinity(),
                          0,
                          L::denorm_min(),
                          L::min() - L::denorm_min(),
                          L::min(),
                          T(0.25),
                          T(0.5) - L::epsilon() / 4,
                          T(0.5),
                          1,
                          1 + L::epsilon(),
                          T(1.5),
                          2,
                          T(2.5),
                          3,
                          T(1e6) + T(0.5),
                          1 / L::epsilon() - T(0.5),
                          1 / L::epsilon(),
                          2 / L::epsilon() + 1,
                          L::max() / 2,
                          L::max()};
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
    return values;
}

// Numbers by turns from all of the type (any bits), and from one power of two, where roundings differ most often.
template <class T>
T random_value(std::uint64_t i) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    if (z % 4 == 0) return std::bit_cast<T>(static_cast<Word<T>>(z >> (64 - 8 * sizeof(T))));
    return static_cast<T>(z >> 11) * T(0x1p-53) + 1;
}

// All tuples of N special values, then random ones.
template <class T, std::size_t N>
std::vector<std::array<T, N>> arguments() {
    const auto special = special_values<T>();
    std::size_t tuples = 1;
    for (std::size_t k = 0; k < N; ++k) tuples *= special.size();
    std::vector<std::array<T, N>> all;
    for (std::size_t i = 0; i < tuples + 50000; ++i) {
        std::array<T, N> tuple;
        std::size_t rest = i;
        for (T& x : tuple) {
            x = i < tuples ? special[rest % special.size()] : random_value<T>(rest + i);
            rest = i < tuples ? rest / special.size() : rest + 1000003;
        }
        all.push_back(tuple);
    }
    return all;
}

// All NaNs are one: their sign and payload differ between CPUs.
template <class T>
Word<T> canonical_bits(T x) {
    return std::bit_cast<Word<T>>(std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x);
}

// For how many arguments the two functions differ. batch_function takes batches; scalar_function takes numbers.
template <class T, std::size_t N, class F, class G>
int differences(const F& batch_function, const G& scalar_function) {
    using Batch = xsimd::batch<T>;
    const auto all = arguments<T, N>();
    int count = 0;
    for (std::size_t start = 0; start + Batch::size <= all.size(); start += Batch::size) {
        std::array<Batch, N> x;
        for (std::size_t k = 0; k < N; ++k) {
            std::array<T, Batch::size> lanes;
            for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = all[start + i][k];
            x[k] = Batch::load_unaligned(lanes.data());
        }
        std::array<T, Batch::size> got;
        Batch(std::apply(batch_function, x)).store_unaligned(got.data());
        for (std::size_t i = 0; i < got.size(); ++i)
            count += canonical_bits<T>(got[i]) != canonical_bits<T>(std::apply(scalar_function, all[start + i]));
    }
    return count;
}

// A comparison as a number.
template <class T>
auto number(const xsimd::batch_bool<T>& condition) {
    return xsimd::select(condition, xsimd::batch<T>(T(1)), xsimd::batch<T>(T(0)));
}

using Types = std::tuple<float, double>;

}  // namespace

#define CHECK_1(BATCH, SCALAR) \
    BOOST_TEST((differences<T, 1>([](auto x) { return BATCH; }, [](T x) -> T { return SCALAR; })) == 0)
#define CHECK_2(BATCH, SCALAR) \
    BOOST_TEST((differences<T, 2>([](auto x, auto y) { return BATCH; }, [](T x, T y) -> T { return SCALAR; })) == 0)
#define CHECK_3(BATCH, SCALAR)                                                  \
    BOOST_TEST((differences<T, 3>([](auto x, auto y, auto z) { return BATCH; }, \
                                  [](T x, T y, T z) -> T { return SCALAR; })) == 0)

BOOST_AUTO_TEST_CASE_TEMPLATE(arithmetic_is_rounded_once, T, Types) {
    CHECK_2(x + y, x + y);
    CHECK_2(x - y, x - y);
    CHECK_2(x * y, x * y);
    CHECK_2(x / y, x / y);
    CHECK_1(xsimd::sqrt(x), std::sqrt(x));
    CHECK_3(xsimd::fma(x, y, z), std::fma(x, y, z));
    CHECK_3(xsimd::fms(x, y, z), std::fma(x, y, -z));
    CHECK_3(xsimd::fnma(x, y, z), std::fma(-x, y, z));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(signs_and_whole_numbers, T, Types) {
    CHECK_1(-x, -x);
    CHECK_1(xsimd::abs(x), std::abs(x));
    CHECK_1(xsimd::floor(x), std::floor(x));
    CHECK_1(xsimd::ceil(x), std::ceil(x));
    CHECK_1(xsimd::trunc(x), std::trunc(x));
    CHECK_1(xsimd::nearbyint(x), std::nearbyint(x));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(extrema_are_a_comparison_and_a_selection, T, Types) {
    CHECK_2(xsimd::max(x, y), x > y ? x : y);
    CHECK_2(xsimd::min(x, y), x < y ? x : y);
    CHECK_3(xsimd::select(x < y, y, z), x < y ? y : z);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(comparisons, T, Types) {
    CHECK_2(number(x == y), x == y);
    CHECK_2(number(x != y), x != y);
    CHECK_2(number(x < y), x < y);
    CHECK_2(number(x <= y), x <= y);
    CHECK_2(number(x > y), x > y);
    CHECK_2(number(x >= y), x >= y);
    CHECK_2(number(!(x < y)), !(x < y));
    CHECK_2(number(x < y || x == y), x <= y);
    CHECK_2(number(x <= y && x >= y), x == y);
    CHECK_1(number(xsimd::isnan(x)), std::isnan(x));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(bits_and_conversions, T, Types) {
    using Words = xsimd::batch<Word<T>>;
    using Ints = xsimd::batch<Int<T>>;
    using Batch = xsimd::batch<T>;
    CHECK_2(x & y, std::bit_cast<T>(std::bit_cast<Word<T>>(x) & std::bit_cast<Word<T>>(y)));
    CHECK_2(x | y, std::bit_cast<T>(std::bit_cast<Word<T>>(x) | std::bit_cast<Word<T>>(y)));
    CHECK_2(x ^ y, std::bit_cast<T>(std::bit_cast<Word<T>>(x) ^ std::bit_cast<Word<T>>(y)));
    CHECK_1(xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Words>(x) >> 9),
            std::bit_cast<T>(std::bit_cast<Word<T>>(x) >> 9));
    CHECK_1(xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Words>(x) << 9),
            std::bit_cast<T>(std::bit_cast<Word<T>>(x) << 9));
    CHECK_1(xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Words>(x) + Words(Word<T>{77})),
            std::bit_cast<T>(std::bit_cast<Word<T>>(x) + 77));
    CHECK_1(xsimd::to_float(xsimd::bitwise_cast<Ints>(x)), static_cast<T>(std::bit_cast<Int<T>>(x)));
    CHECK_1(number(xsimd::bool_cast(xsimd::bitwise_cast<Ints>(x) < Ints(0))), std::bit_cast<Int<T>>(x) < 0);
}

// What other instruction sets have in place of these, or had before.
BOOST_AUTO_TEST_CASE_TEMPLATE(wrong_versions_are_found, T, Types) {
    using Batch = xsimd::batch<T>;
    const auto quotient = [](T x, T y) -> T { return x / y; };
    const auto larger = [](T x, T y) -> T { return x > y ? x : y; };
    const auto fused = [](T x, T y, T z) -> T { return std::fma(x, y, z); };
    BOOST_TEST((differences<T, 2>([](auto x, auto y) { return x * (Batch(T(1)) / y); }, quotient)) > 0);
    BOOST_TEST((differences<T, 2>([](auto x, auto y) { return xsimd::max(y, x); }, larger)) > 0);
    BOOST_TEST((differences<T, 3>([](auto x, auto y, auto z) { return x * y + z; }, fused)) > 0);
    BOOST_TEST((differences<T, 1>([](auto x) { return Batch(T(0)) - x; }, [](T x) -> T { return -x; })) > 0);
}

BOOST_AUTO_TEST_SUITE_END()
