#include "../../support.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

namespace {

// A prior of your own, weight by weight, with a check.
struct LogisticPrior {
    double scale = 1;

    double log_prob(double w) const {
        return -std::abs(w) / scale - 2 * std::log1p(std::exp(-std::abs(w) / scale)) - std::log(scale);
    }
    double slope(double w) const { return -std::tanh(w / (2 * scale)) / scale; }
    void check() const {
        if (!(scale > 0)) throw ValueError("LogisticPrior: scale");
    }
    std::string describe() const { return "LogisticPrior"; }
};

// Log p of every weight alone and of all of them, and the slopes, are those of the distribution.
template <class T>
void check_distribution(const Prior& prior, const auto& distribution, double eps) {
    const Tensor<T> w = cast<T>(normals({1000}));
    const Tensor<T> each = distribution.log_prob_each(w);
    Tape<T> tape;
    const Var<T> x = tape.variable(w);
    const Var<T> all = distribution.log_prob(x);
    tape.backward(all);
    std::vector<T> slopes(1000), descent(1000);
    prior.slopes(w.data(), 1000, slopes.data());
    for (std::size_t i = 0; i < 1000; ++i) {
        const auto k = static_cast<std::int64_t>(i);
        BOOST_TEST_REQUIRE(std::abs(prior.log_prob(w.data() + k, 1) - static_cast<double>(each(k))) <
                           eps * (1 + std::abs(static_cast<double>(each(k)))));
        BOOST_TEST_REQUIRE(std::abs(static_cast<double>(slopes[i] - x.grad()(k))) <=
                           eps * std::abs(static_cast<double>(slopes[i])));
    }
    BOOST_TEST(prior.log_prob(w.data(), 1000) == static_cast<double>(all.item()), tt::tolerance(eps));
    // In one pass, the same bits.
    for (const std::int64_t n : {0, 1, 5, 37, 64, 1000}) {
        BOOST_TEST(prior.descent(w.data(), n, descent.data()) == prior.log_prob(w.data(), n));
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) BOOST_TEST_REQUIRE(descent[i] == -slopes[i]);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(priors)

BOOST_AUTO_TEST_CASE(a_prior_is_its_distribution) {
    check_distribution<double>(GaussianPrior{0.3}, distributions::Normal<double>(0, 0.3), 1e-14);
    check_distribution<double>(LaplacePrior{0.3}, distributions::Laplace<double>(0, 0.3), 1e-14);
    check_distribution<double>(StudentTPrior{2.5, 0.3}, distributions::StudentT<double>(2.5, 0, 0.3), 1e-14);
    check_distribution<double>(StudentTPrior{1e6, 20}, distributions::StudentT<double>(1e6, 0, 20), 1e-12);
    check_distribution<float>(GaussianPrior{0.3}, distributions::Normal<float>(0, 0.3), 1e-6);
    check_distribution<float>(LaplacePrior{0.3}, distributions::Laplace<float>(0, 0.3), 1e-6);
    check_distribution<float>(StudentTPrior{2.5, 0.3}, distributions::StudentT<float>(2.5, 0, 0.3), 1e-6);
}

// Terms that all weights share are added in double: no digits of small weights are lost beside them.
BOOST_AUTO_TEST_CASE(small_weights_under_a_wide_prior) {
    const std::vector<float> w(1024, 1e-3f);
    const double expected = -512 * 1e-10 - 1024 * (std::log(100.0) + 0.91893853320467274178);
    BOOST_TEST(Prior(GaussianPrior{100}).log_prob(w.data(), 1024) == expected, tt::tolerance(1e-15));
}

// A float weight whose square is no float.
BOOST_AUTO_TEST_CASE(far_out) {
    const float w = 1e30f;
    float slope = 0;
    const Prior prior = StudentTPrior{3, 1};
    BOOST_TEST(prior.log_prob(&w, 1) == -275.11387543157275, tt::tolerance(1e-6));
    prior.slopes(&w, 1, &slope);
    BOOST_TEST(slope == -4e-30f, tt::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(flat) {
    const Prior prior = FlatPrior{};
    const double w[] = {-1e300, 0, 5};
    double slopes[] = {1, 1, 1};
    BOOST_TEST(prior.log_prob(w, 3) == 0.0);
    BOOST_TEST(prior.descent(w, 3, slopes) == 0.0);
    for (const double slope : slopes) BOOST_TEST(slope == 0.0);
    BOOST_TEST(!prior.gaussian_sd());
    BOOST_TEST(prior.describe() == "FlatPrior");
}

BOOST_AUTO_TEST_CASE(a_prior_of_ones_own) {
    const LogisticPrior law{2};
    const Prior prior = law;
    const float w[] = {-1.5f, 0, 4};
    float slopes[3], descent[3];
    BOOST_TEST(prior.log_prob(w, 3) == law.log_prob(-1.5) + law.log_prob(0) + law.log_prob(4));
    prior.slopes(w, 3, slopes);
    BOOST_TEST(prior.descent(w, 3, descent) == prior.log_prob(w, 3));
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(slopes[i] == static_cast<float>(law.slope(static_cast<double>(w[i]))));
        BOOST_TEST(descent[i] == -slopes[i]);
    }
}

BOOST_AUTO_TEST_CASE(not_ready) {
    const double w = 1;
    double slope = 0;
    const Prior fan_in = FanInPrior{2}, tau = HierarchicalPrior{3};
    const std::string early = "FanInPrior(scale 2) is not the prior of a tensor yet: for_fans() makes it one";
    BOOST_TEST(error_of<ValueError>([&] { fan_in.log_prob(&w, 1); }) == early);
    BOOST_TEST(error_of<ValueError>([&] { fan_in.slopes(&w, 1, &slope); }) == early);
    BOOST_TEST(error_of<ValueError>([&] { tau.log_prob(&w, 1); }) ==
               "HierarchicalPrior(scale 3) has no density of the weights alone: Bayes learns its tau with them");
}

BOOST_AUTO_TEST_CASE(widths) {
    const auto why = [](auto prior) { return error_of<ValueError>([&] { Prior p = prior; }); };
    BOOST_TEST(why(GaussianPrior{1e-20}) == "GaussianPrior(sd 1e-20): sd must be at least 1e-19");
    BOOST_TEST(why(GaussianPrior{1e-19}) == "");
    BOOST_TEST(why(GaussianPrior{INFINITY}) == "GaussianPrior(sd inf): sd must be positive and finite");
    BOOST_TEST(why(FanInPrior{0}) == "FanInPrior(scale 0): scale must be positive and finite");
    BOOST_TEST(why(LaplacePrior{1e-30}) == "LaplacePrior(scale 1e-30): scale must be at least 1e-19");
    BOOST_TEST(why(StudentTPrior{0, 1}) == "StudentTPrior(nu 0, scale 1): nu must be positive and finite");
    BOOST_TEST(why(ScaleMixturePrior{0.5, 1, 1e-20}) ==
               "ScaleMixturePrior(pi 0.5, sd1 1, sd2 1e-20): sd2 must be at least 1e-19");
    BOOST_TEST(why(ScaleMixturePrior{1}).starts_with("ScaleMixturePrior(pi 1, sd1 1, sd2 0.00247875"));
    BOOST_TEST(why(HierarchicalPrior{-1}) == "HierarchicalPrior(scale -1): scale must be positive and finite");
    BOOST_TEST(why(LogisticPrior{0}) == "LogisticPrior: scale");
    BOOST_TEST(why(LogisticPrior{1}) == "");
    // The narrowest has slopes that are numbers.
    const float w = 0.5f;
    float slope = 0;
    Prior(GaussianPrior{least_prior_width}).slopes(&w, 1, &slope);
    BOOST_TEST(std::isfinite(slope));
}

BOOST_AUTO_TEST_CASE(fan_in_prior) {
    const Prior prior = Prior(FanInPrior{3}).for_fans({.in = 4, .out = 100});
    BOOST_TEST(*prior.gaussian_sd() == 1.5);
    BOOST_TEST(!Prior(FanInPrior{3}).gaussian_sd());
    const double w = 0.7, precision = 1 / 2.25;
    double slope = 0;
    prior.slopes(&w, 1, &slope);
    BOOST_TEST(slope == -0.7 * precision, tt::tolerance(1e-15));
    BOOST_TEST(prior.log_prob(&w, 1) == -0.5 * 0.49 * precision - std::log(1.5) - 0.91893853320467274178,
               tt::tolerance(1e-14));
    // By the layers' own fans
    const BayesDense<double> dense(9, 2, {.prior = FanInPrior{3}});
    BOOST_TEST(*dense.weights()[0].prior.gaussian_sd() == 1.0);
    const BayesConv2d<double> conv(4, 2, {3, 3}, {.prior = FanInPrior{3}});
    BOOST_TEST(*conv.weights()[0].prior.gaussian_sd() == 0.5);
}

BOOST_AUTO_TEST_CASE(hierarchical) {
    const HierarchicalPrior prior{3};
    const Tensor<double> weights{0.5, -1, 2};
    const double log_tau = 0.4, tau = std::exp(log_tau), pi = 3.14159265358979323846;
    Tape<double> tape;
    const double value = prior.log_prob(tape.variable(weights), tape.variable(Tensor<double>::scalar(log_tau))).item();
    double expected = std::log(2 / (pi * 3)) - std::log1p(tau * tau / 9) + log_tau;
    for (const double w : weights) expected += -0.5 * w * w / (tau * tau) - log_tau - 0.5 * std::log(2 * pi);
    BOOST_TEST(value == expected, tt::tolerance(1e-14));
    check_gradients([&]<class T>(Var<T> w, Var<T> l) { return prior.log_prob(w, l); }, weights,
                    Tensor<double>::scalar(log_tau));
}

BOOST_AUTO_TEST_SUITE_END()
