#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(triangular_solve)

namespace {

const auto with = [](TriangularSolveOptions options) {
    return [options](auto a, auto b) { return pollen::triangular_solve(a, b, options); };
};

// Normal numbers with a large diagonal in both triangles, so that reading the wrong one shows.
Tensor<double> matrices(const Shape& shape, std::uint64_t seed = 1) {
    Tensor<double> a = normals(shape, seed);
    const std::int64_t n = shape[shape.rank() - 1];
    double* numbers = a.mutable_data();
    for (std::int64_t i = 0; i < a.size() / std::max<std::int64_t>(1, n); ++i) numbers[i * n + i % n] += 4;
    return a;
}

// The entry of op(A) that the solve sees.
double entry(const Tensor<double>& a, const TriangularSolveOptions& o, std::int64_t k, std::int64_t i, std::int64_t j) {
    if (o.transpose) std::swap(i, j);
    if (i == j) return o.unit_diagonal ? 1 : a(k, i, i);
    return o.lower == (i > j) ? a(k, i, j) : 0;
}

// The largest entry of op(A) y - b, for stacks (count, n, n) and (count, n, m).
double residual(const Tensor<double>& a, const Tensor<double>& b, const Tensor<double>& y,
                const TriangularSolveOptions& o) {
    double worst = 0;
    const Shape& s = b.shape();
    for (std::int64_t k = 0; k < s[0]; ++k)
        for (std::int64_t i = 0; i < s[1]; ++i)
            for (std::int64_t j = 0; j < s[2]; ++j) {
                double sum = -b(k, i, j);
                for (std::int64_t p = 0; p < s[1]; ++p) sum += entry(a, o, k, i, p) * y(k, p, j);
                worst = std::max(worst, std::abs(sum));
            }
    return worst;
}

template <class F>
void each_option(const F& f) {
    for (const bool lower : {false, true})
        for (const bool transpose : {false, true})
            for (const bool unit : {false, true}) f(TriangularSolveOptions{lower, transpose, unit});
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    each_option([](const TriangularSolveOptions& options) {
        for (const std::int64_t n : {1, 2, 4, 5, 9, 20})
            for (const std::int64_t m : {1, 3, 17}) {
                Tensor<double> a = matrices(Shape{2, n, n});
                if (options.unit_diagonal)  // else the solution grows beyond measure
                    for (double& number : a.mutable_values()) number *= 0.1;
                a = cast<double>(cast<float>(a));
                const Tensor<double> b = cast<double>(cast<float>(normals(Shape{2, n, m}, 2)));
                BOOST_TEST(residual(a, b, value<double>(with(options), a, b), options) < 1e-13);
                BOOST_TEST(residual(a, b, cast<double>(value<float>(with(options), a, b)), options) < 1e-4);
            }
    });
}

BOOST_AUTO_TEST_CASE(vectors_and_stacks) {
    const Tensor<double> a{{2, 9}, {1, 4}};
    const auto solve = with({});
    BOOST_TEST(value<double>(solve, a, Tensor<double>{2, 9}) == (Tensor<double>{1, 2}));
    BOOST_TEST(value<double>(solve, a, Tensor<double>(Shape{2, 2, 1}, {2, 9, 4, 6})) ==
               Tensor<double>(Shape{2, 2, 1}, {1, 2, 2, 1}));
    const Tensor<double> two(Shape{2, 2, 2}, {2, 9, 1, 4, 1, 9, 0, 2});
    BOOST_TEST(value<double>(solve, two, Tensor<double>{2, 9}) == (Tensor<double>{{1, 2}, {2, 4.5}}));
    BOOST_TEST(value<double>(solve, two, Tensor<double>(Shape{2, 1}, {2, 9})) ==
               Tensor<double>(Shape{2, 2, 1}, {1, 2, 2, 4.5}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    each_option([](const TriangularSolveOptions& options) {
        check_gradients(with(options), matrices(Shape{3, 3}), normals(Shape{3, 2}, 2));
    });
    check_gradients(with({}), matrices(Shape{6, 6}), normals(Shape{6}, 2));
    check_gradients(with({}), matrices(Shape{1, 1}), normals(Shape{1}, 2));
    check_gradients(with({}), matrices(Shape{2, 3, 3}), normals(Shape{2, 3, 2}, 2));
    check_gradients(with({.lower = false}), matrices(Shape{3, 3}), normals(Shape{2, 3, 2}, 2));
    check_gradients(with({.transpose = true}), matrices(Shape{2, 3, 3}), normals(Shape{3, 2}, 2));
    check_gradients(with({}), matrices(Shape{2, 3, 3}), normals(Shape{3}, 2));
    check_gradients(with({}), matrices(Shape{2, 1, 3, 3}), normals(Shape{4, 3, 2}, 2));
    check_gradients([](auto a) { return pollen::triangular_solve(a, a); }, matrices(Shape{3, 3}));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto zeros = [](const Shape& shape) { return Tensor<double>::zeros(shape); };
    for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{
             {{3, 3}, {3, 0}}, {{0, 0}, {0, 2}}, {{0, 3, 3}, {3, 2}}, {{3, 3}, {0, 3, 2}}, {{0, 0}, {0}}}) {
        const auto all = value_and_gradients<double>(with({}), zeros(a), zeros(b));
        for (const Tensor<double>& tensor : all)
            for (const double number : tensor) BOOST_TEST(number == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_zero_on_the_diagonal_gives_infinity) {
    const Tensor<double> y = value<double>(with({}), Tensor<double>{{0, 0}, {0, 2}}, Tensor<double>{1, 2});
    BOOST_TEST(std::isinf(y(0)));
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<double>(with({}), matrices(Shape{100, 20, 20}), normals(Shape{100, 20, 30}, 2));
    check_same_bits<float>(with({}), matrices(Shape{30, 30}), normals(Shape{50, 30, 40}, 2));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& a, const Shape& b) {
        return error_of<ShapeError>([&] { value<double>(with({}), normals(a), normals(b)); });
    };
    BOOST_TEST(error({2, 3}, {3}) == "triangular_solve: a (2, 3); the last two sizes must be equal");
    BOOST_TEST(error({3}, {3}) == "triangular_solve: a (3); the last two sizes must be equal");
    BOOST_TEST(error({3, 3}, {4}) == "triangular_solve: sizes differ: a (3, 3) and b (4); b needs 3 elements");
    BOOST_TEST(error({3, 3}, {}) == "triangular_solve: sizes differ: a (3, 3) and b (); b needs 3 elements");
    BOOST_TEST(error({3, 3}, {4, 3}) == "triangular_solve: sizes differ: a (3, 3) and b (4, 3); b needs 3 rows");
    BOOST_TEST(
        error({2, 3, 3}, {4, 3, 1}) ==
        "triangular_solve: stacks of matrices do not broadcast: a (2, 3, 3) and b (4, 3, 1); sizes before the last two "
        "must be equal or 1");
}

BOOST_AUTO_TEST_SUITE_END()
