#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(cholesky_logdet)

namespace {

const auto logdet = [](auto l) { return pollen::cholesky_logdet(l); };

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t n : {1, 2, 7, 40}) {
        const Tensor<double> l = uniforms(Shape{3, n, n}, 0.5, 2);
        Tensor<double> expected = Tensor<double>::zeros(Shape{3});
        for (std::int64_t k = 0; k < 3; ++k) {
            long double sum = 0;
            for (std::int64_t i = 0; i < n; ++i) sum += 2 * std::log(static_cast<long double>(l(k, i, i)));
            expected.mutable_data()[k] = static_cast<double>(sum);
        }
        check_near(value<double>(logdet, l), expected, 1e-14);
        check_near(value<float>(logdet, l), expected, 1e-5);
    }
    // numpy.linalg.slogdet([[4, 2, -6], [2, 10, 9], [-6, 9, 31]])[1] = log(216)
    const auto of = [](auto a) { return pollen::cholesky_logdet(pollen::cholesky(a)); };
    const double got = value<double>(of, Tensor<double>{{4, 2, -6}, {2, 10, 9}, {-6, 9, 31}}).item();
    BOOST_TEST(std::abs(got - 5.3752784076841653) < 1e-14);
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(logdet, uniforms(Shape{4, 4}, 0.5, 2));
    check_gradients(logdet, uniforms(Shape{2, 3, 2, 2}, 0.5, 2));
    check_gradients(logdet, uniforms(Shape{1, 1}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(empty) {
    BOOST_TEST(value<double>(logdet, Tensor<double>::zeros(Shape{0, 0})).item() == 0);
    BOOST_TEST(to_string(value_and_gradients<double>(logdet, Tensor<double>::zeros(Shape{0, 3, 3}))[0].shape()) ==
               "(0)");
}

BOOST_AUTO_TEST_CASE(zero_and_negative_diagonals) {
    BOOST_TEST(value<double>(logdet, Tensor<double>{{0, 0}, {0, 1}}).item() ==
               -std::numeric_limits<double>::infinity());
    BOOST_TEST(std::isnan(value<double>(logdet, Tensor<double>{{-1, 0}, {0, 1}}).item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& shape) {
        return error_of<ShapeError>([&] { value<double>(logdet, normals(shape)); });
    };
    BOOST_TEST(error({2, 3}) == "cholesky_logdet: l (2, 3); the last two sizes must be equal");
    BOOST_TEST(error({3}) == "cholesky_logdet: l (3); the last two sizes must be equal");
}

BOOST_AUTO_TEST_SUITE_END()
