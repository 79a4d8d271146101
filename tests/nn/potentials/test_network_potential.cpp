#include "../../support.hpp"
#include "spread_cases.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/conv2d.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/layers/pooling.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/likelihoods/student_t.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/detail/item_blocks.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/priors.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(network_potential)

namespace {

template <Real T>
NetworkPotential<T> potential(std::int64_t n, std::int64_t piece = 1000) {
    const Sequential<T> net{Dense<T>(3, 8), Tanh<T>(), Dense<T>(8, 1)};
    return {net, Gaussian<T>::known(0.5), spread_data<T>(n), {.prior = GaussianPrior{.sd = 2}, .piece = piece}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(energy_and_gradient_of_a_linear_model_in_closed_form) {
    const Dataset<double> set = spread_data<double>(7);
    NetworkPotential<double> u(Sequential<double>{Dense<double>(3, 1)}, Gaussian<double>::known(0.5), set,
                               {.prior = GaussianPrior{.sd = 2}});
    const std::vector<double> theta{0.3, -0.2, 0.5, 0.1};  // weights, bias
    std::vector<double> gradient(4), exact(4);
    const Energy energy = u.evaluate(theta, gradient);
    const double half_log = 0.5 * std::log(2 * M_PI);
    double prior = 0, likelihood = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        prior += theta[k] * theta[k] / 8 + std::log(2.0) + half_log;
        exact[k] = theta[k] / 4;
    }
    for (int i = 0; i < 7; ++i) {
        double r = theta[3] - set.targets(i, 0);
        for (int j = 0; j < 3; ++j) r += theta[static_cast<std::size_t>(j)] * set.inputs(i, j);
        likelihood += 2 * r * r + std::log(0.5) + half_log;
        for (int j = 0; j < 3; ++j) exact[static_cast<std::size_t>(j)] += 4 * r * set.inputs(i, j);
        exact[3] += 4 * r;
    }
    BOOST_TEST(energy.prior == prior, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(energy.likelihood == likelihood, boost::test_tools::tolerance(1e-13));
    for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(gradient[k] == exact[k], boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(pieces_and_threads_do_not_matter) {
    NetworkPotential<double> whole = potential<double>(50), pieces = potential<double>(50, 7);
    const std::vector<double> theta = whole.start(3);
    std::vector<double> a(theta.size()), b(theta.size());
    const Energy one = whole.evaluate(theta, a), many = pieces.evaluate(theta, b);
    BOOST_TEST(one.likelihood == many.likelihood, boost::test_tools::tolerance(1e-13));
    for (std::size_t k = 0; k < a.size(); ++k) BOOST_TEST(a[k] == b[k], boost::test_tools::tolerance(1e-10));
    for (const int threads : {1, 2, 8})
        with_threads(threads, [&] {
            std::vector<double> c(theta.size());
            BOOST_TEST(whole.evaluate(theta, c).total() == one.total());
            BOOST_TEST((c == a));
        });
}

// Gradients go from the last op of a backward pass straight to where the sampler wants them. They are what the tape
// finds, and those of the prior.
BOOST_AUTO_TEST_CASE(gradients_of_convolutions_are_those_of_the_tape) {
    const Sequential<double> net{Conv2d<double>(1, 3, 3), Relu<double>(),    Conv2d<double>(3, 2, 3),
                                 Relu<double>(),          Flatten<double>(), Dense<double>(32, 3)};
    Dataset<double> set{.inputs = Tensor<double>::empty({9, 1, 8, 8}), .labels = Indices::zeros({9})};
    Random random(6);
    random.fill_normal(set.inputs.mutable_values());
    for (std::int32_t& label : set.labels.mutable_values()) label = static_cast<std::int32_t>(random.below(3));
    NetworkPotential<double> u(net, Categorical<double>(), set, {.prior = LaplacePrior{.scale = 0.7}, .piece = 4});
    const std::vector<double> theta = u.start(3);
    std::vector<double> gradient(theta.size(), 1e9), slopes(theta.size());
    const Energy energy = u.evaluate(theta, gradient);

    Tape<double> tape;
    const Parameters<double> parameters(net);
    Pass<double> pass(tape, parameters, {}, theta);
    const auto log_prob = Categorical<double>().log_prob(pass, net(pass, tape.borrow(set.inputs)), set);
    tape.backward(log_prob);
    const Prior prior = LaplacePrior{.scale = 0.7};
    prior.slopes(theta.data(), std::ssize(theta), slopes.data());
    BOOST_TEST(energy.likelihood == -log_prob.item(), boost::test_tools::tolerance(1e-12));
    std::size_t i = 0;
    for (const Var<double>& leaf : pass.leaves())
        for (const double g : leaf.grad()) {
            BOOST_TEST(std::abs(gradient[i] + g + slopes[i]) < 1e-12, "number " << i);
            ++i;
        }
    BOOST_TEST(i == theta.size());
}

// A learned noise that is not a number of type T any more, too small or too large, is a point to reject: no finite
// energy, and no exception.
template <Real T>
void check_extreme_noise(const Likelihood<T>& likelihood) {
    NetworkPotential<T> u(Sequential<T>{Dense<T>(3, 1)}, likelihood, spread_data<T>(7));
    std::vector<T> gradient(5);
    const T far = std::numeric_limits<T>::max();
    for (const T log_sd : {T(-1000), T(-1e6), -far, std::numeric_limits<T>::quiet_NaN()}) {
        const std::vector<T> theta{T(0.3), T(-0.2), T(0.5), T(0.1), log_sd};
        const std::vector<std::int64_t> batch{1, 4};
        BOOST_TEST(!std::isfinite(u.evaluate(theta, gradient).total()));
        BOOST_TEST(!std::isfinite(u.evaluate(theta, {}).total()));
        BOOST_TEST(!std::isfinite(u.evaluate(theta, gradient, batch).total()));
    }
}

BOOST_AUTO_TEST_CASE(noise_that_underflows) {
    check_extreme_noise<float>(Gaussian<float>::learned());
    check_extreme_noise<double>(Gaussian<double>::learned());
    check_extreme_noise<float>(StudentT<float>::learned(4));
    check_extreme_noise<double>(StudentT<double>::learned(4));
}

// A likelihood of your own in densities that throw out of their domain: such a point has no density.
class Scaled final : public Concrete<Scaled, Likelihood<double>> {
  public:
    std::string describe() const override { return "scaled"; }
    const char* score_name() const override { return "none"; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<double>&, const Dataset<double>&) const override { return 0; }
    double finish(double total, std::int64_t) const override { return total; }
    Var<double> log_prob(Pass<double>&, Var<double> out, const Dataset<double>& batch) const override {
        return normal_lpdf(batch.targets, out, exp(mean(out)));
    }
};

BOOST_AUTO_TEST_CASE(out_of_a_domain_there_is_no_density) {
    NetworkPotential<double> u(Sequential<double>{Dense<double>(3, 1)}, Scaled(), spread_data<double>(7));
    std::vector<double> gradient(4);
    const std::vector<std::int64_t> batch{1, 4};
    const std::vector<double> good{0.3, -0.2, 0.5, 0.1}, bad{0.3, -0.2, 0.5, -1e4};
    const double energy = u.evaluate(good, gradient).total();
    const std::vector<double> slopes = gradient;
    BOOST_TEST(std::isfinite(energy));
    const auto refused = [&](const Energy& at) {
        BOOST_TEST(std::isinf(at.total()));
        BOOST_TEST(u.refusal() == "Normal: sd is 0; it must be positive");
        // It leaves no trace.
        BOOST_TEST(u.evaluate(good, {}).total() == energy);
        BOOST_TEST(u.refusal() == "");
    };
    refused(u.evaluate(bad, {}));
    refused(u.evaluate(bad, gradient));
    BOOST_TEST(std::isnan(gradient[0]));
    u.evaluate(good, gradient);
    BOOST_TEST((gradient == slopes));
    refused(u.evaluate(bad, gradient, batch));
    BOOST_TEST(std::isnan(gradient[0]));
}

// Twenty thousand pieces of one item each: added up in double the energy of floats is right to their own precision.
// Added up in float it would not be.
BOOST_AUTO_TEST_CASE(energies_of_floats_survive_the_sum) {
    constexpr std::int64_t n = 20000;
    NetworkPotential<float> pieces = potential<float>(n, 1);
    const std::vector<float> theta = pieces.start(3);
    const std::vector<double> in_double(theta.begin(), theta.end());
    const Dataset<float> rounded = spread_data<float>(n);
    Dataset<double> same = spread_data<double>(n);
    std::copy(rounded.inputs.begin(), rounded.inputs.end(), same.inputs.mutable_values().begin());
    std::copy(rounded.targets.begin(), rounded.targets.end(), same.targets.mutable_values().begin());
    const Sequential<double> net{Dense<double>(3, 8), Tanh<double>(), Dense<double>(8, 1)};
    NetworkPotential<double> reference(net, Gaussian<double>::known(0.5), same, {.prior = GaussianPrior{.sd = 2}});
    const double right = reference.evaluate(in_double, {}).likelihood;
    BOOST_TEST(std::abs(pieces.evaluate(theta, {}).likelihood / right - 1) < 1e-7);
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<float>(pieces.evaluate(theta, {}, std::vector<std::int64_t>{i}).likelihood / n);
    BOOST_TEST(std::abs(static_cast<double>(sum) / right - 1) > 1e-6);
}

BOOST_AUTO_TEST_CASE(batches_clones_and_precisions) {
    NetworkPotential<float> u = potential<float>(40);
    u.set_temperature(0.5);
    const std::vector<float> theta = u.start(1);
    std::vector<float> sum(theta.size()), part(theta.size()), whole(theta.size());
    const Energy all = u.evaluate(theta, whole);
    double likelihood = 0;
    for (std::int64_t first = 0; first < 40; first += 10) {
        std::vector<std::int64_t> items(10);
        for (std::size_t k = 0; k < 10; ++k) items[k] = first + static_cast<std::int64_t>(k);
        const Energy energy = u.evaluate(theta, part, items);
        BOOST_TEST(energy.prior == all.prior);
        likelihood += energy.likelihood / 4;
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k] / 4;
    }
    BOOST_TEST(likelihood == all.likelihood, boost::test_tools::tolerance(1e-5));
    for (std::size_t k = 0; k < sum.size(); ++k) BOOST_TEST(std::abs(sum[k] - whole[k]) < 1e-3);

    u.set_precision(0, 9);
    const auto copy = u.clone();
    BOOST_TEST(copy->temperature() == 0.5);
    BOOST_TEST(copy->evaluate(theta, {}).total() == u.evaluate(theta, {}).total());
    BOOST_TEST(u.evaluate(theta, {}).prior != all.prior);
}

// A Gaussian likelihood that keeps the numbers of items it was called with, and that throws at a target above 100.
class Watched final : public Concrete<Watched, Likelihood<double>> {
  public:
    struct Log {
        std::mutex mutex;
        std::vector<std::int64_t> items;
    };
    std::shared_ptr<Log> log = std::make_shared<Log>();

    std::string describe() const override { return "watched"; }
    const char* score_name() const override { return "none"; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<double>&, const Dataset<double>&) const override { return 0; }
    double finish(double total, std::int64_t) const override { return total; }
    Var<double> log_prob(Pass<double>&, Var<double> out, const Dataset<double>& batch) const override {
        {
            const std::lock_guard lock(log->mutex);
            log->items.push_back(batch.size());
        }
        for (const double target : batch.targets)
            if (target > 100) throw ValueError("a target of " + std::to_string(static_cast<int>(target)));
        return normal_lpdf(batch.targets, out, 0.5);
    }
};

const Sequential<double> net_of_41{Dense<double>(3, 8), Tanh<double>(), Dense<double>(8, 1)};

// U and its gradient, of one pass over all items.
std::pair<double, std::vector<double>> in_one_piece(const Module<double>& net, const Dataset<double>& set,
                                                    const std::vector<double>& theta) {
    Tape<double> tape;
    const Parameters<double> parameters(net);
    Pass<double> pass(tape, parameters, {}, theta);
    const Var<double> log_prob = normal_lpdf(set.targets, net(pass, tape.borrow(set.inputs)), 0.5);
    tape.backward(log_prob, -1.0);
    std::vector<double> gradient;
    for (const Var<double>& leaf : pass.leaves())
        for (const double g : leaf.grad()) gradient.push_back(g);
    for (std::size_t k = 0; k < theta.size(); ++k) gradient[k] += theta[k];  // of the prior, a standard normal
    return {-log_prob.item(), gradient};
}

// Leaves of one block, of several blocks, and a last block that is not full: a pass writes 20 numbers for an item,
// so by default a block has at most 819 items.
BOOST_AUTO_TEST_CASE(leaves_and_blocks) {
    struct Case {
        std::int64_t items, piece, leaves, most_in_a_block;
        std::size_t blocks;
    };
    for (const Case& c : {Case{20000, 1000, 32, 625, 32}, Case{2000, 3, 256, 3, 768}, Case{300, 1, 256, 1, 300},
                          Case{1, 1000, 1, 1, 1}, Case{1000, 1000, 2, 500, 2}}) {
        const Dataset<double> set = spread_data<double>(c.items);
        const Watched likelihood;
        NetworkPotential<double> u(net_of_41, likelihood, set, {.piece = c.piece});
        const std::vector<double> theta = u.start(3);
        std::vector<double> gradient(theta.size());
        const Energy energy = u.evaluate(theta, gradient);
        const auto& seen = likelihood.log->items;
        BOOST_TEST(seen.size() == c.blocks);
        BOOST_TEST(*std::max_element(seen.begin(), seen.end()) == c.most_in_a_block);
        BOOST_TEST(std::accumulate(seen.begin(), seen.end(), std::int64_t{0}) == c.items);
        BOOST_TEST(ItemBlocks::cut(c.items, 41, {.per_item = 20}, c.piece).leaves == c.leaves);

        const auto [likelihood_energy, slopes] = in_one_piece(net_of_41, set, theta);
        BOOST_TEST(energy.likelihood == likelihood_energy, boost::test_tools::tolerance(1e-12));
        double largest = 0;
        for (const double g : slopes) largest = std::max(largest, std::abs(g));
        for (std::size_t k = 0; k < theta.size(); ++k)
            BOOST_TEST(std::abs(gradient[k] - slopes[k]) <= 1e-12 * largest, "gradient " << k);

        for (const int threads : {1, 2, 3, 8})
            with_threads(threads, [&] {
                std::vector<double> again(theta.size());
                BOOST_TEST(u.evaluate(theta, again).total() == energy.total());
                BOOST_TEST((again == gradient), threads << " threads");
                BOOST_TEST(u.evaluate(theta, {}).total() == energy.total());
            });
    }
}

// What a block throws comes out, at any number of threads that of the first leaf. It leaves no trace.
BOOST_AUTO_TEST_CASE(an_exception_in_a_block) {
    const Dataset<double> set = spread_data<double>(2000);
    Dataset<double> broken = set;
    broken.targets.mutable_at(1203, 0) = 1203;
    broken.targets.mutable_at(1600, 0) = 1600;
    NetworkPotential<double> good(net_of_41, Watched(), set, {.piece = 3});
    NetworkPotential<double> bad(net_of_41, Watched(), broken, {.piece = 3});
    const std::vector<double> theta = good.start(3);
    const std::vector<std::int64_t> batch{3, 1, 4, 15};
    std::vector<double> gradient(theta.size()), again(theta.size());
    const double energy = good.evaluate(theta, gradient, batch).total();
    for (const int threads : {1, 2, 3, 8})
        with_threads(threads, [&] {
            BOOST_TEST(error_of<ValueError>([&] { bad.evaluate(theta, again); }) ==
                       "item 1203 of the data set, alone: a target of 1203");
            BOOST_TEST(error_of<ValueError>([&] { bad.evaluate(theta, {}); }) ==
                       "item 1203 of the data set, alone: a target of 1203");
            BOOST_TEST(bad.evaluate(theta, again, batch).total() == energy);
            BOOST_TEST((again == gradient));
        });
}

// Leaves are a power of two, one item each at least; their gradients together have at most 4,194,304 numbers, with what
// fills up a line of the cache; blocks are of at most `block` items, and contain every item once, in order.
BOOST_AUTO_TEST_CASE(any_cut) {
    for (const std::int64_t items : {1, 2, 31, 257, 2000, 100003})
        for (const std::int64_t parameters : {1, 41, 16384, 16385, 40000, 65535, 65536})
            for (const std::int64_t numbers : {1, 25, 600, 100000})
                for (const std::int64_t most : {1, 10, 1000}) {
                    const ItemBlocks cut = ItemBlocks::cut(items, parameters, {.per_item = numbers}, most);
                    BOOST_REQUIRE(std::has_single_bit(static_cast<std::uint64_t>(cut.leaves)));
                    BOOST_REQUIRE_LE(cut.leaves, std::min<std::int64_t>(items, 256));
                    BOOST_REQUIRE_LE(cut.leaves * ((parameters + 15) / 16 * 16), 4194304);
                    BOOST_REQUIRE_LE(cut.block, most);
                    std::int64_t next = 0;
                    for (std::int64_t leaf = 0; leaf < cut.leaves; ++leaf)
                        cut.each_block(leaf, [&](const Items& block) {
                            BOOST_REQUIRE_EQUAL(block.begin, next);
                            BOOST_REQUIRE_GT(block.size(), 0);
                            BOOST_REQUIRE_LE(block.size(), cut.block);
                            next = block.end;
                        });
                    BOOST_REQUIRE_EQUAL(next, items);
                }
}

// Above 65,536 parameters, or where a pass through the network throws, there is one leaf, of blocks of `piece` items.
BOOST_AUTO_TEST_CASE(one_leaf) {
    BOOST_TEST(ItemBlocks::cut(100000, 65536, {.per_item = 25}, 1000).leaves == 64);
    for (const ItemBlocks& cut :
         {ItemBlocks::cut(100000, 65537, {.per_item = 25}, 1000), ItemBlocks::cut(100000, 41, {}, 1000)}) {
        BOOST_TEST(cut.leaves == 1);
        BOOST_TEST(cut.block == 1000);
    }
    const Sequential<double> net{Dense<double>(3, 16000), Tanh<double>(), Dense<double>(16000, 1)};
    const Watched likelihood;
    const Dataset<double> set = spread_data<double>(250);
    NetworkPotential<double> u(net, likelihood, set, {.piece = 100});
    BOOST_TEST(u.size() == 80001);
    const std::vector<double> theta = u.start(3);
    std::vector<double> gradient(theta.size());
    const Energy energy = u.evaluate(theta, gradient);
    BOOST_TEST((likelihood.log->items == std::vector<std::int64_t>{83, 83, 84}));
    for (const int threads : {1, 3})
        with_threads(threads, [&] {
            std::vector<double> again(theta.size());
            BOOST_TEST(u.evaluate(theta, again).total() == energy.total());
            BOOST_TEST((again == gradient));
        });
}

BOOST_AUTO_TEST_CASE(errors) {
    NetworkPotential<float> u = potential<float>(4);
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(std::vector<float>(3), {}); }) ==
               "NetworkPotential: theta has 3 numbers; the network has 41 parameters");
    BOOST_TEST(error_of<ValueError>([&] { u.evaluate(u.start(1), {}, std::vector<std::int64_t>{}); }) ==
               "NetworkPotential: the batch is empty");
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(u.start(1), {}, std::vector<std::int64_t>{4}); }) ==
               "Dataset: there is no item 4; the data have 4 items");
    std::vector<double> room(3);
    BOOST_TEST(error_of<ShapeError>([&] { u.values(u.start(1), room); }) ==
               "NetworkPotential: room for 3 values; a draw has 41");
    BOOST_TEST(error_of<ValueError>([&] { u.set_precision(9, 1); }) ==
               "NetworkPotential: there is no parameter block 9; there are 4");
    BOOST_TEST(error_of<ValueError>([&] { u.set_precision(0, 0); }) ==
               "NetworkPotential: precision is 0; it must be positive and finite");
    BOOST_TEST(error_of<ShapeError>([&] { potential<float>(0); }) == "NetworkPotential: the data set is empty");
    BOOST_TEST(error_of<ValueError>([&] {
                   NetworkPotential<float>(Sequential<float>{Tanh<float>()}, Gaussian<float>::known(1),
                                           spread_data<float>(4));
               }) == "NetworkPotential: the network has no parameters");
}

BOOST_AUTO_TEST_SUITE_END()
