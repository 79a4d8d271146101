#include "../../support.hpp"
#include "spread_cases.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/shares.hpp>
#include <pollen/autograd/support/thread_group.hpp>
#include <pollen/nn/potentials/check_gradient.hpp>

#include <bit>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(spread_potential)

namespace {

using Items = std::vector<std::int64_t>;

// All items; a batch in all blocks, with an item that comes twice; one in the last blocks alone; one item.
const std::vector<Items> batches{
    {}, {17, 3, 99, 0, 202, 55, 54, 3, 98, 160, 120, 121, 77, 30, 40, 190, 145}, {201, 180, 195, 202, 188}, {101}};

// An energy and its gradient. Boost's checks are for one thread at a time, so other ranks make none.
template <Real T>
struct Found {
    double prior = 0, likelihood = 0;
    std::vector<T> gradient;

    bool operator==(const Found&) const = default;
};

template <Real T>
Found<T> evaluate(Potential<T>& u, const std::vector<T>& theta, const Items& batch) {
    Found<T> found{.gradient = std::vector<T>(theta.size(), T(1e9))};
    const Energy energy = batch.empty() ? u.evaluate(theta, found.gradient) : u.evaluate(theta, found.gradient, batch);
    const Energy alone = batch.empty() ? u.evaluate(theta, {}) : u.evaluate(theta, {}, batch);
    if (alone.prior != energy.prior || alone.likelihood != energy.likelihood)
        throw Error("another energy without the gradient");
    found.prior = energy.prior;
    found.likelihood = energy.likelihood;
    return found;
}

template <Real T>
Found<T> sum_of_two(Found<T> a, const Found<T>& b) {
    a.likelihood += b.likelihood;
    for (std::size_t k = 0; k < a.gradient.size(); ++k) a.gradient[k] += b.gradient[k];
    return a;
}

// The definition of ordered_sum().
template <Real T>
Found<T> tree(const std::vector<Found<T>>& leaves, std::size_t first, std::size_t last) {
    if (last - first == 1) return leaves[first];
    std::size_t half = 1;
    while (2 * half < last - first) half *= 2;
    return sum_of_two(tree(leaves, first, first + half), tree(leaves, first + half, last));
}

// The leaves of a sum, from a potential of all items.
template <Real T>
std::vector<Found<T>> leaves_of(ItemwisePotential<T>& whole, const std::vector<T>& theta, const Items& batch,
                                std::int64_t blocks) {
    Items items = batch;
    if (batch.empty()) {
        items.resize(static_cast<std::size_t>(whole.items()));
        std::iota(items.begin(), items.end(), 0);
    }
    const double scale = static_cast<double>(whole.items()) / static_cast<double>(items.size());
    std::vector<Found<T>> leaves;
    for (std::int64_t k = 0; k < blocks; ++k) {
        Items of_block;
        for (const std::int64_t item : items)
            if (item >= whole.items() * k / blocks && item < whole.items() * (k + 1) / blocks) of_block.push_back(item);
        if (of_block.empty()) continue;
        Found<T> leaf{.gradient = std::vector<T>(theta.size())};
        leaf.likelihood = whole.likelihood(theta, of_block, scale, leaf.gradient);
        leaves.push_back(leaf);
    }
    return leaves;
}

template <Real T>
std::vector<T> a_point(std::int64_t size) {
    std::vector<T> theta(static_cast<std::size_t>(size));
    Random(8).fill_uniform(theta, T(-0.5), T(0.5));
    return theta;
}

// The bits are those of the definition, at any number of ranks and threads.
template <Real T, class Case>
void check_bits(const Case& from, const std::vector<int>& all_ranks) {
    const Dataset<T> data = spread_data<T>();
    const auto whole = from.part(data, 0);
    const std::vector<T> theta = a_point<T>(whole->size());
    whole->set_temperature(0.5);
    Found<T> prior{.gradient = std::vector<T>(theta.size())};
    prior.prior = whole->prior(theta, prior.gradient);
    std::vector<Found<T>> expected;
    for (const Items& batch : batches) {
        const std::vector<Found<T>> leaves = leaves_of<T>(*whole, theta, batch, 13);
        expected.push_back(sum_of_two(prior, tree(leaves, 0, leaves.size())));
        // It is the sum that the potential of one machine has, up to rounding.
        const Found<T> one = evaluate<T>(*whole, theta, batch);
        const T near = sizeof(T) == 4 ? T(1e-4) : T(1e-12);
        BOOST_TEST(one.prior == prior.prior);
        BOOST_TEST(expected.back().likelihood == one.likelihood,
                   boost::test_tools::tolerance(static_cast<double>(near)));
        T largest = 0, worst = 0;
        for (std::size_t k = 0; k < theta.size(); ++k) {
            largest = std::max(largest, std::abs(one.gradient[k]));
            worst = std::max(worst, std::abs(expected.back().gradient[k] - one.gradient[k]));
        }
        BOOST_TEST(worst <= near * largest);
    }
    for (const int ranks : all_ranks)
        for (const int threads : {1, 2}) {
            int compared = 0;
            run_group(ranks, [&](Group& group) {
                with_threads(threads, [&] {
                    SpreadPotential<T> u = spread_potential<T>(from, group, data);
                    u.set_temperature(0.5);
                    u.lead([&] {
                        const auto copy = u.clone();
                        for (std::size_t k = 0; k < batches.size(); ++k, ++compared)
                            BOOST_TEST((evaluate<T>(*copy, theta, batches[k]) == expected[k]),
                                       ranks << " ranks, " << threads << " threads, batch " << k);
                    });
                });
            });
            BOOST_TEST(compared == std::ssize(batches));
        }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_small_network) {
    check_bits<float>(NetworkCase<float>{}, {1, 2, 3, 4, 7, 13});
    check_bits<double>(NetworkCase<double>{}, {1, 2, 3, 4, 7, 13});
}

BOOST_AUTO_TEST_CASE(a_large_network) {
    check_bits<float>(NetworkCase<float>{.hidden = 16000}, {1, 3, 4});
    check_bits<double>(NetworkCase<double>{.hidden = 16000}, {1, 2, 7});
}

BOOST_AUTO_TEST_CASE(a_model) {
    check_bits<float>(ModelCase<float>{}, {1, 2, 3, 4, 7, 13});
    check_bits<double>(ModelCase<double>{}, {1, 2, 3, 4, 7, 13});
}

// A broken twin: the ranks add up what they have, and these sums are added in the order of the ranks.
BOOST_AUTO_TEST_CASE(the_order_of_the_ranks_is_another_one) {
    const auto whole = NetworkCase<double>{}.part(spread_data<double>(), 0);
    const std::vector<double> theta = a_point<double>(whole->size());
    const std::vector<Found<double>> leaves = leaves_of<double>(*whole, theta, {}, 13);
    for (const int ranks : {5, 7}) {
        const Shares shares = Shares::cut(13, ranks);
        Found<double> sum = tree(leaves, 0, static_cast<std::size_t>(shares.last(0)));
        for (int rank = 1; rank < ranks; ++rank)
            sum = sum_of_two(sum, tree(leaves, static_cast<std::size_t>(shares.first(rank)),
                                       static_cast<std::size_t>(shares.last(rank))));
        BOOST_TEST((sum.gradient != tree(leaves, 0, leaves.size()).gradient), ranks << " ranks");
    }
}

// What a potential says of itself does not depend on the ranks.
BOOST_AUTO_TEST_CASE(what_there_is) {
    for (const int ranks : {1, 3})
        run_group(ranks, [&](Group& group) {
            SpreadPotential<double> network =
                spread_potential<double>(NetworkCase<double>{}, group, spread_data<double>());
            SpreadPotential<double> model = spread_potential<double>(ModelCase<double>{}, group, spread_data<double>());
            if (group.rank() > 0) return;
            BOOST_TEST(network.describe() ==
                       "network of 0.weight(8, 3) 0.bias(8) 2.weight(1, 8) 2.bias(1) likelihood.log_sd(), "
                       "Gaussian(learned sd), prior GaussianPrior(sd 1), 203 items in 13 blocks");
            BOOST_TEST(model.describe() == "model of beta(3, 1) sigma(), 203 items in 13 blocks");
            BOOST_TEST(network.items() == 203);
            BOOST_TEST((network.of_network() && !model.of_network()));
            BOOST_TEST(network.one_at_a_time() == (ranks > 1));
            BOOST_TEST(network.start(1, 2).size() == 42u);
            std::vector<double> out(5);
            model.values(std::vector<double>{1, 2, 3, 0}, out);
            BOOST_TEST(out == (std::vector<double>{1, 2, 3, 1, 2}), boost::test_tools::per_element());
        });
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_checked) {
    for (const int ranks : {1, 3})
        run_group(ranks, [&](Group& group) {
            SpreadPotential<double> u = spread_potential<double>(ModelCase<double>{}, group, spread_data<double>());
            double error = 1;
            u.lead([&] { error = check_gradient(u, {0.3, -0.2, 0.5, 0.1}).error; });
            if (group.rank() == 0) BOOST_TEST(error < 1e-6);
        });
}

// Clones of several threads take turns.
BOOST_AUTO_TEST_CASE(clones_at_the_same_time) {
    const Dataset<double> data = spread_data<double>();
    for (const int ranks : {1, 2})
        run_group(ranks, [&](Group& group) {
            const SpreadPotential<double> u = spread_potential<double>(NetworkCase<double>{}, group, data);
            u.lead([&] {
                std::vector<Found<double>> one(8), again(8);
                const auto fill = [&](std::vector<Found<double>>& found) {
                    return [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t k = begin; k < end; ++k) {
                            const auto copy = u.clone();
                            copy->set_temperature(static_cast<double>(k));
                            std::vector<double> theta = a_point<double>(u.size());
                            theta[0] = static_cast<double>(k);
                            found[static_cast<std::size_t>(k)] = evaluate<double>(*copy, theta, {});
                        }
                    };
                };
                fill(one)(0, 8);
                with_threads(4, [&] { parallel_for(8, 1, fill(again)); });
                BOOST_TEST((one == again));
            });
        });
}

BOOST_AUTO_TEST_SUITE_END()
