#include "minibatch_checks.hpp"

#include <pollen/samplers/minibatch/constant_sgd.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

using Form = ConstantSgd::Form;

Matrix step_of(Form form, const Matrix& v, double t) {
    const std::size_t d = v.size();
    if (form == Form::full) return inverse(v, 4 * t);
    Matrix e = matrix(d, 4 * t * static_cast<double>(d) / trace(v));
    if (form == Form::diagonal)
        for (std::size_t i = 0; i < d; ++i) e[i][i] = 4 * t / v[i][i];
    return e;
}

// S = M S M' + E V E' / 4,  M = I - E L / 2
Matrix law_of(const Matrix& e, const Matrix& l, const Matrix& v) {
    const Matrix noise = times_transposed(times(e, v), e, 0.25);
    return lyapunov(sum(matrix(l.size(), 1), times(e, l), -0.5), noise);
}

std::vector<double> flat(const Matrix& m) {
    std::vector<double> all;
    for (const auto& row : m) all.insert(all.end(), row.begin(), row.end());
    return all;
}

// How far L S is from T I, at most, in units of T.
double distance(const Matrix& l, const Matrix& s, double t) {
    double most = 0;
    for (const double x : flat(sum(times(l, s), matrix(l.size(), t), -1))) most = std::max(most, std::abs(x) / t);
    return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constant_sgd)

// The three forms against their closed-form covariances, where curvature and noise do not commute, so that each of them
// differs from the others. |z| > 5 comes once in 1.7 million times, 55 entries and six cases: a false alarm in one of
// 5,000 tests.
BOOST_AUTO_TEST_CASE(exact_laws) {
    const Matrix l = ten_dimensions();
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> potential(l, 0.5 * std::sqrt(t), 50, t);
        const Matrix v = potential.noise(5);
        std::vector<Matrix> laws;
        for (const Form form : {Form::scalar, Form::diagonal, Form::full})
            laws.push_back(law_of(step_of(form, v, t), l, v));
        for (std::size_t k = 0; k < 3; ++k) {
            const ConstantSgd sampler{.batch = 5, .form = Form(k), .noise = flat(v)};
            const Moments got = moments(sampler, potential, laws[k], 50000, 6, 1, 2000);
            BOOST_TEST(got.worst < 5);
            BOOST_TEST(std::abs(got.configurational - temperature_of(l, laws[k])) < 5 * got.configurational_error);
            for (std::size_t j = 0; j < 3; ++j)
                if (j != k) BOOST_TEST(moments(sampler, potential, laws[j], 10000, 6, 1, 1000).worst > 6);
        }
    }
}

// With more noise the steps are smaller, and the whole matrix gives T L^-1, the posterior; the other two do not.
BOOST_AUTO_TEST_CASE(nearest_to_the_posterior) {
    const Matrix l = ten_dimensions(), v = NoisyGaussian<double>(l, 5).noise(5);
    const auto distance_of = [&](Form form) { return distance(l, law_of(step_of(form, v, 1), l, v), 1); };
    BOOST_TEST(distance_of(Form::full) < 0.01);
    BOOST_TEST(distance_of(Form::diagonal) > 0.2);
    BOOST_TEST(distance_of(Form::scalar) > 0.2);
}

BOOST_AUTO_TEST_CASE(one_dimension_and_float) {
    const auto check = []<Real T>(const NoisyGaussian<T>& potential) {
        const Matrix v = potential.noise(5);
        const Matrix law = law_of(step_of(Form::scalar, v, potential.temperature()), {{2}}, v);
        for (const Form form : {Form::scalar, Form::diagonal, Form::full}) {
            const ConstantSgd sampler{.batch = 5, .form = form, .noise = v[0][0]};
            BOOST_TEST(moments(sampler, potential, law, 40000, 4).worst < 5);
        }
    };
    for (const double t : {1.0, 0.1}) check(NoisyGaussian<double>(one_dimension(2), 0.4 * std::sqrt(t), 50, t));
    check(NoisyGaussian<float>(one_dimension(2), 0.3, 50, 0.5));
}

// What the warm-up makes of 2,000 pairs of batches: steps within five standard errors, sqrt(2 / 2000) for a variance,
// and the law that belongs to the estimated step.
BOOST_AUTO_TEST_CASE(estimated_noise) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.5);
    const Matrix v = potential.noise(5);
    for (const Form form : {Form::scalar, Form::diagonal, Form::full}) {
        const ConstantSgd sampler{.batch = 5, .form = form};
        const auto chain =
            sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10, 0.5), test_seed(5), 1, 4000});
        for (int t = 0; t < 4000; ++t) chain->step();
        Saved saved;
        chain->visit(saved);
        Matrix e = matrix(10, saved.numbers.at("step_size"));
        BOOST_TEST(std::abs(e[0][0] / step_of(Form::scalar, v, 1)[0][0] - 1) < 5 * std::sqrt(2 / 2000.0));
        if (form == Form::diagonal)
            for (std::size_t i = 0; i < 10; ++i) {
                e[i][i] = saved.doubles.at("steps_diagonal")[i];
                BOOST_TEST(std::abs(e[i][i] / step_of(form, v, 1)[i][i] - 1) < 5 * std::sqrt(2 / 2000.0));
            }
        if (form == Form::full) {
            Matrix factor = matrix(10);
            for (std::size_t i = 0; i < 10; ++i)
                for (std::size_t j = 0; j <= i; ++j) factor[i][j] = saved.doubles.at("noise_factor")[i * 10 + j];
            const Matrix estimate = times_transposed(factor, factor);
            for (std::size_t i = 0; i < 10; ++i)
                for (std::size_t j = 0; j < 10; ++j)
                    BOOST_TEST(std::abs(estimate[i][j] - v[i][j]) < 5 * std::sqrt(2 * v[i][i] * v[j][j] / 2000));
            e = inverse(estimate, 4);
        }
        BOOST_TEST(moments(sampler, potential, law_of(e, ten_dimensions(), v), 30000, 6, 1, 4000).worst < 5);
    }
}

// Of 4 items there are 6 batches of 2, and the two of a pair are often the same one: a trace of 0 says nothing then.
BOOST_AUTO_TEST_CASE(few_items) {
    const NoisyGaussian<double> potential(one_dimension(1), 2, 4);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto chain = ConstantSgd{.batch = 2}.begin(potential.clone(), ChainStart<double>{{0.5}, seed, 0, 40});
        for (int t = 0; t < 60; ++t) BOOST_TEST_REQUIRE(chain->step().step_size > 0);
    }
}

// The second half of a warm-up forgets the first one, even where its first step does not move.
BOOST_AUTO_TEST_CASE(second_half) {
    // At the start one evaluation and ten pairs; then two in each step, and that of the sixth, the 22nd, is infinite.
    const Spoilt<double> spoilt(NoisyGaussian<double>(one_dimension(1), 0.1),
                                [](std::int64_t t, std::span<const double>, Energy& energy, std::span<double>) {
                                    if (t == 22) energy.prior = std::numeric_limits<double>::infinity();
                                });
    const auto chain = ConstantSgd{.batch = 5}.begin(spoilt.clone(), ChainStart<double>{{0.5}, 1, 0, 10});
    std::vector<std::int64_t> counts;
    for (int t = 1; t <= 10; ++t) {
        BOOST_TEST(chain->step().invalid == (t == 6));
        Saved saved;
        chain->visit(saved);
        counts.push_back(saved.integers.at("noise_count"));
    }
    BOOST_TEST((counts == std::vector<std::int64_t>{11, 12, 13, 14, 15, 0, 1, 2, 3, 0}));
}

BOOST_AUTO_TEST_CASE(invalid_points) { check_invalid_gradient(ConstantSgd{.batch = 5, .noise = 10.0}); }

BOOST_AUTO_TEST_CASE(resume) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.5);
    const NoisyGaussian<float> in_float(ten_dimensions(), 0.5);
    for (const Form form : {Form::scalar, Form::diagonal, Form::full}) {
        check_resume(ConstantSgd{.batch = 5, .form = form}, potential, 40, 50);
        check_resume(ConstantSgd{.batch = 5, .form = form}, in_float, 40, 50);
    }
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("ConstantSgd", ConstantSgd{.batch = 5});
    const NoisyGaussian<double> potential(ten_dimensions(), 0.3), cold(ten_dimensions(), 0.3, 50, 0);
    const NoisyGaussian<double> quiet(ten_dimensions(), 0);
    const auto error = [](const NoisyGaussian<double>& u, const ConstantSgd& sampler, std::int64_t warmup = 0) {
        return error_of<Error>([&] {
            const auto chain = sampler.begin(u.clone(), ChainStart<double>{std::vector<double>(10), 8, 0, warmup});
            for (std::int64_t t = 0; t < warmup; ++t) chain->step();
        });
    };
    BOOST_TEST(error(potential, {}) == "ConstantSgd: batch is 0, all items; its only noise is that of smaller batches");
    BOOST_TEST(error(potential, {.batch = 50}) ==
               "ConstantSgd: batch is 50, all items; its only noise is that of smaller batches");
    BOOST_TEST(error(cold, {.batch = 5}) == "ConstantSgd: the temperature is 0; it must be positive");
    BOOST_TEST(error(potential, {.batch = 5}) ==
               "ConstantSgd: the noise is to be estimated in the warm-up, but the warm-up has no steps");
    BOOST_TEST(error(quiet, {.batch = 5}, 5) == "ConstantSgd: the trace of the noise is 0; it must be positive");
    BOOST_TEST(error(potential, {.batch = 5, .noise = std::vector<double>{1, 2}}) ==
               "ConstantSgd: noise has 2 numbers; 1, 10 or 10 x 10 are expected");
    std::vector<double> lopsided = flat(matrix(10, 1));
    lopsided[12] = 0.5;
    BOOST_TEST(error(potential, {.batch = 5, .form = Form::full, .noise = lopsided}) ==
               "ConstantSgd: noise[2, 1] is 0, but noise[1, 2] is 0.5; it must be symmetric");
    std::vector<double> holes(10, 1.0);
    holes[3] = 0;
    BOOST_TEST(error(potential, {.batch = 5, .form = Form::diagonal, .noise = holes}) ==
               "ConstantSgd: the noise of number 3 of theta (x) is 0; a diagonal step needs it to be positive");
    BOOST_TEST(
        error(potential, {.batch = 5, .form = Form::full}, 10) ==
        "ConstantSgd: the covariance of the noise is not positive definite, so it has no inverse; a longer warm-up "
        "(at least twice as many steps as dimensions), or the diagonal form, is needed");
    const NoisyGaussian<double> steep(one_dimension(1000), 0.1);
    BOOST_TEST(
        error_of<ValueError>([&] {
            const auto chain = ConstantSgd{.batch = 5}.begin(steep.clone(), ChainStart<double>{{1}, 8, 0, 400});
            for (int t = 0; t < 400; ++t) chain->step();
        }) ==
        "ConstantSgd: no step of the second half of the warm-up led to a finite energy; the noise of the batches "
        "is too small for the curvature");
    BOOST_TEST((ConstantSgd{.batch = 5, .form = Form::full, .noise = 2.5}.describe()) ==
               "ConstantSgd(batch = 5, form = full, noise = 2.5)");
}

BOOST_AUTO_TEST_SUITE_END()
