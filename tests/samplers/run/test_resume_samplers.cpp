#include "../../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/constant_sgd.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/minibatch/gibbs_precision.hpp>
#include <pollen/samplers/minibatch/minibatch_mh.hpp>
#include <pollen/samplers/minibatch/naive_sghmc.hpp>
#include <pollen/samplers/minibatch/psgld.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/minibatch/sgnht.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <atomic>
#include <csignal>

using namespace pollen;
using namespace pollen::test;

// Every sampler, interrupted early and late in the warm-up and among the draws, and resumed each time.
BOOST_AUTO_TEST_SUITE(resume_samplers)

namespace {

// Asks for the end of the run, as Ctrl-C does, at one of its evaluations.
class Counted final : public Potential<float> {
  public:
    explicit Counted(const NetworkPotential<float>& inner) : inner_(inner.clone()) {}
    std::unique_ptr<Potential<float>> clone() const override {
        auto copy = std::make_unique<Counted>(static_cast<const NetworkPotential<float>&>(*inner_));
        copy->set_temperature(temperature());
        return copy;
    }
    std::int64_t size() const override { return inner_->size(); }
    std::int64_t items() const override { return inner_->items(); }
    Energy evaluate(std::span<const float> x, std::span<float> g) override {
        count();
        return inner_->evaluate(x, g);
    }
    Energy evaluate(std::span<const float> x, std::span<float> g, std::span<const std::int64_t> batch) override {
        count();
        return inner_->evaluate(x, g, batch);
    }
    const std::vector<Quantity>& quantities() const override { return inner_->quantities(); }
    void values(std::span<const float> x, std::span<double> out) override { inner_->values(x, out); }
    const std::vector<Quantity>& blocks() const override { return inner_->blocks(); }
    std::string describe() const override { return inner_->describe(); }

    static void count() {
        if (evaluations++ == last) std::raise(SIGINT);
    }
    static inline std::atomic<std::int64_t> evaluations = 0;
    static inline std::int64_t last = -1;

  private:
    std::unique_ptr<Potential<float>> inner_;
};

NetworkPotential<float> regression() {
    Dataset<float> data{.inputs = Tensor<float>::empty({24, 2}), .targets = Tensor<float>::empty({24, 1})};
    Random random(4);
    random.fill_normal(data.inputs.mutable_values());
    random.fill_normal(data.targets.mutable_values());
    Sequential<float> net{Dense<float>(2, 2), Dense<float>(2, 1)};
    return {net, Gaussian<float>::known(1), data};
}

template <class S>
void check(const S& sampler, const Potential<float>& potential, std::int64_t flush_every = 0, std::int64_t draws = 40) {
    BOOST_TEST_CONTEXT(sampler.describe()) {
        const TemporaryDirectory folder;
        RunOptions options{.chains = 2,
                           .warmup = 200,
                           .draws = draws,
                           .seed = 3,
                           .radius = 0.5,
                           .directory = folder / "whole",
                           .flush_every = flush_every,
                           .show = Show::nothing};
        Counted::evaluations = 0;
        Counted::last = -1;
        const Draws whole = run_chains(potential, sampler, options);
        const std::int64_t all = Counted::evaluations;
        options.directory = folder / "cut";
        options.resume = true;
        int interrupted = 0;
        for (int k = 0; k < 6; ++k) {
            // The beginning of a chain takes a few evaluations, too, in which nothing can be interrupted.
            Counted::evaluations = 0;
            Counted::last = 10 + all / 10;
            const Interrupt interrupt;
            interrupted += run_chains(potential, sampler, options).interrupted;
        }
        Counted::last = -1;
        const Draws resumed = run_chains(potential, sampler, options);
        BOOST_TEST(interrupted >= 3);
        BOOST_TEST(!resumed.interrupted);
        BOOST_TEST(resumed.values == whole.values);
        BOOST_TEST(same_run(folder / "whole", folder / "cut", 2));
    }
}

// What was written is there without it, and it takes its time.
struct WithoutSync {
    WithoutSync() {
        detail::file_calls().fsync = [](int) { return 0; };
    }
    ~WithoutSync() { detail::file_calls() = detail::FileCalls(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(of_all_data) {
    const WithoutSync quick;
    const Counted u(regression());
    check(Metropolis{}, u);
    check(Mala{}, u);
    check(Hmc{.steps = {2, 6}, .metric = MetricKind::dense}, u);
    check(Hmc{.steps = 3, .alpha = 0.7}, u);
    check(Nuts{.max_depth = 4}, u);
    check(KineticLangevin{}, u);
    check(Tempering{.temperatures = {1, 3}}, u);
}

BOOST_AUTO_TEST_CASE(of_batches) {
    const WithoutSync quick;
    const Counted u(regression());
    const ControlVariate control{.every = 30};
    check(Sgld{.step_size = Schedule::polynomial(0.05, 10, 0.6), .batch = 6}, u);
    check(Sgld{.step_size = 1e-3, .batch = 6, .control_variate = control}, u);
    check(Psgld{.step_size = 1e-3, .batch = 6}, u);
    check(Sghmc{.step_size = 1e-4, .batch = 6, .noise = GradientNoise::estimated()}, u);
    check(Sgnht{.step_size = 1e-3, .batch = 6}, u);
    check(Cyclical{.step_size = 1e-3, .steps = 240, .batch = 6}, u);
    check(ConstantSgd{.batch = 6, .form = ConstantSgd::Form::diagonal}, u);
    check(ConstantSgd{.batch = 6}, u, 0, 0);  // a warm-up alone says in its file what step it came to
    check(ApproximateMinibatchMala{.step_size = 1e-3, .batch = 6}, u);
    check(NaiveSghmc{.step_size = 1e-3, .length = 3, .batch = 6, .metropolis = true}, u);
}

// This one runs on a network alone; so it is interrupted where it writes.
BOOST_AUTO_TEST_CASE(of_a_hyperprior) {
    const WithoutSync quick;
    const detail::FileCalls own;
    detail::file_calls().write = [own](int file, const void* data, std::size_t bytes) {
        Counted::count();
        return own.write(file, data, bytes);
    };
    check(GibbsPrecision<Sghmc>{.sampler = {.step_size = 1e-3, .batch = 6}}, regression(), 10);
}

BOOST_AUTO_TEST_SUITE_END()
