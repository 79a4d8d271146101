#include "checks.hpp"

#include <pollen/nn/distributions.hpp>

using namespace pollen;
using namespace pollen::test;
using namespace pollen::distributions;

namespace {

// A hundred thousand draws in float against the distribution function in double. Eleven laws with a false-alarm rate of
// 1.3e-4 each.
template <template <class> class Law, class... Parameter>
void check_float_draws(Parameter... parameter) {
    const Law<float> law(static_cast<float>(parameter)...);
    check_distance(cast<double>(law.sample({100'000}, {.seed = 3})), Law<double>(parameter...));
}

// log p and its slopes in float against those in double at the same numbers: to 1e-5 of the value, or of 1 where terms
// cancel. Where double has more than a float can hold, nothing is compared.
template <template <class> class Law, std::size_t n>
void check_float(std::span<const Row> rows) {
    const auto size = static_cast<std::int64_t>(rows.size());
    std::array<Tensor<float>, n + 1> columns;
    for (std::size_t k = 0; k <= n; ++k) {
        columns[k] = Tensor<float>::zeros({size});
        for (std::size_t i = 0; i < rows.size(); ++i)
            columns[k].mutable_data()[i] = static_cast<float>(k == 0 ? rows[i].x : rows[i].p[k - 1]);
    }
    const auto evaluate = [&]<class T>(T) {
        Tape<T> tape;
        std::array<Var<T>, n + 1> v;
        for (std::size_t k = 0; k <= n; ++k) v[k] = tape.variable(cast<T>(columns[k]));
        const Law<T> law = [&]<std::size_t... k>(std::index_sequence<k...>) { return Law<T>(v[k + 1]...); }
        (std::make_index_sequence<n>());
        tape.backward(law.log_prob(v[0]));
        std::vector<Tensor<double>> out{cast<double>(law.log_prob_each(v[0].value()))};
        for (const Var<T>& x : v) out.push_back(cast<double>(x.grad()));
        return out;
    };
    const auto got = evaluate(float{}), want = evaluate(double{});
    for (std::size_t k = 0; k < got.size(); ++k)
        for (std::int64_t i = 0; i < size; ++i)
            if (std::abs(want[k].data()[i]) < 1e36)
                check_near(k == 0 ? "log_prob in float" : "its slope in float", rows[static_cast<std::size_t>(i)],
                           got[k].data()[i], want[k].data()[i], 1e-5, 1e-5);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float_distributions)

BOOST_AUTO_TEST_CASE(values) {
    check_float<Normal, 2>(normal_rows);
    check_float<Cauchy, 2>(cauchy_rows);
    check_float<HalfCauchy, 1>(half_cauchy_rows);
    check_float<HalfNormal, 1>(half_normal_rows);
    check_float<Exponential, 1>(exponential_rows);
    check_float<Laplace, 2>(laplace_rows);
    check_float<LogNormal, 2>(log_normal_rows);
    check_float<Gamma, 2>(gamma_rows);
    check_float<Beta, 2>(beta_rows);
    check_float<Uniform, 2>(uniform_rows);
    check_float<StudentT, 3>(student_t_rows);
    check_float<distributions::Bernoulli, 1>(bernoulli_rows);
    check_float<distributions::Poisson, 1>(poisson_rows);
}

BOOST_AUTO_TEST_CASE(draws) {
    check_float_draws<Normal>(-1, 2);
    check_float_draws<Cauchy>(-1, 2);
    check_float_draws<HalfCauchy>(2);
    check_float_draws<HalfNormal>(2);
    check_float_draws<Exponential>(2);
    check_float_draws<Laplace>(-1, 2);
    check_float_draws<LogNormal>(-1, 0.5);
    check_float_draws<Gamma>(0.75, 2);
    check_float_draws<Beta>(0.75, 2);
    check_float_draws<Uniform>(-1, 2);
    check_float_draws<StudentT>(3, -1, 2);
}

BOOST_AUTO_TEST_SUITE_END()
