#include "../support.hpp"

using namespace pollen;
using namespace pollen::test;

namespace {

// y = x^3 with the derivative given as `factor` x^2.
Var<double> cube(Var<double> x, double factor) {
    Tensor<double> y = x.value();
    for (double& v : y.mutable_values()) v = v * v * v;
    return record("cube", {x}, std::move(y), [factor](Backward<double>& b) {
        double* dx = b.accumulate(0);
        for (std::int64_t i = 0; i < b.value().size(); ++i) {
            const double v = b.input(0).data()[i];
            dx[i] += b.grad()[i] * factor * v * v;
        }
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gradcheck_)

BOOST_AUTO_TEST_CASE(a_right_op_passes) {
    const auto f = [](std::span<const Var<double>> x) { return cube(x[0], 3); };
    const GradcheckResult result = gradcheck(f, {normals({3, 4})});
    BOOST_TEST(result.ok, result.message);
    BOOST_TEST(result.worst < 1e-9);
}

BOOST_AUTO_TEST_CASE(its_broken_twin_fails) {
    const auto f = [](std::span<const Var<double>> x) { return cube(x[0], 3.001); };
    const GradcheckResult result = gradcheck(f, {normals({3, 4})});
    BOOST_TEST(!result.ok);
    BOOST_TEST(result.message.starts_with("gradcheck: input 0, direction 0: the tape gives "), result.message);
}

// Two wrong gradients that cancel along every common direction are still found.
BOOST_AUTO_TEST_CASE(errors_cannot_hide_behind_each_other) {
    const auto f = [](std::span<const Var<double>> x) {
        return record("swapped", {x[0], x[1]}, Tensor<double>::scalar(2 * x[0].item() + 3 * x[1].item()),
                      [](Backward<double>& b) {
                          b.accumulate(0)[0] += 3 * b.grad()[0];
                          b.accumulate(1)[0] += 2 * b.grad()[0];
                      });
    };
    const Tensor<double> one = Tensor<double>::scalar(1);
    const GradcheckResult result = gradcheck(f, {one, one});
    BOOST_TEST(!result.ok);
}

BOOST_AUTO_TEST_CASE(without_a_function) {
    BOOST_TEST(error_of<ValueError>([] { gradcheck(nullptr, {normals({2})}); }) == "gradcheck: the function is empty");
}

BOOST_AUTO_TEST_SUITE_END()
