#include "../naive.hpp"

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/parallel.hpp>

#include <cstring>

using namespace pollen;
using namespace pollen::test;
using kernels::Max;
using kernels::Min;
using kernels::Sum;

BOOST_AUTO_TEST_SUITE(reduce)

namespace {

// Sum, largest and smallest of the numbers that go into each result, one after the other. NaN wins in the last two.
struct Expected {
    std::vector<long double> sum, max, min;

    template <class T>
    Expected(const Tensor<T>& x, unsigned mask) {
        const Shape kept = reduced_shape(x.shape(), mask, true);
        const auto results = static_cast<std::size_t>(kept.size());
        sum.assign(results, 0);
        max.assign(results, -INFINITY);
        min.assign(results, INFINITY);
        const T* next = x.data();
        for_each_index(x.shape(), [&](const Index& index) {
            const auto at = static_cast<std::size_t>(place(kept, index, x.rank()));
            const long double number = static_cast<long double>(*next++);
            sum[at] += number;
            if (number > max[at] || std::isnan(number)) max[at] = number;
            if (number < min[at] || std::isnan(number)) min[at] = number;
        });
    }
};

template <class Op, class T>
Tensor<T> reduced(const Tensor<T>& x, unsigned mask) {
    Tensor<T> y = Tensor<T>::full(reduced_shape(x.shape(), mask, false), T(77));
    kernels::reduce_axes<Op>(x.data(), x.shape(), mask, y.mutable_data());
    return y;
}

template <class Op, class T>
void check(const Tensor<T>& x, unsigned mask, const std::vector<long double>& expected) {
    const Tensor<T> got = reduced<Op>(x, mask);
    BOOST_TEST(std::equal(got.begin(), got.end(), expected.begin(), expected.end()),
               typeid(Op).name() << " of " << x.shape() << ", mask " << mask << ", gives " << to_string(got));
}

template <class T>
void check_all(const Tensor<T>& x, unsigned mask) {
    const Expected expected(x, mask);
    check<Sum>(x, mask, expected.sum);
    check<Max>(x, mask, expected.max);
    check<Min>(x, mask, expected.min);
}

template <class T>
void check_every_mask(const Shape& shape) {
    const Tensor<T> x = whole_numbers<T>(shape);
    for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask) check_all(x, mask);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_set_of_axes) {
    const std::vector<Shape> shapes{{},
                                    {1},
                                    {0},
                                    {7},
                                    {40},
                                    {3, 5},
                                    {1, 9},
                                    {9, 1},
                                    {0, 4},
                                    {4, 0},
                                    {17, 33},
                                    {2, 3, 4},
                                    {5, 1, 19},
                                    {3, 0, 2},
                                    {1, 1, 1},
                                    {8, 16, 8},
                                    {2, 3, 4, 5},
                                    {3, 1, 17, 2},
                                    {2, 0, 3, 1},
                                    {2, 3, 2, 3, 2},
                                    {1, 4, 1, 9, 1},
                                    {2, 2, 0, 2, 2},
                                    {3, 2, 1, 2, 33}};
    for (const Shape& shape : shapes) {
        check_every_mask<float>(shape);
        check_every_mask<double>(shape);
    }
}

// Around every bound of the loops: SIMD width, four accumulators, strung rows, column blocks, chunks.
BOOST_AUTO_TEST_CASE(row_lengths) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t n = 1; n <= 140; ++n) lengths.push_back(n);
    for (const std::int64_t bound : {256, 2048, 16384, 32768, 65536})
        for (const std::int64_t n : {bound - 1, bound, bound + 1}) lengths.push_back(n);
    lengths.push_back(5 * 16384 + 17);
    for (const std::int64_t n : lengths) {
        check_all(whole_numbers<float>(Shape{n}), 1);
        check_all(whole_numbers<double>(Shape{n}), 1);
        check_all(whole_numbers<float>(Shape{3, n}), 2);
        check_all(whole_numbers<float>(Shape{n, 2}), 1);
    }
}

BOOST_AUTO_TEST_CASE(column_counts) {
    for (const std::int64_t columns : {2, 7, 8, 9, 17, 100, 127, 128, 129, 255, 257, 2047, 2048, 2049, 4100})
        for (const std::int64_t rows : {1, 2, 4, 5, 6, 31, 33, 70})
            check_all(whole_numbers<float>(Shape{rows, columns}), 1);
    for (const std::int64_t columns : {2, 9, 130})
        for (const std::int64_t rows : {511, 513, 8192, 8193}) {
            check_all(whole_numbers<float>(Shape{rows, columns}), 1);
            check_all(whole_numbers<double>(Shape{rows, columns}), 1);
        }
    check_all(whole_numbers<double>(Shape{3, 700, 150}), 2);
    check_all(whole_numbers<float>(Shape{100, 5, 70}), 5);
}

BOOST_AUTO_TEST_CASE(long_rows) {
    check_all(whole_numbers<float>(Shape{5, 16384 * 2 + 3}), 2);
    check_all(whole_numbers<double>(Shape{2, 3, 20000}), 4);
    check_all(whole_numbers<float>(Shape{5000, 3, 5}), 6);
    check_all(whole_numbers<float>(Shape{20001, 3}), 2);
}

// The maximum of nothing is -inf here; the op refuses it.
BOOST_AUTO_TEST_CASE(nothing) {
    BOOST_TEST((reduced<Max>(Tensor<float>::zeros(Shape{0, 2}), 1) == Tensor<float>{-INFINITY, -INFINITY}));
    BOOST_TEST((reduced<Min>(Tensor<double>::zeros(Shape{0}), 1).item() == INFINITY));
    BOOST_TEST((reduced<Sum>(Tensor<double>::zeros(Shape{2, 0}), 2) == Tensor<double>{0, 0}));
}

// NaN at any place of rows and columns of many lengths is what Max and Min give; infinities are ordinary numbers.
BOOST_AUTO_TEST_CASE(nan_and_infinity) {
    for (std::int64_t n = 1; n <= 70; ++n) {
        for (std::int64_t at = 0; at < n; ++at) {
            Tensor<float> row = whole_numbers<float>(Shape{n});
            row.mutable_data()[at] = NAN;
            BOOST_TEST(std::isnan(reduced<Max>(row, 1).item()));
            BOOST_TEST(std::isnan(reduced<Min>(row, 1).item()));
            BOOST_TEST(std::isnan(reduced<Sum>(row, 1).item()));
            row.mutable_data()[at] = INFINITY;
            BOOST_TEST(reduced<Max>(row, 1).item() == INFINITY);
            row.mutable_data()[at] = -INFINITY;
            BOOST_TEST(reduced<Min>(row, 1).item() == -INFINITY);
        }
        Tensor<float> rows = whole_numbers<float>(Shape{n, 19});
        rows.mutable_at(n / 2, 3) = NAN;
        rows.mutable_at(n / 2, 17) = NAN;
        for (std::int64_t j = 0; j < 19; ++j) {
            const bool nan = j == 3 || j == 17;
            BOOST_TEST(std::isnan(reduced<Max>(rows, 1)(j)) == nan);
            BOOST_TEST(std::isnan(reduced<Min>(rows, 1)(j)) == nan);
        }
    }
    BOOST_TEST(std::isnan(reduced<Sum>(Tensor<double>{INFINITY, -INFINITY}, 1).item()));
    BOOST_TEST((reduced<Max>(Tensor<double>::full(Shape{9}, -INFINITY), 1).item() == -INFINITY));
}

// The same bits at any number of threads, for numbers whose sums are rounded.
BOOST_AUTO_TEST_CASE(same_bits_on_any_threads) {
    const std::vector<std::pair<Shape, unsigned>> cases{
        {{200003}, 1},   {{300, 1201}, 1}, {{300, 1201}, 2},   {{40000, 7}, 1},    {{40000, 7}, 2},
        {{3, 70001}, 2}, {{3, 70001}, 1},  {{13, 500, 41}, 2}, {{13, 500, 41}, 5}, {{13, 500, 41}, 6}};
    for (const auto& [shape, mask] : cases) {
        const Tensor<float> x = cast<float>(normals(shape));
        Tensor<float> one;
        with_threads(1, [&] { one = reduced<Sum>(x, mask); });
        // The rounding errors are relative to the terms, 16384 or fewer of size 1 before they are cut into chunks.
        const Expected expected(x, mask);
        for (std::int64_t i = 0; i < one.size(); ++i)
            BOOST_TEST(std::abs(one.data()[i] - expected.sum[static_cast<std::size_t>(i)]) < 1e-3L);
        for (const int threads : {2, 4, 8})
            with_threads(threads, [&] {
                const Tensor<float> many = reduced<Sum>(x, mask);
                const bool same =
                    std::memcmp(one.data(), many.data(), static_cast<std::size_t>(one.size()) * sizeof(float)) == 0;
                BOOST_TEST(same,
                           "shape " << shape << ", mask " << mask << ": sums differ at " << threads << " threads");
            });
    }
}

// Long sums lose hardly more digits than short ones. Adding one by one, the float sum would be off by 10 %.
BOOST_AUTO_TEST_CASE(accuracy) {
    const Tensor<float> x = Tensor<float>::full(Shape{1 << 12, 1 << 12}, 0.1f);
    const double exact = static_cast<double>(0.1f) * static_cast<double>(x.size());
    BOOST_TEST(std::abs(static_cast<double>(reduced<Sum>(x, 3).item()) / exact - 1) < 1e-6);
    for (const unsigned mask : {1u, 2u})
        for (const float sum : reduced<Sum>(x, mask))
            BOOST_TEST(std::abs(static_cast<double>(sum) / (exact / 4096) - 1) < 1e-6);
}

BOOST_AUTO_TEST_CASE(sum_to_shape) {
    const std::vector<std::pair<Shape, Shape>> cases{
        {{2, 3, 4}, {3, 4}},    {{2, 3, 4}, {1, 4}}, {{2, 3, 4}, {2, 1, 1}}, {{2, 3, 4}, {}},
        {{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {1}},    {{2, 1, 4}, {4}},       {{0, 3}, {1, 3}},
        {{3, 0}, {3, 1}},       {{0, 3}, {}},        {{300, 5}, {5}},        {{7, 4000}, {7, 1}}};
    for (const auto& [from, to] : cases) {
        const Tensor<double> x = whole_numbers<double>(from);
        Tensor<double> expected = Tensor<double>::zeros(to);
        std::int64_t at = 0;
        for_each_index(from, [&](const Index& index) {
            expected.mutable_data()[place(to, index, from.rank())] += x.data()[at++];
        });
        Tensor<double> y = Tensor<double>::full(to, 100);
        kernels::sum_to(x.data(), from, GradientSlot<double>{y.mutable_data(), true}, to);
        BOOST_TEST((y == expected), from << " to " << to);
        kernels::sum_to(x.data(), from, GradientSlot<double>{y.mutable_data(), false}, to);
        for (double& number : expected.mutable_values()) number *= 2;
        BOOST_TEST((y == expected), from << " added to " << to);
    }
    kernels::sum_to<double>(nullptr, Shape{3}, GradientSlot<double>{}, Shape{});
}

BOOST_AUTO_TEST_SUITE_END()
