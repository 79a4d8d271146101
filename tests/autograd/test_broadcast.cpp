#include "../naive.hpp"

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/parallel.hpp>

#include <cstring>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(broadcast_kernels)

namespace {

const auto formula = [](auto a, auto b) { return a - b - b; };

// a - 2 b by the kernel and by loops.
template <class T>
void check(const Shape& a_shape, const Shape& b_shape) {
    const Shape out = broadcast("test", a_shape, b_shape);
    const Tensor<T> a = whole_numbers<T>(a_shape, 1), b = whole_numbers<T>(b_shape, 2);
    Tensor<T> y = Tensor<T>::full(out, T(99)), expected = Tensor<T>::zeros(out);
    T* to = expected.mutable_data();
    for_each_index(out, [&](const Index& index) {
        *to++ = a.data()[place(a_shape, index, out.rank())] - 2 * b.data()[place(b_shape, index, out.rank())];
    });
    kernels::map_broadcast(kernels::BroadcastPlan(a_shape, b_shape, out), y.mutable_data(), formula, a.data(),
                           b.data());
    BOOST_TEST((y == expected), a_shape << " with " << b_shape);
}

// The shape with size 1 where the mask has a bit, and without its first `drop` axes.
Shape part_of(const Shape& shape, unsigned mask, int drop) {
    std::vector<std::int64_t> sizes;
    for (int axis = drop; axis < shape.rank(); ++axis) sizes.push_back((mask >> axis) & 1u ? 1 : shape[axis]);
    return Shape(std::span<const std::int64_t>(sizes));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_form) {
    const std::vector<Shape> shapes{{},        {1},       {5},          {0},           {40},           {3, 4},
                                    {4, 9},    {2, 40},   {0, 3},       {3, 0},        {2, 3, 4},      {3, 2, 17},
                                    {5, 1, 3}, {2, 0, 3}, {2, 3, 2, 5}, {3, 2, 1, 33}, {2, 2, 3, 2, 3}};
    for (const Shape& shape : shapes)
        for (unsigned mask_a = 0; mask_a < 1u << shape.rank(); ++mask_a)
            for (unsigned mask_b = 0; mask_b < 1u << shape.rank(); ++mask_b) {
                check<float>(part_of(shape, mask_a, 0), part_of(shape, mask_b, 0));
                if (shape.rank() > 0) {
                    check<double>(part_of(shape, mask_a, 1), part_of(shape, mask_b, 0));
                    check<double>(part_of(shape, mask_a, 0), part_of(shape, mask_b, shape.rank()));
                }
            }
}

// Above the parallel grain, with short and long rows.
BOOST_AUTO_TEST_CASE(large) {
    for (const std::int64_t columns : {1, 2, 3, 7, 8, 9, 31, 33, 1000}) {
        const std::int64_t rows = 70000 / columns + 3;
        check<float>({rows, columns}, {columns});
        check<float>({rows, 1}, {rows, columns});
        check<float>({rows, 1}, {1, columns});
        check<double>({rows, 2, columns}, {rows, 1, columns});
        check<double>({2, rows, 1}, {rows, columns});
    }
    check<float>({2, 1}, {2, 100001});
    check<float>({100001}, {});
}

// dL/da and dL/db of a (b + 1) by kernel and by loops, written and added.
BOOST_AUTO_TEST_CASE(gradients) {
    const std::vector<std::pair<Shape, Shape>> cases{
        {{3}, {3}},        {{3}, {}},       {{}, {4}},  {{2, 3}, {3}},  {{2, 1}, {3}},       {{4, 1, 3}, {2, 1}},
        {{0, 3}, {3}},     {{3}, {0, 1}},   {{1}, {0}}, {{70000}, {1}}, {{300, 200}, {200}}, {{300, 200}, {300, 1}},
        {{20000, 3}, {3}}, {{1, 1}, {5, 6}}};
    for (const auto& [a_shape, b_shape] : cases) {
        const Shape out = broadcast("test", a_shape, b_shape);
        const Tensor<double> a = whole_numbers<double>(a_shape, 1), b = whole_numbers<double>(b_shape, 2);
        const Tensor<double> g = whole_numbers<double>(out, 3);
        Tensor<double> da = Tensor<double>::zeros(a_shape), db = Tensor<double>::zeros(b_shape);
        std::int64_t at = 0;
        for_each_index(out, [&](const Index& index) {
            const std::int64_t i = place(a_shape, index, out.rank()), j = place(b_shape, index, out.rank());
            da.mutable_data()[i] += g.data()[at] * (b.data()[j] + 1);
            db.mutable_data()[j] += g.data()[at++] * a.data()[i];
        });
        const kernels::BroadcastPlan plan(a_shape, b_shape, out);
        const auto run = [&](Tensor<double>& target, bool fresh, const Shape& to, const auto& f) {
            kernels::map_broadcast_into(GradientSlot<double>{target.mutable_data(), fresh}, to, plan, out,
                                        Pool::global(), f, a.data(), b.data(), g.data());
        };
        for (const bool fresh : {true, false}) {
            Tensor<double> got_a = Tensor<double>::full(a_shape, 5), got_b = Tensor<double>::full(b_shape, 5);
            run(got_a, fresh, a_shape, [](auto, auto v, auto slope) { return slope * (v + 1.0); });
            run(got_b, fresh, b_shape, [](auto u, auto, auto slope) { return slope * u; });
            for (double& x : got_a.mutable_values()) x -= fresh ? 0 : 5;
            for (double& x : got_b.mutable_values()) x -= fresh ? 0 : 5;
            BOOST_TEST((got_a == da && got_b == db), a_shape << " with " << b_shape << ", fresh " << fresh);
        }
    }
}

BOOST_AUTO_TEST_CASE(repeat) {
    const std::vector<std::pair<Shape, Shape>> cases{{{3}, {3}},          {{}, {2, 3}},     {{3, 1}, {3, 4}},
                                                     {{1, 4}, {3, 4}},    {{4}, {2, 3, 4}}, {{2, 1, 3}, {2, 5, 3}},
                                                     {{1}, {0}},          {{0, 1}, {0, 4}}, {{40000, 1}, {40000, 3}},
                                                     {{3, 1}, {3, 40000}}};
    for (const auto& [from, to] : cases) {
        const Tensor<float> x = whole_numbers<float>(from);
        Tensor<float> y = Tensor<float>::full(to, NAN), expected = Tensor<float>::zeros(to);
        float* out = expected.mutable_data();
        for_each_index(to, [&](const Index& index) { *out++ = x.data()[place(from, index, to.rank())]; });
        kernels::repeat_into(GradientSlot<float>{y.mutable_data(), true}, to, x.data(), from);
        BOOST_TEST((y == expected), from << " to " << to);
        kernels::repeat_into(GradientSlot<float>{y.mutable_data(), false}, to, x.data(), from);
        for (float& number : expected.mutable_values()) number *= 2;
        BOOST_TEST((y == expected), from << " added to " << to);
    }
}

// x m - 1 along, and the sum of it over, every set of axes; m has the reduced shape.
BOOST_AUTO_TEST_CASE(beside_reduced) {
    const auto f = [](auto u, auto v) { return u * v - 1.0; };
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{0, 2}, Shape{2, 0}, Shape{3, 4}, Shape{2, 9, 3},
                               Shape{3, 2, 40}, Shape{2, 3, 2, 3}, Shape{9000, 3}, Shape{3, 9000}, Shape{30, 40, 50}})
        for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask) {
            const Shape kept = reduced_shape(shape, mask, true);
            const Tensor<double> x = whole_numbers<double>(shape, 1), m = whole_numbers<double>(kept, 2);
            Tensor<double> each = Tensor<double>::full(shape, 9), total = Tensor<double>::full(kept, 9);
            Tensor<double> expected = Tensor<double>::zeros(shape), sums = Tensor<double>::zeros(kept);
            std::int64_t at = 0;
            for_each_index(shape, [&](const Index& index) {
                const std::int64_t k = place(kept, index, shape.rank());
                expected.mutable_data()[at] = x.data()[at] * m.data()[k] - 1;
                sums.mutable_data()[k] += expected.data()[at++];
            });
            const kernels::ReducedPlan plan(shape, mask);
            const kernels::Full<double> full{x.data()};
            const kernels::Reduced<double> reduced{m.data()};
            kernels::map_reduced_into(GradientSlot<double>{each.mutable_data(), true}, plan, f, full, reduced);
            BOOST_TEST((each == expected), shape << ", mask " << mask);
            kernels::reduce_reduced<kernels::Sum>(plan, Pool::global(), total.mutable_data(), f, full, reduced);
            BOOST_TEST((total == sums), "sum of " << shape << ", mask " << mask);
            kernels::map_reduced_into(GradientSlot<double>{each.mutable_data(), false}, plan, f, full, reduced);
            for (double& number : expected.mutable_values()) number *= 2;
            BOOST_TEST((each == expected), "added " << shape << ", mask " << mask);
        }
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_threads) {
    const Tensor<float> a = cast<float>(normals(Shape{701, 300}, 1)), b = cast<float>(normals(Shape{300}, 2));
    const kernels::BroadcastPlan plan(a.shape(), b.shape(), a.shape());
    const auto run = [&](int threads) {
        Tensor<float> all = Tensor<float>::zeros(a.shape()), sum = Tensor<float>::zeros(b.shape());
        with_threads(threads, [&] {
            kernels::map_broadcast(
                plan, all.mutable_data(), [](auto u, auto v) { return u * v; }, a.data(), b.data());
            kernels::map_broadcast_into(
                GradientSlot<float>{sum.mutable_data(), true}, b.shape(), plan, a.shape(), Pool::global(),
                [](auto u, auto v) { return u * v; }, a.data(), b.data());
        });
        return std::pair(all, sum);
    };
    const auto one = run(1);
    for (const int threads : {2, 4, 8}) BOOST_TEST((run(threads) == one), "different at " << threads << " threads");
}

BOOST_AUTO_TEST_SUITE_END()
