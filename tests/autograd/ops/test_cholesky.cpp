#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(cholesky)

namespace {

const auto factor = [](auto a) { return pollen::cholesky(a); };

// B B' / n + I for every matrix of a stack (count, n, n).
Tensor<double> positive_definite(std::int64_t count, std::int64_t n, std::uint64_t seed = 1) {
    const Tensor<double> b = normals(Shape{count, n, n}, seed);
    Tensor<double> a = Tensor<double>::zeros(b.shape());
    double* out = a.mutable_data();
    for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::int64_t p = 0; p < n; ++p) sum += b(k, i, p) * b(k, j, p);
                out[(k * n + i) * n + j] = sum / static_cast<double>(n) + (i == j ? 1.0 : 0.0);
            }
    return a;
}

// Element by element, in long double.
Tensor<double> reference(const Tensor<double>& a) {
    const std::int64_t count = a.shape()[0], n = a.shape()[1];
    Tensor<double> l = Tensor<double>::zeros(a.shape());
    double* out = l.mutable_data();
    for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                const double *row = out + (k * n + i) * n, *other = out + (k * n + j) * n;
                long double sum = a(k, i, j);
                for (std::int64_t p = 0; p < j; ++p) sum -= static_cast<long double>(row[p]) * other[p];
                out[(k * n + i) * n + j] = static_cast<double>(i == j ? std::sqrt(sum) : sum / other[j]);
            }
    return l;
}

// cholesky reads one triangle, and its gradient is the one for symmetric changes: the other triangle is tied to it
// here.
const auto of_symmetric = [](auto a) {
    auto both = a + transpose(a);
    return pollen::cholesky(both * 0.5);
};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 9, 17, 40}) {
        const Tensor<double> a = positive_definite(3, n);
        check_near(value<double>(factor, a), reference(a), 1e-14);
        check_near(value<float>(factor, a), reference(a), 1e-5);
    }
    // scipy.linalg.cholesky(lower=True)
    BOOST_TEST(value<double>(factor, Tensor<double>{{4, 2, -6}, {2, 10, 9}, {-6, 9, 31}}) ==
               (Tensor<double>{{2, 0, 0}, {1, 3, 0}, {-3, 4, std::sqrt(6.0)}}));
}

BOOST_AUTO_TEST_CASE(only_the_lower_triangle_is_read) {
    const double nan = std::nan("");
    BOOST_TEST(value<double>(factor, Tensor<double>{{4, nan}, {2, 10}}) == (Tensor<double>{{2, 0}, {1, 3}}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const std::int64_t n : {1, 2, 5, 12}) check_gradients(of_symmetric, positive_definite(1, n).reshaped({n, n}));
    check_gradients(of_symmetric, positive_definite(3, 4));
    check_gradients(of_symmetric, positive_definite(6, 3).reshaped({2, 3, 3, 3}));
    const Tensor<double> da = value_and_gradients<double>(factor, positive_definite(1, 6))[1];
    for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 6; ++j) BOOST_TEST(da(0, i, j) == da(0, j, i));
}

// What L holds above its diagonal is zero whatever a is: a gradient that arrives there goes nowhere.
BOOST_AUTO_TEST_CASE(gradients_above_the_diagonal_are_ignored) {
    Tape<double> tape;
    const Tensor<double> a = positive_definite(1, 3).reshaped({3, 3});
    const Var<double> x = tape.variable(a), y = pollen::cholesky(x);
    tape.backward(y, Tensor<double>{{0, 1, 2}, {0, 0, 3}, {0, 0, 0}});
    BOOST_TEST(x.grad() == Tensor<double>::zeros(Shape{3, 3}));
}

BOOST_AUTO_TEST_CASE(empty) {
    for (const Shape& shape : {Shape{0, 3, 3}, Shape{2, 0, 0}, Shape{0, 0}}) {
        const auto all = value_and_gradients<double>(factor, Tensor<double>::zeros(shape));
        BOOST_TEST(to_string(all[1].shape()) == to_string(shape));
    }
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<double>(factor, positive_definite(200, 20));
    check_same_bits<double>(factor, positive_definite(1, 150));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto shape_error = [](const Shape& shape) {
        return error_of<ShapeError>([&] { value<double>(factor, normals(shape)); });
    };
    BOOST_TEST(shape_error({2, 3}) == "cholesky: a (2, 3); the last two sizes must be equal");
    BOOST_TEST(shape_error({3}) == "cholesky: a (3); the last two sizes must be equal");
    const auto value_error = [](const Tensor<double>& a) {
        return error_of<ValueError>([&] { value<double>(factor, a); });
    };
    BOOST_TEST(value_error({{1, 0, 0}, {0, 4, 1}, {0, 1, -0.25}}) ==
               "cholesky: matrix 0 of a (3, 3) is not positive definite: pivot 2 is -0.5");
    BOOST_TEST(value_error({{0, 0}, {0, 1}}) ==
               "cholesky: matrix 0 of a (2, 2) is not positive definite: pivot 0 is 0");
    BOOST_TEST(value_error({{1, 0}, {0, std::nan("")}}) ==
               "cholesky: matrix 0 of a (2, 2) is not positive definite: pivot 1 is nan");
    Tensor<double> stack = positive_definite(100, 12);
    stack.mutable_at(70, 3, 3) = -1e6;
    stack.mutable_at(40, 11, 11) = -1e6;
    const std::string message = value_error(stack);
    BOOST_TEST(message.substr(0, 75) == "cholesky: matrix 40 of a (100, 12, 12) is not positive definite: pivot 11 i");
}

BOOST_AUTO_TEST_SUITE_END()
