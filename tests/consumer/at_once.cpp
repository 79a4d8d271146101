// Two training runs and two runs of chains at once, from four threads, have the bits of one after the other.
#include <pollen/pollen.hpp>

#include <iostream>
#include <latch>
#include <thread>

using namespace pollen;

std::vector<double> trained(const Dataset<double>& data, std::uint64_t seed, const std::function<void()>& first_step) {
    auto net = bayesian(Sequential<double>{Dense<double>(4, 50), Tanh<double>(), Dense<double>(50, 1)});
    auto likelihood = Gaussian<double>::learned(0.5);
    TrainOptions options{.epochs = 5, .batch = 25, .seed = seed, .show = Show::nothing};
    options.on_step = [&](const StepRecord& now) {
        if (now.step == 1) first_step();
        return true;
    };
    train(net, likelihood, data, options);
    const Tensor<double> theta = Parameters<double>(net).flatten();
    return {theta.begin(), theta.end()};
}

std::vector<double> drawn(const Dataset<double>& data, std::uint64_t seed, const std::function<void()>& first_draw) {
    const ModelPotential<double> regression([&](Model<double>& m) {
        const auto beta = m.real("beta", {4, 1});
        const auto sigma = m.positive("sigma");
        m.prior(normal_lpdf(beta, 0, 2));
        m.prior(exponential_lpdf(sigma, 1));
        m.likelihood(normal_lpdf(data.targets, matmul(data.inputs, beta), sigma));
    });
    RunOptions options{.chains = 2, .warmup = 100, .draws = 100, .seed = seed, .show = Show::nothing};
    bool first = true;  // calls of on_draw come one at a time
    options.on_draw = [&](const DrawRecord&) {
        if (std::exchange(first, false)) first_draw();
        return true;
    };
    const Draws draws = run_chains(regression, Nuts{}, options);
    return {draws.values.begin(), draws.values.end()};
}

int main() {
    Dataset<double> data{.inputs = Tensor<double>::empty({100, 4}), .targets = Tensor<double>::empty({100, 1})};
    Random random(1);
    random.fill_normal(data.inputs.mutable_values());
    random.fill_normal(data.targets.mutable_values());
    const auto run = [&](std::size_t k, const std::function<void()>& begun) {
        return k < 2 ? trained(data, k, begun) : drawn(data, k, begun);
    };
    std::vector<double> alone[4], together[4];
    for (std::size_t k = 0; k < 4; ++k) alone[k] = run(k, [] {});
    std::latch all(4);  // none goes on before all have begun
    {
        std::vector<std::jthread> threads;
        for (std::size_t k = 0; k < 4; ++k)
            threads.emplace_back([&, k] { together[k] = run(k, [&] { all.arrive_and_wait(); }); });
    }
    bool right = alone[0] != alone[1] && alone[2] != alone[3];
    for (std::size_t k = 0; k < 4; ++k) right = right && together[k] == alone[k];
    std::cout << (right ? "the bits are the same\n" : "the bits differ\n");
    return right ? 0 : 1;
}
