#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cstring>

// Chains run side by side and read the same data. Reading never writes, so the thread sanitizer finds nothing here.
using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(shared_data)

namespace {

const RunOptions options{.chains = 4, .warmup = 10, .draws = 40, .seed = 3, .show = Show::nothing};

// x_t ~ N(rho x_(t-1), 1), with the sums over t made number by number from a tensor that is not const. The other model
// captures it by value, so its tensor shares a buffer with those of all chains.
Var<double> log_density(Model<double>& m, Tensor<double>& x) {
    const auto rho = m.real("rho");
    double squares = 0, products = 0;
    for (std::int64_t t = 1; t < x.size(); ++t) {
        squares += x(t - 1) * x(t - 1);
        products += x(t - 1) * x(t);
    }
    return rho * products - square(rho) * (squares / 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(chains_read_a_tensor_that_is_not_const) {
    Tensor<double> x = normals({40}, 5);
    const Tensor<double> other = x;  // the buffer has a second owner
    const ModelPotential<double> by_reference([&x](Model<double>& m) { m.likelihood(log_density(m, x)); });
    const ModelPotential<double> by_value([x](Model<double>& m) mutable { m.likelihood(log_density(m, x)); });
    Draws one, four, values;
    with_threads(1, [&] { one = run_chains(by_reference, Metropolis{}, options); });
    with_threads(4, [&] {
        four = run_chains(by_reference, Metropolis{}, options);
        values = run_chains(by_value, Metropolis{}, options);
    });
    BOOST_TEST(x.data() == other.data());
    BOOST_TEST((one.values == four.values));
    BOOST_TEST((one.values == values.values));
}

BOOST_AUTO_TEST_SUITE_END()
