#include "model_blocks.hpp"

#include <pollen/autograd/rows.hpp>
#include <pollen/nn/distributions.hpp>

#include <numeric>

using namespace pollen;
using namespace pollen::test;

// Models whose items are not cut into blocks.
BOOST_AUTO_TEST_SUITE(model_in_one_piece)

namespace {

// Evaluates f as a model of n items, and as one without items, which gets all of them at once.
void check_in_one_piece(std::int64_t n, const std::vector<double>& theta, const auto& f) {
    Calls calls;
    ModelPotential<double> items = counted(calls, f, n), whole(f);
    BOOST_TEST(!calls.in_blocks(n, [&] { check_same(items, whole, theta); }));
    BOOST_TEST(calls.count == 2);
}

}  // namespace

// Where each item has a parameter, a block would have as much to do for the other items' parameters as for its items.
BOOST_AUTO_TEST_CASE(a_parameter_for_each_item) {
    constexpr std::int64_t n = 20000;
    const Tensor<double> y = normals({n});
    Indices numbers = Indices::zeros({n});
    std::iota(numbers.mutable_values().begin(), numbers.mutable_values().end(), 0);
    std::vector<double> theta(n + 1);
    for (std::size_t k = 0; k < theta.size(); ++k) theta[k] = std::sin(static_cast<double>(k));
    check_in_one_piece(n, theta, [&](Model<double>& m) {
        const auto tau = m.positive("tau"), z = m.real("z", {n});
        m.prior(exponential_lpdf(tau, 1));
        m.prior(normal_lpdf(z, 0, 1));
        m.likelihood(normal_lpdf(m.rows(y), tau * index_select(z, 0, m.rows(numbers)), 1));
    });
}

// Functions that are right where they get all items, and would be wrong in blocks.
BOOST_AUTO_TEST_CASE(a_function_that_does_not_add_up) {
    const Tensor<double> y = normals({many}, 1), other = normals({3}, 2);
    const std::vector<double> theta{0.4};
    const auto check = [&](const auto& more) {
        check_in_one_piece(many, theta, [&](Model<double>& m) {
            const auto mu = m.real("mu");
            const Tensor<double> rows = m.rows(y);
            m.prior(normal_lpdf(mu, 0, 1));
            m.likelihood(normal_lpdf(rows, mu, 1));
            more(m, mu, rows);
        });
    };
    // Other data, and a term that is 0 at theta = 0.
    check([&](auto& m, const auto& mu, const auto&) { m.likelihood(normal_lpdf(other, mu, 1)); });
    check([&](auto& m, const auto& mu, const auto&) { m.likelihood(mu * 1e-3); });
    // A mean over the batch, and a prior that depends on it.
    check([&](auto& m, const auto& mu, const auto& rows) { m.likelihood(mean(square(rows - mu))); });
    check([&](auto& m, const auto& mu, const auto& rows) { m.prior(normal_lpdf(rows, mu, 1)); });
    // The function does not take some of the items.
    check([&](auto& m, const auto& mu, const auto& rows) { m.likelihood((mu - rows) * y); });
    // It never asks for them.
    ModelPotential<double> deaf([&](Model<double>& m) { m.likelihood(normal_lpdf(y, m.real("mu"), 1)); }, many);
    ModelPotential<double> whole([&](Model<double>& m) { m.likelihood(normal_lpdf(y, m.real("mu"), 1)); });
    check_same(deaf, whole, theta);
    BOOST_TEST(error_of<ValueError>([&] { deaf.evaluate(theta, {}, std::vector<std::int64_t>{1}); }) ==
               "ModelPotential: the function adds a likelihood but never asks for batch(); with batches it would count "
               "every item N/n times");
}

// The same in float, whose sum over all items could hide a term of a few items in its rounding.
BOOST_AUTO_TEST_CASE(a_small_part_that_does_not_add_up) {
    const Tensor<float> y = cast<float>(normals({many}, 1)), other = cast<float>(normals({3}, 2));
    const auto check = [&](const std::function<Var<float>(Model<float>&, const Var<float>&)>& log_prob) {
        std::atomic<std::int64_t> most = 0;
        ModelPotential<float> u(
            [&](Model<float>& m) {
                const auto mu = m.real("mu");
                m.prior(normal_lpdf(mu, 0, 1));
                m.likelihood(log_prob(m, mu));
                most = std::max(most.load(), std::ssize(m.batch()));
            },
            many);
        most = 0;
        u.evaluate(std::vector<float>{0.4f}, {});
        return most == many;
    };
    BOOST_TEST(!check([&](auto& m, const auto& mu) { return normal_lpdf(m.rows(y), mu, 1); }));
    // Other data in the same sum.
    BOOST_TEST(check([&](auto& m, const auto& mu) {
        const auto items = normal_lpdf(m.rows(y), mu, 1);
        return items + normal_lpdf(other, mu, 1);
    }));
    // An autoregression: n items have n - 1 steps.
    BOOST_TEST(check([&](auto& m, const auto& mu) {
        const Tensor<float> rows = m.rows(y);
        const std::int64_t steps = rows.size() - 1;
        return normal_lpdf(share_rows(rows, 1, steps), mu * share_rows(rows, 0, steps), 1);
    }));
    // Items minus their mean.
    BOOST_TEST(check([&](auto& m, const auto& mu) {
        const auto rows = m.tape().constant(m.rows(y));
        return normal_lpdf(rows - mean(rows), mu, 1);
    }));
}

BOOST_AUTO_TEST_SUITE_END()
