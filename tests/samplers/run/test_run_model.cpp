#include "../../support.hpp"
#include "run_files.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cmath>
#include <functional>

using namespace pollen;
using namespace pollen::test;

// A run goes on with the same model and the same data only.
BOOST_AUTO_TEST_SUITE(run_model)

namespace {

constexpr std::int64_t items = 40;

RunOptions options_in(const std::string& directory, bool resume) {
    return {.chains = 1,
            .warmup = 0,
            .draws = resume ? 8 : 4,
            .seed = 3,
            .directory = directory,
            .resume = resume,
            .show = Show::nothing};
}

Dataset<float> digits() {
    Dataset<float> data{.inputs = cast<float>(normals({items, 3})), .labels = Indices::zeros({items})};
    for (std::int64_t i = 0; i < items; ++i) data.labels.mutable_at(i) = static_cast<std::int32_t>(i % 2);
    return data;
}

template <class Activation>
Sequential<float> network(const Activation& activation, double epsilon = 1e-5) {
    Sequential<float> net{Dense<float>(3, 4), LayerNorm<float>(4, epsilon), activation, Dense<float>(4, 2)};
    initialise<float>(net, 1);
    return net;
}

// What a run of a network says if it goes on from that of network(Relu) with digits(). It begins where that one began.
std::string says(const Sequential<float>& net, const Dataset<float>& data) {
    const TemporaryDirectory folder;
    const auto run = [&](const Sequential<float>& n, const Dataset<float>& d, bool resume) {
        run_chains(NetworkPotential<float>(n, Categorical<float>(), d), Sgld{.step_size = 1e-4, .batch = 10},
                   options_in(folder / "run", resume));
    };
    run(network(Relu<float>()), digits(), false);
    const std::string error = error_of<FileError>([&] { run(net, data, true); }), name = folder / "run/chain_1.state: ";
    return error.starts_with(name) ? error.substr(name.size()) : error;
}

std::string says(const std::function<void(Dataset<float>&)>& change) {
    Dataset<float> data = digits();
    change(data);
    return says(network(Relu<float>()), data);
}

struct Logistic {
    Tensor<double> x, y;
    void operator()(Model<double>& m) const {
        const auto b = m.real("b", {3});
        m.prior(normal_lpdf(b, 0, 1));
        m.likelihood(bernoulli_logit_lpmf(m.rows(y), matmul(m.rows(x), b)));
    }
};

const std::string other_model =
    "the energies at fixed points are not those of the saved run; the model or its data are not the same; choose "
    "another directory";

}  // namespace

BOOST_AUTO_TEST_CASE(the_same_network_and_data_go_on) {
    BOOST_TEST(says([](auto&) {}) == "");
}

BOOST_AUTO_TEST_CASE(other_data_of_a_network_are_refused) {
    const auto refused = [](const std::string& text) {
        return text.starts_with("the saved run has data inputs (40, 3) ") && text.ends_with("choose another directory");
    };
    BOOST_TEST(refused(says([](auto& d) { d.labels.mutable_at(17) = 0; })));
    BOOST_TEST(refused(says([](auto& d) { d.inputs.mutable_at(5, 1) = std::nextafter(d.inputs(5, 1), 9.0f); })));
    BOOST_TEST(refused(says([](auto& d) {
        std::vector<std::int64_t> backwards;
        for (std::int64_t i = items; i > 0; --i) backwards.push_back(i - 1);
        d = d.take(backwards);
    })));
}

BOOST_AUTO_TEST_CASE(another_network_is_refused) {
    const auto refused = [](const std::string& text) {
        return text.starts_with("the saved run has network Sequential") && text.find(", this one has ") != text.npos;
    };
    BOOST_TEST(refused(says(network(LeakyRelu<float>(1e-4)), digits())));
    BOOST_TEST(refused(says(network(Relu<float>(), 0.5), digits())));
}

// At the start, b = 0, the energy does not depend on the data.
BOOST_AUTO_TEST_CASE(another_model_is_refused) {
    Logistic first{normals({items, 3}), Tensor<double>::zeros({items})};
    for (std::int64_t i = 0; i < items; ++i) first.y.mutable_at(i) = static_cast<double>(i * i % 3 == 1);
    Logistic other = first, reversed = first;
    other.x.mutable_at(7, 2) += 1e-12;
    for (std::int64_t i = 0; i < items; ++i) {
        reversed.y.mutable_at(i) = first.y(items - 1 - i);
        for (std::int64_t j = 0; j < 3; ++j) reversed.x.mutable_at(i, j) = first.x(items - 1 - i, j);
    }
    const auto goes_on = [&](const Logistic& with, auto sampler) {
        const TemporaryDirectory folder;
        const auto run = [&](const Logistic& model, bool resume) {
            RunOptions options = options_in(folder / "run", resume);
            options.starts = {{0, 0, 0}};
            run_chains(ModelPotential<double>(model, items), sampler, options);
        };
        run(first, false);
        const std::string error = error_of<FileError>([&] { run(with, true); });
        return error == folder / "run/chain_1.state: " + other_model ? "other model" : error;
    };
    BOOST_TEST(goes_on(first, Metropolis{}) == "");
    BOOST_TEST(goes_on(other, Metropolis{}) == "other model");
    BOOST_TEST(goes_on(reversed, Sgld{.step_size = 1e-4, .batch = 10}) == "other model");
}

BOOST_AUTO_TEST_SUITE_END()
