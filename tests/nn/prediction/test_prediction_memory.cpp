#include "../../support.hpp"

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <memory>
#include <numeric>

// How much memory predictions take, how the rows are cut, and that the cut changes nothing.
using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(prediction_memory)

namespace {

struct Seen {
    std::uint64_t bytes = 0;              // of the tape's pool, at most
    std::vector<std::int64_t> rows = {};  // of each piece
};

// The last layer of a network: writes down what its pass took.
template <Real T>
class Watch final : public Layer<Watch<T>, T> {
  public:
    explicit Watch(Seen& seen) : seen_(&seen) {}
    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        seen_->bytes = std::max(seen_->bytes, pass.tape().pool().bytes);
        seen_->rows.push_back(x.shape()[0]);
        return x;
    }
    std::string describe() const override { return "Watch"; }

  private:
    Seen* seen_;
};

// A small network like VGG for images of 32 x 32 pixels. The outputs of its layers take 0.3 MB an image.
Sequential<float> vgg(Seen& seen, bool dropout = false) {
    Sequential<float> net{Conv2d<float>(3, 64, 3, {.padding = 1}),
                          Relu<float>(),
                          Conv2d<float>(64, 32, 3, {.padding = 1}),
                          Relu<float>(),
                          MaxPool2d<float>(2),
                          Conv2d<float>(32, 64, 3, {.padding = 1}),
                          Relu<float>(),
                          MaxPool2d<float>(2),
                          Dropout<float>(dropout ? 0.5 : 0.0),
                          Flatten<float>(),
                          Dense<float>(64 * 8 * 8, 10),
                          Watch<float>(seen)};
    initialise<float>(net, 1);
    return net;
}

Dataset<float> images(std::int64_t n) {
    Dataset<float> data{.inputs = Tensor<float>::empty({n, 3, 32, 32}), .labels = Indices::zeros({n})};
    Random(3).fill_normal(data.inputs.mutable_values());
    return data;
}

// What pieces of this many rows of the network take, and a quarter, by which the buffers of a pool may be too large.
constexpr std::uint64_t most_bytes = 64'000'000 * 5 / 4;

void check(const Seen& seen, std::int64_t rows) {
    std::int64_t all = 0, most = 0;
    for (const std::int64_t n : seen.rows)
        if (n > 2) {  // the first one or two rows are evaluated to find out
            all += n;
            most = std::max(most, n);
        }
    BOOST_TEST(all == rows);
    BOOST_TEST(most < rows);
    BOOST_TEST(most > 50);
    BOOST_TEST(seen.bytes > 30'000'000u);
    BOOST_TEST(seen.bytes < most_bytes);
}

}  // namespace

BOOST_AUTO_TEST_CASE(predictions_fit) {
    Seen seen;
    const Sequential<float> net = vgg(seen);
    const Dataset<float> data = images(300);
    const Parameters<float> parameters(net);
    Tape<float> tape(Recording::off);
    const Tensor<float> y = predict<float>(tape, net, parameters, {}, data.inputs);
    check(seen, 300);
    BOOST_TEST(tape.pool().bytes < most_bytes);
    // All rows at once take far more, and have the same bits.
    seen = {};
    BOOST_TEST((predict<float>(net, data.inputs, {.batch = 300}) == y));
    BOOST_TEST(seen.bytes > 100'000'000u);
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{300}));
}

// Scratch memory of a thread does not grow with the number of rows.
BOOST_AUTO_TEST_CASE(scratch_memory) {
    Seen seen;
    const Sequential<float> net = vgg(seen);
    const Tensor<float> few = images(40).inputs, many = images(300).inputs;
    std::int64_t more = 0;
    with_threads(1, [&] {
        predict<float>(net, few);
        const std::int64_t before = kernels::scratch_bytes;
        predict<float>(net, many);
        more = kernels::scratch_bytes - before;
    });
    BOOST_TEST(more < 4'000'000);
}

// So many rows, though of no numbers, that their number times that of the pieces has more than 64 bits.
BOOST_AUTO_TEST_CASE(the_number_of_rows_may_be_any) {
    Seen seen;
    const Watch<double> net(seen);
    constexpr std::int64_t rows = (std::int64_t{1} << 62) + 1, part = std::int64_t{1} << 60;
    BOOST_TEST((predict<double>(net, Tensor<double>::zeros({rows, 0}), {.batch = part + 1}).shape() == Shape{rows, 0}));
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{part + 1, part, part, part}));
}

BOOST_AUTO_TEST_CASE(whatever_evaluates_a_network_fits) {
    Seen seen;
    const Sequential<float> net = vgg(seen);
    const Dataset<float> data = images(300);
    const Tensor<float> theta = Parameters<float>(net).flatten();
    evaluate(net, Categorical<float>(), data);
    check(seen, 300);
    seen = {};
    predict_samples(net, data.inputs, {.samples = 1});
    check(seen, 300);
    seen = {};
    predict_thetas(net, {&theta, 1}, data.inputs);
    check(seen, 300);
    seen = {};
    Ensemble<float> ensemble;
    ensemble.add(net);
    predict_ensemble(ensemble, data.inputs);
    check(seen, 300);
}

// A sum over all data is cut, too. What is kept for the gradients takes about as much as the outputs.
BOOST_AUTO_TEST_CASE(potentials_fit) {
    Seen seen;
    const Sequential<float> net = vgg(seen);
    NetworkPotential<float> potential(net, Categorical<float>(), images(300));
    const std::vector<float> theta = potential.start();
    std::vector<float> gradient(theta.size());
    seen = {};
    potential.evaluate(theta, gradient);
    BOOST_TEST(std::accumulate(seen.rows.begin(), seen.rows.end(), std::int64_t{0}) == 300);
    for (const std::int64_t rows : seen.rows) BOOST_TEST(rows < 300);
    BOOST_TEST(seen.bytes < 2 * most_bytes);
    // A copy is cut in the same way.
    const Seen first = std::exchange(seen, {});
    potential.clone()->evaluate(theta, gradient);
    BOOST_TEST((seen.rows == first.rows));
}

// The cut is found once for all samples.
BOOST_AUTO_TEST_CASE(one_look_for_all_samples) {
    Seen seen;
    Sequential<double> net{Dense<double>(4, 3), Watch<double>(seen)};
    initialise<double>(net, 1);
    const Tensor<double> x = normals({1500, 4}), theta = Parameters<double>(net).flatten();
    predict_samples(net, x, {.samples = 3});
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{1, 1000, 500, 1000, 500, 1000, 500}));
    seen = {};
    const std::vector<Tensor<double>> thetas{theta, theta};
    predict_thetas(net, thetas, x);
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{1, 750, 750, 750, 750}));
    // Another look is taken at a member that is another network.
    seen = {};
    Ensemble<double> ensemble;
    ensemble.add(net);
    ensemble.add(net);
    Sequential<double> other{Dense<double>(4, 5), Dense<double>(5, 3), Watch<double>(seen)};
    initialise<double>(other, 1);
    ensemble.add(other);
    predict_ensemble(ensemble, x);
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{1, 750, 750, 750, 750, 1, 750, 750}));
    // A few small rows need no look.
    seen = {};
    predict(net, normals({16, 4}));
    BOOST_TEST((seen.rows == std::vector<std::int64_t>{16}));
}

// Weights that are computed are there once, however many rows there are: they do not make the pieces small.
BOOST_AUTO_TEST_CASE(weights_are_not_rows) {
    Seen seen;
    Sequential<float> net{Dense<float>(300, 400), Relu<float>(), Dense<float>(400, 100)};
    initialise<float>(net, 1);
    Sequential<float> twin = bayesian(net, {.prior = HierarchicalPrior{}, .posterior = low_rank<float>(2, 0.1)});
    initialise<float>(twin, 1, Which::missing);
    twin.add(Watch<float>(seen));
    predict<float>(twin, cast<float>(normals({1000, 300})));
    BOOST_TEST(seen.rows.back() == 1000);
}

// The numbers that dropout draws for a row do not depend on how the rows are cut, even across the groups of 1,000 rows
// that share the numbers of a key.
BOOST_AUTO_TEST_CASE(random_layers_do_not_depend_on_the_cut) {
    Sequential<double> net{Dense<double>(4, 7), Dropout<double>(0.5), Tanh<double>(), Dropout<double>(0.3)};
    initialise<double>(net, 1);
    const Tensor<double> x = normals({2300, 4});
    PredictOptions options{.mode = Mode::sample, .seed = 4, .draw = 2};
    const Tensor<double> y = predict(net, x, options);
    for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{16}, std::int64_t{77}, std::int64_t{999},
                                     std::int64_t{1500}, std::numeric_limits<std::int64_t>::max()}) {
        options.batch = batch;
        BOOST_TEST((predict(net, x, options) == y), "in batches of " << batch);
    }
    // Rows have numbers of their own: equal rows have different outputs.
    const Tensor<double> same = predict(net, Tensor<double>::ones({2300, 4}), options);
    std::vector<std::vector<double>> rows;
    for (std::int64_t i = 0; i < 2300; ++i) rows.emplace_back(same.data() + 7 * i, same.data() + 7 * i + 7);
    const auto zeros = [](const std::vector<double>& row) { return std::count(row.begin(), row.end(), 0.0); };
    std::int64_t dropped = 0;
    for (const auto& row : rows) dropped += zeros(row);
    // A number is kept with probability 0.35; 16,100 numbers, six standard deviations.
    BOOST_TEST(std::abs(static_cast<double>(dropped) - 0.65 * 16100) < 6 * std::sqrt(16100 * 0.65 * 0.35));
    BOOST_TEST((rows[0] != rows[1]));
    BOOST_TEST((rows[0] != rows[1000]));

    // A convolutional network that is cut to fit.
    Seen seen;
    const Sequential<float> large = vgg(seen, true);
    const Dataset<float> data = images(300);
    PredictOptions draw{.mode = Mode::sample, .seed = 4};
    const Tensor<float> fitted = predict<float>(large, data.inputs, draw);
    BOOST_TEST(seen.rows.back() < 300);
    draw.batch = 300;
    BOOST_TEST((predict<float>(large, data.inputs, draw) == fitted));
}

BOOST_AUTO_TEST_SUITE_END()
