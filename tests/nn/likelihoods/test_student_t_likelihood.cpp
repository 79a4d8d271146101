#include "likelihood_checks.hpp"

#include <pollen/nn/likelihoods/student_t.hpp>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

BOOST_AUTO_TEST_SUITE(student_t)

namespace {

const Tensor<double> centres{0.5, -1.25, 2.0, -0.75, 3.0};
const Tensor<double> targets{0.25, -2.0, 2.5, 1.0, 3.0};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    struct Case {
        double nu, scale, expected;
    };
    // SciPy: t.logpdf(y, nu, centre, scale); the last one mpmath, 40 digits.
    for (const auto& [nu, scale, expected] :
         {Case{4, 0.5, -6.7680449207962043}, Case{1, 2, -9.9655952335405154}, Case{2.5, 1.75, -8.6646284663898765},
          Case{1e10, 1, -6.5634426661011958}}) {
        const Dataset<double> batch = with_targets<double>(targets);
        BOOST_TEST(log_prob(StudentT<double>::known(nu, scale), centres, batch).value == expected,
                   tt::tolerance(1e-13));
        BOOST_TEST(log_prob(StudentT<float>::known(nu, scale), centres, with_targets<float>(targets)).value ==
                       static_cast<float>(expected),
                   tt::tolerance(2e-6f));
        StudentT<double> learned = StudentT<double>::learned(nu, scale);
        initialise<double>(learned, 1);
        BOOST_TEST(log_prob(learned, centres.reshaped({5, 1}), batch).value == expected, tt::tolerance(1e-13));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto batch = []<class T>() { return with_targets<T>(targets); };
    check_log_prob_gradients([]<class T>() { return StudentT<T>::known(4, 0.5); }, batch, centres);
    check_parameter_slope([]<class T>() { return StudentT<T>::learned(2.5); }, batch, centres, -0.25);
}

BOOST_AUTO_TEST_CASE(parameter) {
    StudentT<double> learned = StudentT<double>::learned(3, 0.5);
    initialise<double>(learned, 1);
    const Parameters<double> parameters(learned);
    BOOST_REQUIRE(parameters.count() == 1u);
    BOOST_TEST(parameters.entries()[0].name == "log_scale");
    BOOST_TEST(learned.log_scale.value.item() == std::log(0.5));
    BOOST_TEST(Parameters<double>(StudentT<double>::known(3)).count() == 0u);
}

BOOST_AUTO_TEST_CASE(extremes) {
    // z = 1e30, whose square is no float; mpmath, 40 digits. The slope is -(nu + 1) / z.
    const auto far = log_prob(StudentT<float>::known(3), {1e30}, with_targets<float>({0}));
    BOOST_TEST(far.value == -275.113875f, tt::tolerance(1e-6f));
    BOOST_TEST(far.slope.item() == -4e-30f, tt::tolerance(1e-6f));
    BOOST_TEST(log_prob(StudentT<double>::known(3), {1e30}, with_targets<double>({0})).value == -275.11387543157275,
               tt::tolerance(1e-15));
    StudentT<float> learned = StudentT<float>::learned(3);
    initialise<float>(learned, 1);
    BOOST_TEST(log_prob(learned, {1e30}, with_targets<float>({0})).parameters[0].item() == 3.0f);  // nu
    // At the centre both slopes are those of a flat top.
    const auto centre = log_prob(learned, {7}, with_targets<float>({7}));
    BOOST_TEST(centre.slope.item() == 0.0f);
    BOOST_TEST(centre.parameters[0].item() == -1.0f);
}

BOOST_AUTO_TEST_CASE(nothing) {
    BOOST_TEST(log_prob(StudentT<double>::known(3), Tensor<double>(), {}).value == 0.0);
    BOOST_TEST(StudentT<double>::known(3).score(Tensor<double>::zeros({0, 2}), {}) == 0.0);
}

BOOST_AUTO_TEST_CASE(score) {
    const auto likelihood = StudentT<double>::known(4, 0.5);
    BOOST_TEST(likelihood.score(Tensor<double>{1, 2}, with_targets<double>({3, 5})) == 13.0);
    BOOST_TEST(likelihood.finish(18, 2) == 3.0);
    BOOST_TEST(likelihood.score_name() == "rmse");
    BOOST_TEST(!likelihood.higher_is_better());
    BOOST_TEST(likelihood.describe() == "StudentT(4, scale 0.5)");
    BOOST_TEST(StudentT<double>::learned(4).clone()->describe() == "StudentT(4, learned scale)");
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto likelihood = StudentT<double>::known(4);
    BOOST_TEST(error_of<ValueError>([] { StudentT<double>::known(0); }) ==
               "StudentT: nu is 0; a finite number above 0 is needed");
    BOOST_TEST(error_of<ValueError>([] { StudentT<double>::known(3, -1); }) ==
               "StudentT: scale is -1; a finite number above 0 is needed");
    BOOST_TEST(error_of<ValueError>([] { StudentT<double>::learned(3, INFINITY); }) ==
               "StudentT: initial_scale is inf; a finite number above 0 is needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, {1, 2}, with_targets<double>({1, 2, 3})) ==
               "StudentT: outputs have shape (2), targets (3); targets of shape (2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, {1, 2}, Dataset<double>()) ==
               "StudentT: outputs have shape (2) and there are no targets; targets of shape (2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, Tensor<double>::scalar(1), with_targets<double>({1})) ==
               "StudentT: outputs have shape (); their first axis must count the items");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, {1, 2}, with_targets<double>({NAN, 2})) ==
               "StudentT: the target of item 0 is nan; finite numbers are needed");
}

BOOST_AUTO_TEST_SUITE_END()
