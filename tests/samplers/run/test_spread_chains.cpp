#include "../../nn/potentials/spread_cases.hpp"
#include "../../support.hpp"
#include "run_files.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/autograd/support/thread_group.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <atomic>
#include <csignal>

using namespace pollen;
using namespace pollen::test;

// Chains of potentials whose items are spread over ranks.
BOOST_AUTO_TEST_SUITE(spread_chains)

namespace {

RunOptions short_spread_run(const std::string& directory, std::int64_t draws = 12) {
    return {.chains = 2, .warmup = 10, .draws = draws, .seed = 7, .directory = directory, .show = Show::nothing};
}

// A model that asks for the end of the run, as Ctrl-C does, at one of its calls.
struct StoppingCase {
    static inline std::atomic<std::int64_t> calls = 0, last = -1;

    std::unique_ptr<ItemwisePotential<double>> part(const Dataset<double>& mine, std::int64_t) const {
        const auto function = [mine](Model<double>& m) {
            if (calls++ == last) std::raise(SIGINT);
            const auto mu = m.real("mu");
            m.prior(normal_lpdf(mu, 0, 1));
            m.likelihood(normal_lpdf(m.rows(mine.targets), mu, 1));
        };
        return std::make_unique<ModelPotential<double>>(function, mine.size());
    }
};

// The draws of rank 0; those of the others must be empty, and interrupted if these are.
template <Real T, class Case, class S>
Draws run_on(int ranks, int threads, const Case& from, const S& sampler, const RunOptions& options) {
    Draws result;
    std::vector<char> interrupted(static_cast<std::size_t>(ranks));
    run_group(ranks, [&](Group& group) {
        with_threads(threads, [&] {
            const SpreadPotential<T> u = spread_potential<T>(from, group, spread_data<T>(60), 8);
            Draws draws = run_chains(u, sampler, options);
            interrupted[static_cast<std::size_t>(group.rank())] = draws.interrupted;
            if (group.rank() > 0 && (draws.size() > 0 || !draws.files.empty())) throw Error("draws on another rank");
            if (group.rank() == 0) result = std::move(draws);
        });
    });
    for (const char other : interrupted) BOOST_TEST((other != 0) == result.interrupted);
    return result;
}

// The same files at any number of ranks and threads, and if the run is resumed on others.
template <Real T, class Case, class S>
void check_files(const Case& from, const S& sampler) {
    const TemporaryDirectory folder;
    const auto options = [&](const std::string& name) { return short_spread_run(folder / name); };
    const Draws whole = run_on<T>(1, 1, from, sampler, options("1"));
    BOOST_TEST(whole.size() == 12);
    for (const int ranks : {2, 3, 4, 7})
        for (const int threads : {1, 2}) {
            const std::string name = std::to_string(ranks) + " " + std::to_string(threads);
            const Draws draws = run_on<T>(ranks, threads, from, sampler, options(name));
            BOOST_TEST(draws.values == whole.values);
            BOOST_TEST(draws.network == whole.network);
            BOOST_TEST(same_run(folder / "1", folder / name, 2), name);
        }
    RunOptions cut = short_spread_run(folder / "cut", 3);
    run_on<T>(3, 2, from, sampler, cut);
    cut.resume = true;
    for (const auto& [ranks, draws] : {std::pair{1, 7}, std::pair{4, 12}}) {
        cut.draws = draws;
        BOOST_TEST(run_on<T>(ranks, 1, from, sampler, cut).size() == draws);
    }
    BOOST_TEST(same_run(folder / "1", folder / "cut", 2));
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_data) {
    check_files<float>(NetworkCase<float>{}, Hmc{.steps = 3});
    check_files<double>(NetworkCase<double>{}, Hmc{.steps = 3});
    check_files<double>(ModelCase<double>{}, Nuts{.max_depth = 3});
}

BOOST_AUTO_TEST_CASE(batches) {
    const Sghmc sghmc{.step_size = 1e-4, .friction = 0.1, .batch = 9};
    check_files<float>(NetworkCase<float>{}, sghmc);
    check_files<double>(ModelCase<double>{}, sghmc);
}

// A run knows that it is of a network, and resumes neither with other data nor with other blocks.
BOOST_AUTO_TEST_CASE(what_a_run_knows) {
    const TemporaryDirectory folder;
    const RunOptions options = short_spread_run(folder / "run");
    const Draws draws = run_on<double>(2, 1, NetworkCase<double>{}, Hmc{.steps = 1}, options);
    BOOST_TEST(draws.network);
    const auto resume = [&](const Dataset<double>& data, std::int64_t blocks) {
        RunOptions again = options;
        again.resume = true;
        std::string text;
        run_group(2, [&](Group& group) {
            const SpreadPotential<double> u = spread_potential<double>(NetworkCase<double>{}, group, data, blocks);
            const std::string thrown = error_of<Error>([&] { run_chains(u, Hmc{.steps = 1}, again); });
            if (group.rank() == 0) text = thrown;
        });
        return text;
    };
    const std::string file = folder / "run" + std::string("/chain_1.state");
    Dataset<double> other = spread_data<double>(60);
    other.targets.mutable_at(41, 0) += 1;
    BOOST_TEST(resume(spread_data<double>(60), 8) == "");
    BOOST_TEST(resume(other, 8) == file +
                                       ": the energies at fixed points are not those of the saved run; the model or "
                                       "its data are not the same; choose another directory");
    const std::string model =
        "network of 0.weight(8, 3) 0.bias(8) 2.weight(1, 8) 2.bias(1) likelihood.log_sd(), Gaussian(learned sd), prior "
        "GaussianPrior(sd 1), 60 items in ";
    BOOST_TEST(resume(spread_data<double>(60), 9) == file + ": the saved run has model " + model +
                                                         "8 blocks, this one has " + model +
                                                         "9 blocks; to start anew, choose another directory");
}

// After Ctrl-C rank 0 stops the run, and all ranks return. It goes on where it was, on another number of ranks.
BOOST_AUTO_TEST_CASE(stopped) {
    const TemporaryDirectory folder;
    const Sghmc sampler{.step_size = 1e-4, .friction = 0.1, .batch = 9};
    run_on<double>(1, 1, StoppingCase{}, sampler, short_spread_run(folder / "whole"));
    const std::int64_t all = StoppingCase::calls;
    RunOptions options = short_spread_run(folder / "cut");
    options.resume = true;
    int interrupted = 0;
    for (const int ranks : {3, 2, 4}) {
        StoppingCase::calls = 0;
        StoppingCase::last = all / 2;
        const Interrupt interrupt;
        interrupted += run_on<double>(ranks, 1, StoppingCase{}, sampler, options).interrupted;
    }
    StoppingCase::last = -1;
    BOOST_TEST(interrupted > 0);
    BOOST_TEST(!run_on<double>(3, 1, StoppingCase{}, sampler, options).interrupted);
    BOOST_TEST(same_run(folder / "whole", folder / "cut", 2));
}

// What a chain throws is thrown on rank 0, and the others hear of it.
BOOST_AUTO_TEST_CASE(errors) {
    std::vector<std::string> texts(3);
    run_group(3, [&](Group& group) {
        const SpreadPotential<double> u = spread_potential<double>(ModelCase<double>{}, group, spread_data<double>(60));
        texts[static_cast<std::size_t>(group.rank())] =
            error_of<Error>([&] { run_chains(u, Hmc{}, {.chains = 0, .show = Show::nothing}); });
    });
    BOOST_TEST(texts[0] == "run_chains: chains is 0; at least 1 is needed");
    for (const std::size_t rank : {1u, 2u}) BOOST_TEST(texts[rank] == "rank 0: " + texts[0]);
}

BOOST_AUTO_TEST_SUITE_END()
