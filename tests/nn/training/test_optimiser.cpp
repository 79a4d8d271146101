#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/training/optimisers.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(optimiser)

namespace {

// Six steps on f(theta) = sum c theta^2 / 2, of numbers that stand `offset` places from the beginning of a batch.
template <class T>
std::vector<T> six_steps(const Optimiser& rule, double decay = 0, std::size_t offset = 0) {
    const std::vector<T> c{0.5, 1, 2, 4, -1}, start{1, -2, 0.5, 3, 0.25};
    const std::size_t n = offset + 5;
    std::vector<T> theta(n), gradient(n), m0(n), m1(n);
    std::copy(start.begin(), start.end(), theta.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::int64_t step = 0; step < 6; ++step) {
        for (std::size_t i = 0; i < 5; ++i) gradient[offset + i] = c[i] * theta[offset + i];
        rule.update<T>({.rate = rule.rate(step), .step = step, .decay = decay},
                       {theta.data(), gradient.data(), {m0.data(), m1.data()}, static_cast<std::int64_t>(n)});
    }
    return {theta.end() - 5, theta.end()};
}

void check(const Optimiser& rule, const std::vector<double>& expected, double decay = 0) {
    const std::vector<double> got = six_steps<double>(rule, decay);
    const std::vector<float> got_float = six_steps<float>(rule, decay);
    for (std::size_t i = 0; i < 5; ++i) {
        BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-13, rule.describe() << " " << got[i] << " " << expected[i]);
        BOOST_TEST(std::abs(static_cast<double>(got_float[i]) - expected[i]) < 1e-5);
    }
    for (const std::size_t offset : {1, 3, 8, 16, 29}) BOOST_TEST((six_steps<float>(rule, decay, offset) == got_float));
}

}  // namespace

// Reference values by torch_optimisers.py.
BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check(Sgd{.rate = 0.1},
          {0.73509189062500002, -1.0628820000000001, 0.13107200000000002, 0.13996799999999995, 0.44289025000000004});
    check(Sgd{.rate = 0.1},
          {0.62639804907226571, -0.89759063720703125, 0.10833785168457029, 0.10842472338867185, 0.38582538140869138},
          0.25);
    check(Momentum{.rate = 0.1, .momentum = 0.9},
          {0.24857410937499996, 0.51321599999999989, -0.354487, -1.0934999999999995, 0.86425000000000007});
    check(Momentum{.rate = 0.1, .momentum = 0.9, .form = Momentum::Form::nesterov},
          {0.16487661617157801, 0.50976777313800015, -0.199009067008, 0.002399891328000153, 1.18252728308275});
    check(RmsProp{.rate = 0.1, .alpha = 0.9},
          {0.14429609720215369, -0.94145049845014406, 0.00052532309221821664, 1.8843142895276723, 1.7805610211933043});
    check(Adam{.rate = 0.1, .beta1 = 0.8, .beta2 = 0.95},
          {0.41984745735824014, -1.4076266076035255, -0.033117934266595872, 2.4046666530941798, 0.85841555436385031});
    check(Adam{.rate = 0.1, .beta1 = 0.8, .beta2 = 0.95},
          {0.4198474531419365, -1.4076266069798093, -0.033117934864558732, 2.4046666530639413, 0.85841554892954519},
          0.25);
    check(AdamW{.rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.125},
          {0.36869202537073897, -1.2828639122758216, -0.045614187143558041, 2.2069627072944247, 0.8219240222034957});
}

// p = (1 - b) p - b g and theta += rate p: classic momentum with v = -p / b and a rate b times as large.
BOOST_AUTO_TEST_CASE(averaged_momentum_is_classic_momentum_at_another_rate) {
    const auto averaged = six_steps<double>(Momentum{.rate = 1, .momentum = 0.75, .form = Momentum::Form::averaged});
    const auto classic = six_steps<double>(Momentum{.rate = 0.25, .momentum = 0.75});
    for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(std::abs(averaged[i] - classic[i]) < 1e-14);
}

BOOST_AUTO_TEST_CASE(clipping_scales_the_gradient_but_not_the_prior) {
    double theta[] = {2, -4};
    const double gradient[] = {1, 3};
    const Optimiser rule = Sgd{.rate = 0.5};
    rule.update<double>({.rate = 0.5, .decay = 0.25, .scale = 0.1}, {theta, gradient, {}, 2});
    BOOST_TEST(std::abs(theta[0] - (2 - 0.5 * (0.1 * 1 + 0.25 * 2))) < 1e-15);
    BOOST_TEST(std::abs(theta[1] - (-4 - 0.5 * (0.1 * 3 - 0.25 * 4))) < 1e-15);
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const std::int64_t n = 200003;
    const Tensor<float> start = cast<float>(normals({n}, 1)), g = cast<float>(normals({n}, 2));
    const auto run = [&](int threads) {
        Tensor<float> theta = start, m = Tensor<float>::zeros({n}), v = m;
        const Optimiser rule = Adam{};
        with_threads(threads, [&] {
            for (std::int64_t step = 0; step < 3; ++step)
                rule.update<float>({.rate = 0.1, .step = step},
                                   {theta.mutable_data(), g.data(), {m.mutable_data(), v.mutable_data()}, n});
        });
        return theta;
    };
    const Tensor<float> one = run(1);
    for (const int threads : {2, 4, 8}) BOOST_TEST((run(threads) == one));
}

BOOST_AUTO_TEST_CASE(descriptions) {
    BOOST_TEST(Optimiser(Sgd{.rate = Schedule::cosine(0.1, 10)}).describe() == "Sgd(rate cosine(0.1, 10, 0))");
    BOOST_TEST(Optimiser(Momentum{.form = Momentum::Form::averaged}).describe() ==
               "Momentum(rate 0.01, momentum 0.9, averaged)");
    BOOST_TEST(Optimiser(Adam{}).describe() == "Adam(rate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-08)");
    BOOST_TEST(Optimiser(Adam{}).memories() == 2);
    BOOST_TEST(Optimiser(Sgd{}).memories() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
