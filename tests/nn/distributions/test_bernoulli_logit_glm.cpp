#include "checks.hpp"

#include <pollen/nn/distributions/bernoulli.hpp>
#include <pollen/nn/distributions/bernoulli_logit_glm.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

Indices labels(std::int64_t n) {
    Indices y = Indices::zeros({n});
    for (std::int64_t i = 0; i < n; ++i) y.mutable_data()[i] = (i * i + i / 3) % 2 == 0;
    return y;
}

Tensor<double> column(const Tensor<double>& x) { return x.reshaped({-1, 1}); }

// Value and gradients for alpha and beta.
template <class T, class Y>
std::array<Tensor<T>, 3> run(const Y& y, const Tensor<T>& x, const Tensor<T>& alpha, const Tensor<T>& beta) {
    Tape<T> tape;
    const Var<T> a = tape.variable(alpha), b = tape.variable(beta);
    const Var<T> l = bernoulli_logit_glm_lpmf(y, x, a, b);
    tape.backward(l);
    return {l.value(), a.grad(), b.grad()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bernoulli_logit_glm)

// The numbers are mpmath's.
BOOST_AUTO_TEST_CASE(values) {
    const Tensor<double> x{
        {0.5, -1.25, 2.0}, {1.5, 0.25, -0.75}, {-2.0, 3.0, 0.125}, {0.0, -0.5, 1.0}, {4.0, -3.5, 2.5}};
    const Tensor<double> alpha = Tensor<double>::scalar(0.3), beta{0.8, -0.4, 1.1};
    const std::array<double, 5> want{-1.3286326594429956, -0.52524052038746167, -0.76966850061583886,
                                     -0.54423648665574421, 0.70293949575923647};
    const auto near = boost::test_tools::tolerance(1e-14);
    for (const auto& got :
         {run(Indices{1, 0, 0, 1, 1}, x, alpha, beta), run(Tensor<double>{1, 0, 0, 1, 1}, x, alpha, beta)}) {
        BOOST_TEST(got[0].item() == want[0], near);
        BOOST_TEST(got[1].item() == want[1], near);
        for (std::size_t j = 0; j < 3; ++j) BOOST_TEST(got[2].data()[j] == want[2 + j], near);
    }
}

// Far out neither the value nor the gradient loses its digits, becomes NaN or infinite. mpmath's numbers.
BOOST_AUTO_TEST_CASE(large_logits) {
    const Tensor<double> zero = Tensor<double>::scalar(0), one{1};
    const auto near = boost::test_tools::tolerance(1e-14);
    const auto right = run(Indices{1, 0, 1, 0, 1}, column({40, -40, 800, -700, 36}), zero, one);
    BOOST_TEST(right[0].item() == -2.4044899153494009e-16, near);
    BOOST_TEST(right[1].item() == 2.3195228302435689e-16, near);
    BOOST_TEST(right[2].item() == 8.690150529300175e-15, near);
    const auto wrong = run(Indices{0, 1}, column({800, -700}), zero, one);
    BOOST_TEST(wrong[0].item() == -1500);
    BOOST_TEST(wrong[1].item() == 0);
    BOOST_TEST(wrong[2].item() == -1500);
    BOOST_TEST(std::isnan(run(Indices{0}, column({NAN}), zero, one)[0].item()));
    BOOST_TEST(run(Indices{0}, column({INFINITY}), zero, one)[0].item() == -INFINITY);
}

// Every number of columns and rows around the widths of batches and blocks, against the same model made of ops.
BOOST_AUTO_TEST_CASE(sizes) {
    for (std::int64_t n : {1, 2, 3, 5, 8, 31, 32, 33, 67})
        for (std::int64_t d : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33}) {
            const Tensor<double> x = normals({n, d}, 1), beta = normals({d}, 2), alpha = Tensor<double>::scalar(0.5);
            const Indices y = labels(n);
            Tape<double> tape;
            const Var<double> a = tape.variable(alpha), b = tape.variable(beta);
            const Var<double> logits = matmul(tape.constant(x), b) + a;
            const Var<double> l = bernoulli_logit_lpmf(cast<double>(y), logits);
            tape.backward(l);
            const auto got = run(y, x, alpha, beta);
            BOOST_TEST(allclose(got[0], l.value(), 1e-13, 1e-13));
            BOOST_TEST(allclose(got[1], a.grad(), 1e-12, 1e-12));
            BOOST_TEST(allclose(got[2], b.grad(), 1e-12, 1e-12));
            const auto small = run(y, cast<float>(x), cast<float>(alpha), cast<float>(beta));
            BOOST_TEST(allclose(cast<double>(small[0]), got[0], 1e-5, 1e-5));
            BOOST_TEST(allclose(cast<double>(small[2]), got[2], 1e-5, 2e-5));
        }
    Tape<double> tape;
    BOOST_TEST(
        run(Indices::zeros({0}), Tensor<double>::zeros({0, 2}), Tensor<double>{1}, Tensor<double>{1, 2})[0].item() ==
        0);
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto a, auto b) {
        using T = RealOf<decltype(a)>;
        return bernoulli_logit_glm_lpmf(labels(37), cast<T>(normals({37, 6}, 1)), a, b);
    };
    check_gradients(f, normals({}, 2), normals({6}, 3));
    check_gradients(
        [](auto a) {
            using T = RealOf<decltype(a)>;
            return bernoulli_logit_glm_lpmf(labels(5), cast<T>(normals({5, 1}, 1)), a, a);
        },
        normals({1}, 2));
}

// One of the two may be a constant; x and y need not outlive the call.
BOOST_AUTO_TEST_CASE(constants) {
    const Tensor<double> x = normals({9, 4}, 1), beta = normals({4}, 2);
    const auto all = run(labels(9), x, Tensor<double>::scalar(0.25), beta);
    Tape<double> tape;
    const Var<double> b = tape.variable(beta), a = tape.variable(Tensor<double>::scalar(0.25));
    const Var<double> l = bernoulli_logit_glm_lpmf(labels(9), normals({9, 4}, 1), 0.25, b);
    const Var<double> m = bernoulli_logit_glm_lpmf(labels(9), normals({9, 4}, 1), a, beta);
    tape.backward(l);
    tape.backward(m);
    BOOST_TEST((l.value() == all[0]));
    BOOST_TEST((m.value() == all[0]));
    BOOST_TEST((a.grad() == all[1]));
    BOOST_TEST((b.grad() == all[2]));
}

// Long sums are cut by their shape: the bits do not depend on the number of threads.
BOOST_AUTO_TEST_CASE(threads) {
    const Tensor<double> x = normals({20'000, 13}, 1), beta = normals({13}, 2), alpha = Tensor<double>::scalar(0.5);
    const Indices y = labels(20'000);
    const auto want = run(y, x, alpha, beta);
    long double sum = 0;
    for (std::int64_t i = 0; i < 20'000; ++i) {
        long double logit = 0.5;
        for (std::int64_t j = 0; j < 13; ++j) logit += static_cast<long double>(x(i, j)) * beta(j);
        sum -= std::log1p(std::exp(y(i) == 1 ? -logit : logit));
    }
    BOOST_TEST(want[0].item() == static_cast<double>(sum), boost::test_tools::tolerance(1e-13));
    for (int count : {1, 2, 8})
        with_threads(count, [&] {
            const auto got = run(y, x, alpha, beta);
            for (std::size_t k = 0; k < 3; ++k) BOOST_TEST((got[k] == want[k]));
        });
}

BOOST_AUTO_TEST_CASE(errors) {
    const Tensor<double> x = normals({3, 2}, 1), alpha = Tensor<double>::scalar(0), beta{1, 2};
    const auto shapes = [](auto&&... args) { return error_of<ShapeError>([&] { run(args...); }); };
    const std::string op = "bernoulli_logit_glm_lpmf: ";
    BOOST_TEST(shapes(Indices{0, 1}, Tensor<double>{1, 2}, alpha, beta) == op + "x has shape (2); a matrix is needed");
    BOOST_TEST(shapes(Indices{0, 1}, x, alpha, beta) == op + "y has shape (2) and x (3, 2); y needs shape (3)");
    BOOST_TEST(shapes(Indices{0, 1, 0}, x, beta, beta) == op + "alpha has shape (2); one number is needed");
    BOOST_TEST(shapes(Indices{0, 1, 0}, x, alpha, alpha) ==
               op + "beta has shape () and x (3, 2); beta needs shape (2)");
    BOOST_TEST(error_of<ValueError>([&] {
                   run(Indices{0, 2, 0}, x, alpha, beta);
               }) == op + "y is 2 at element 1; it must be 0 or 1");
    BOOST_TEST(error_of<ValueError>([&] {
                   run(Tensor<double>{0, 1, 0.5}, x, alpha, beta);
               }) == op + "y is 0.5 at element 2; it must be 0 or 1");
    BOOST_TEST(error_of<TapeError>([&] {
                   bernoulli_logit_glm_lpmf(Indices{0, 1, 0}, x, 1, beta);
               }) == op + "no argument is a Var, so there is no tape; log_prob_each works on tensors alone");
}

// All products underflow to -0. The sum of the last column, which does not fill all lanes, begins at +0.
BOOST_AUTO_TEST_CASE(signs_of_zeros_do_not_depend_on_the_width_of_vectors) {
    Tape<float> tape;
    const Var<float> alpha = tape.variable(Tensor<float>::scalar(-40)),
                     beta = tape.variable(Tensor<float>::zeros({17}));
    tape.backward(bernoulli_logit_glm_lpmf(Indices::zeros({8}), Tensor<float>::full({8, 17}, 1e-30f), alpha, beta));
    const Tensor<float> gradient = beta.grad();
    for (std::int64_t j = 0; j < 17; ++j) BOOST_TEST(std::signbit(gradient(j)) == (j < 16), "column " << j);
}

BOOST_AUTO_TEST_SUITE_END()
