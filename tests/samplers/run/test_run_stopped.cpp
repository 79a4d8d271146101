#include "../../data/fuse.hpp"
#include "../../stopper.hpp"
#include "../../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/gibbs_precision.hpp>
#include <pollen/samplers/minibatch/naive_sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>

using namespace pollen;
using namespace pollen::test;

// A request to stop in the middle of a step of many gradients.
BOOST_AUTO_TEST_SUITE(run_stopped)

namespace {

// Asks the run to stop at one of its evaluations.
struct Signals {
    std::int64_t evaluations = 0, at = -1;
    Stopper stopper = {};

    void count() {
        if (++evaluations == at) stopper.ask();
    }
};

template <class S>
Draws run_stoppable(Signals& signals, const Potential<double>& potential, const S& sampler, RunOptions options) {
    const Interrupt interrupt;
    options.stop = signals.stopper.token();
    return run_chains(potential, sampler, options);
}

// A run with files first evaluates its model at two fixed points.
constexpr std::int64_t fixed_points = 2;

FunctionPotential<double> bowl(Signals& signals) {
    return {{"x", "y"}, [&signals](std::span<const double> x, std::span<double> slope) {
                signals.count();
                if (!slope.empty()) slope[0] = x[0], slope[1] = 4 * x[1];
                return x[0] * x[0] / 2 + 2 * x[1] * x[1];
            }};
}

RunOptions one_chain(std::int64_t warmup, const std::string& directory = {}) {
    return {.chains = 1,
            .warmup = warmup,
            .draws = 5,
            .seed = 3,
            .starts = {{1, -0.5}},
            .directory = directory,
            .show = Show::nothing};
}

// Runs a sampler whose steps make many gradients, and interrupts it again and again in their middle. Says what is
// wrong.
template <class S>
std::string interrupted_again_and_again(const S& sampler, std::int64_t warmup, std::int64_t step) {
    const TemporaryDirectory folder;
    arm_files();  // without flushes to the disk
    const ResetCalls reset;
    Signals signals;
    const FunctionPotential<double> potential = bowl(signals);
    const Draws whole = run_chains(potential, sampler, one_chain(warmup, folder / "whole"));
    RunOptions options = one_chain(warmup, folder / "cut");
    options.resume = true;
    for (int times = 0;; ++times) {
        if (times == 100) return "it comes to no end";
        const int how[] = {SIGINT, 0, SIGTERM, 0};
        signals = {.at = fixed_points + 1 + step + step / 2 * (times % 3), .stopper = {.signal = how[times % 4]}};
        const Draws cut = run_stoppable(signals, potential, sampler, options);
        if (signals.evaluations > signals.at + 2) return "evaluations after the signal";
        for (std::int64_t t = 0; t < cut.size(); ++t)
            if (cut.values(0, t, 0) != whole.values(0, t, 0)) return "other draws";
        if (cut.interrupted) continue;
        if (times < 2) return "it was hardly interrupted";
        break;
    }
    return same_run(folder / "whole", folder / "cut", 1) ? "" : "other files";
}

// A sampler of one's own that asks whether it is to stop. If it is broken, it asks when it has moved already.
struct Asking {
    bool broken = false;

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const { return "Asking()"; }
};

template <Real T>
class AskingChain final : public Chain<T> {
  public:
    AskingChain(bool broken, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : broken_(broken), potential_(std::move(potential)), start_(std::move(start)), position_(start_.position) {}
    StepStatistics step() override {
        std::vector<T> next = position_, gradient(position_.size());
        std::vector<T>& moving = broken_ ? position_ : next;
        Random random = random_of(start_.seed, start_.chain, steps_);
        for (int k = 0; k < 300; ++k) {
            if (start_.check_stop) start_.check_stop();
            potential_->evaluate(moving, gradient);
            for (std::size_t i = 0; i < moving.size(); ++i)
                moving[i] += T(0.01) * (random.normal<T>() - gradient[i] / 2);
        }
        if (!broken_) position_ = next;
        ++steps_;
        return {.energy = 0, .acceptance = 1, .step_size = 0.01};
    }
    std::span<const T> position() const override { return position_; }
    std::int64_t steps() const override { return steps_; }
    void visit(StateVisitor& v) override { v.integer("steps", steps_), v.vector("position", position_); }

  private:
    bool broken_;
    std::unique_ptr<Potential<T>> potential_;
    ChainStart<T> start_;
    std::vector<T> position_;
    std::int64_t steps_ = 0;
};

template <Real T>
std::unique_ptr<Chain<T>> Asking::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<AskingChain<T>>(broken, std::move(potential), std::move(start));
}

}  // namespace

// At most the evaluation that was on its way and one more come after the signal, and the files are in the end those of
// a run that was never interrupted.
BOOST_AUTO_TEST_CASE(long_steps_are_stopped_in_their_middle) {
    const WarmupOptions fixed{.step_size = false};
    for (const std::int64_t warmup : {0, 6}) {
        BOOST_TEST(interrupted_again_and_again(Hmc{.step_size = 1e-3, .steps = 500, .warmup = fixed}, warmup, 500) ==
                   "");
        BOOST_TEST(interrupted_again_and_again(
                       Hmc{.step_size = 1e-3, .steps = {300, 600}, .alpha = 0.7, .warmup = fixed}, warmup, 600) == "");
        BOOST_TEST(interrupted_again_and_again(Nuts{.step_size = 2e-3, .max_depth = 8, .warmup = fixed}, warmup, 255) ==
                   "");
        BOOST_TEST(interrupted_again_and_again(Tempering{.temperatures = {1, 3, 9}, .steps = 90}, warmup, 270) == "");
        BOOST_TEST(interrupted_again_and_again(
                       Tempering{.temperatures = {1, 3}, .kernel = Tempering::Kernel::metropolis, .steps = 90}, warmup,
                       180) == "");
        for (const bool metropolis : {false, true})
            BOOST_TEST(interrupted_again_and_again(
                           NaiveSghmc{.step_size = 1e-3, .length = 200, .metropolis = metropolis}, warmup, 202) == "");
        BOOST_TEST(interrupted_again_and_again(Asking{}, warmup, 300) == "");
        BOOST_TEST(interrupted_again_and_again(Asking{.broken = true}, warmup, 300) != "");
    }
}

// The search for a first step size is a part of the first step.
BOOST_AUTO_TEST_CASE(the_first_step_is_stopped_and_made_again) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    Signals signals;
    const FunctionPotential<double> potential = bowl(signals);
    const auto check = [&](const auto& sampler, const std::string& name, std::int64_t within_trajectory) {
        signals = {};
        run_stoppable(signals, potential, sampler, one_chain(30, folder / ("whole" + name)));
        for (const std::int64_t at : {std::int64_t{3}, std::int64_t{8}, std::int64_t{20}, within_trajectory}) {
            RunOptions options = one_chain(30, folder / ("cut" + name + std::to_string(at)));
            signals = {.at = fixed_points + at};
            BOOST_TEST(run_stoppable(signals, potential, sampler, options).interrupted);
            BOOST_TEST(signals.evaluations == signals.at);
            BOOST_TEST(read_safetensors(options.directory + "/chain_1.state").metadata.at("steps") == "0");
            signals = {};
            options.resume = true;
            run_stoppable(signals, potential, sampler, options);
            BOOST_TEST(same_run(folder / ("whole" + name), options.directory, 1), name << " stopped at " << at);
        }
    };
    // About 17 halvings to begin with.
    check(Nuts{.step_size = 1e5}, "nuts", 24);
    check(Hmc{.step_size = 1e5, .time = 100}, "hmc", 60);
    check(Hmc{.step_size = 1e5, .time = 100, .alpha = 0.5}, "partial", 60);
}

// So is the search after the metric has changed: of the first step with the new metric.
BOOST_AUTO_TEST_CASE(a_search_with_a_new_metric_is_stopped_and_made_again) {
    const auto check = [](const auto& sampler) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        Signals signals;
        const FunctionPotential<double> potential = bowl(signals);
        RunOptions options = one_chain(40, folder / "whole");
        options.save_warmup = true;
        run_stoppable(signals, potential, sampler, options);
        const std::int64_t evaluations = signals.evaluations;
        int in_search = 0;
        for (std::int64_t at = fixed_points + 3; at < evaluations; ++at) {
            options.directory = folder / std::to_string(at);
            options.resume = false;
            signals = {.at = at};
            run_stoppable(signals, potential, sampler, options);
            const std::string state = options.directory + "/chain_1.state";
            const TensorFile file = read_safetensors(state);
            const std::vector<std::string> names = file.names();
            const auto search =
                std::ranges::find_if(names, [](const std::string& name) { return name.ends_with(".search_from"); });
            BOOST_REQUIRE((search != names.end()));
            // A step of MALA, and one of a short trajectory, ends first.
            BOOST_TEST(signals.evaluations <= signals.at + 1);
            if (file.counters(*search).at(0) == 0) continue;
            ++in_search;
            BOOST_TEST(signals.evaluations == signals.at);
            options.resume = true;
            signals = {};
            run_stoppable(signals, potential, sampler, options);
            BOOST_TEST(same_run(folder / "whole", options.directory, 1), sampler.describe() << " stopped at " << at);
        }
        BOOST_TEST(in_search >= 2, sampler.describe());
    };
    const WarmupOptions windows{.first = 5, .window = 10, .last = 5};
    check(Nuts{.max_depth = 3, .metric = MetricKind::diagonal, .warmup = windows});
    check(Hmc{.steps = 3, .alpha = 0.5, .metric = MetricKind::dense, .warmup = windows});
    check(Mala{.metric = MetricKind::diagonal, .warmup = windows});
}

// The precisions of a step are drawn before its trajectory, and not again when it is made again.
BOOST_AUTO_TEST_CASE(a_step_between_draws_of_precisions_is_stopped_and_made_again) {
    Signals signals;
    const Activation<double> counted("Counted", [&signals](Var<double> x) {
        signals.count();
        return tanh(x);
    });
    Dataset<double> data{normals({12, 1}, 1), normals({12, 1}, 2)};
    const NetworkPotential<double> potential(Sequential<double>{Dense<double>(1, 3), counted, Dense<double>(3, 1)},
                                             Gaussian<double>::known(1), data);
    const auto check = [&](const auto& sampler) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        RunOptions options{.chains = 1, .warmup = 0, .draws = 6, .seed = 3, .radius = 1, .show = Show::nothing};
        options.directory = folder / "whole";
        signals = {};
        run_stoppable(signals, potential, sampler, options);
        const std::int64_t evaluations = signals.evaluations;
        options.resume = true;
        int interrupted = 0;
        for (std::int64_t at = 8; at < evaluations; ++at) {
            options.directory = folder / std::to_string(at);
            signals = {.at = at};
            interrupted += run_stoppable(signals, potential, sampler, options).interrupted;
            BOOST_TEST(signals.evaluations <= at + 2, at);
            // Once more, in the same step or the next.
            signals = {.at = 10};
            run_stoppable(signals, potential, sampler, options);
            signals = {};
            run_stoppable(signals, potential, sampler, options);
            BOOST_TEST(same_run(folder / "whole", options.directory, 1), sampler.describe() << " stopped at " << at);
        }
        BOOST_TEST(interrupted > evaluations / 2);
    };
    for (const bool metropolis : {false, true})
        check(GibbsPrecision<NaiveSghmc>{
            .sampler = {.step_size = 1e-3, .length = 20, .batch = 4, .metropolis = metropolis},
            .hyperprior = {.every = 2}});
}

// What is left of a step that was stopped has its place in a run.
BOOST_AUTO_TEST_CASE(remains_of_a_step_where_none_can_be_are_refused) {
    const auto error = [](const auto& potential, const auto& sampler, const std::string& name, std::uint64_t number) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        RunOptions options{.chains = 1, .warmup = 30, .draws = 5, .seed = 3, .show = Show::nothing};
        options.directory = folder.path();
        run_chains(potential, sampler, options);
        const std::string path = folder / "chain_1.state";
        forge(path, [&](TensorFile& file) {
            for (const std::string& entry : file.names())
                if (entry.ends_with("." + name)) file.set(entry, TensorFile::Counters{number});
        });
        options.resume = true;
        const std::string text = error_of<FileError>([&] { run_chains(potential, sampler, options); });
        return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
    };
    Signals signals;
    const FunctionPotential<double> potential = bowl(signals);
    BOOST_TEST(error(potential, Nuts{}, "search_from", 0) == "");
    BOOST_TEST(error(potential, Nuts{}, "search_from", 3) ==
               "search_from is 3, but no step size is searched for at step 35");
    BOOST_TEST(error(potential, Nuts{}, "search_from", ~std::uint64_t{0}) == "search_from is -1, which is impossible");
    const NetworkPotential<double> network(Dense<double>(1, 1), Gaussian<double>::known(1),
                                           Dataset<double>{normals({12, 1}, 1), normals({12, 1}, 2)});
    const GibbsPrecision<Sgld> sampler{.sampler = {.step_size = 1e-3}, .hyperprior = {.every = 2}};
    BOOST_TEST(error(network, sampler, "drawn", 0) == "");
    BOOST_TEST(error(network, sampler, "drawn", 1) == "drawn is 1, but no precisions are drawn at step 35");
    BOOST_TEST(error(network, sampler, "drawn", ~std::uint64_t{0}) == "drawn is -1, which is impossible");
}

// What is saved is the last complete step.
BOOST_AUTO_TEST_CASE(the_saved_state_is_that_of_the_last_complete_step) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    Signals signals;
    const FunctionPotential<double> potential = bowl(signals);
    const Hmc sampler{.step_size = 1e-3, .steps = 100, .warmup = {.step_size = false}};
    for (const std::int64_t steps : {0, 1, 4}) {
        // A chain begins with two evaluations.
        signals = {.at = fixed_points + 2 + 100 * steps + 50};
        const RunOptions options = one_chain(0, folder / std::to_string(steps));
        const Draws cut = run_stoppable(signals, potential, sampler, options);
        BOOST_TEST(signals.evaluations == signals.at);
        BOOST_TEST(cut.interrupted);
        BOOST_TEST(cut.size() == steps);
        BOOST_TEST(read_safetensors(options.directory + "/chain_1.state").metadata.at("steps") ==
                   std::to_string(steps));
    }
}

BOOST_AUTO_TEST_SUITE_END()
