#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/support/group.hpp>
#include <pollen/autograd/support/progress.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace pollen {

// A draw that is kept, for callbacks.
struct DrawRecord {
    std::int64_t chain = 0;          // 1, 2, ..., as the files are numbered
    std::int64_t draw = 0;           // 1, 2, ... of this chain
    std::span<const double> values;  // in the order of Draws::names(); they last as long as the call
    double weight = 1;               // in averages
    StepStatistics statistics;       // of the step that made the draw
};

struct RunOptions {
    std::int64_t chains = 4;
    std::int64_t warmup = 1000;  // steps before the first draw, in which a sampler adapts itself
    std::int64_t draws = 1000;   // of each chain
    std::int64_t thin = 1;       // steps for one draw
    std::uint64_t seed = 0;

    // Where chains start: at given thetas, one for each chain or one for all; or at random in (-radius, radius) on the
    // unconstrained scale. With neither, a network starts at fresh values of its initialisers, and any other potential
    // in
    // (-2, 2).
    std::optional<double> radius = {};
    std::vector<std::vector<double>> starts = {};

    // Where draws are written as they are made: chain_1.csv, ... in CmdStan's layout, and the states of the chains,
    // chain_1.state, .... Empty: nowhere. With `resume` a run continues from the saved states, if there are any, and
    // its files get the same bytes as those of a run that was never interrupted. It may have more draws than before. A
    // crash loses what was drawn since the last flush. A run does not start if the file system has less space than its
    // files may take. Files that were changed or cut since are refused.
    std::string directory = {};
    bool resume = false;
    std::int64_t flush_every = 0;  // draws; 0: once a second, or less often if a flush takes long
    bool save_warmup = false;      // in the files
    std::string name = "model";    // of the model, in the files

    // Whether the values of draws are kept in memory; if not, they are in the files alone. A run does not start if it
    // needs more than max_memory bytes for draws, file buffers and chains (counted three times if they are saved). The
    // memory of the potentials, one for each chain, is not known and not counted.
    bool keep = true;
    std::uint64_t max_memory = std::uint64_t{4} << 30;

    Show show = Show::automatic;
    // A request to stop, from any thread, ends the run soon. See run_chains().
    std::stop_token stop = {};
    // Called after each draw that is kept, so not in the warm-up; the run ends if it returns false. The thread of the
    // chain calls it, one at a time, and other chains that have a draw wait meanwhile. The draws of a chain come in
    // their order; the order among chains is not defined. Each draw is reported once, also those that other chains have
    // made meanwhile if the run ends here, and a run that is resumed reports new draws alone. What it throws leaves
    // run_chains() as it is, when all chains are stopped and saved. With a group each rank reports the draws of the
    // chains that it runs; on_draw must not use the group then, and what it throws is the error of the chain.
    std::function<bool(const DrawRecord&)> on_draw = {};

    // Run the chains first_chain to last_chain alone, as one of several jobs with the same directory: 5 and 8 of 16,
    // for example. They are numbered from 1, as the files are; 0 and 0: all. Each chain has the same draws and
    // files as in a run of all chains. read_run() reads the files of all jobs.
    std::int64_t first_chain = 0, last_chain = 0;

    // The ranks that share the chains; null: this process alone. See below.
    Group* group = nullptr;
};

// Thrown if a chain throws, on rank 0 of a group. The other chains are stopped; what all of them have drawn is in
// draws(), and in the files.
class RunError : public Error {
  public:
    RunError(const std::string& what, std::exception_ptr cause, std::shared_ptr<const Draws> draws)
        : Error(what), cause_(std::move(cause)), draws_(std::move(draws)) {}

    const std::exception_ptr& cause() const { return cause_; }
    const Draws& draws() const { return *draws_; }

  private:
    std::exception_ptr cause_;
    std::shared_ptr<const Draws> draws_;
};

namespace detail {
template <Real T>
using BeginChain = std::function<std::unique_ptr<Chain<T>>(std::unique_ptr<Potential<T>>, ChainStart<T>)>;
// The ranks that share the steps of a sampler, and its lead(); see SamplerOf.
struct StepSharing {
    Group* group = nullptr;
    std::function<void(const std::function<void()>&)> lead = {};
};
template <Real T>
Draws run_chains_of(const Potential<T>& potential, const BeginChain<T>& begin, const std::string& sampler,
                    const RunOptions& options, const std::vector<Quantity>& extra, double state_bytes,
                    const StepSharing& sharing);
}  // namespace detail

// Runs chains of a sampler side by side, each with a copy of the potential and a start of its own:
//
//     const Draws draws = run_chains(schools, Nuts{}, {.seed = 1, .directory = "schools"});
//     std::cout << summary(draws);
//
// The draws depend on the seed, not on the number of threads. Everything that it throws derives from Error, except for
// what on_draw throws.
//
// After a request to stop, by options.stop, each chain makes no further step: a step of many gradients is broken off,
// the chain is where it was before, and run_chains returns what was drawn, with `interrupted` set. Ctrl-C does the same
// to all runs while the program has an Interrupt; run_chains itself leaves signals alone.
//
// Several threads may call run_chains at the same time, each with a directory of its own; the potential may be shared.
// Each run has the bits that it has alone.
//
// With a group, run_chains is a call of the whole group: all ranks make it with the same potential, sampler and
// options, and no other call of the group before it returns. Each rank runs a part of the chains. Draws and files are
// the same as those of one process, except for the recorded seconds. Rank 0 returns all draws, and says how far the
// chains are. On the other ranks Draws::elsewhere is set, and there are neither chains nor values. A request to stop,
// or Ctrl-C, on one rank stops all.
//
// `directory` may have another name on each rank. If it is not the one of rank 0, as on machines without a common file
// system, the chains of that rank write to its own; at the end, also of a run that is stopped, their files are copied
// to rank 0, unless it has them already. A run that is resumed begins by copying the files of each chain from the rank
// that has got furthest with it to the rank that runs it now. max_memory counts what one rank needs; rank 0 has the
// values of all chains.
//
// If a chain throws, rank 0 throws the RunError, and the others a GroupError with its message. What a rank throws
// before the first step, all throw as a GroupError, and so they do if they do not agree on model, data, sampler or
// options.
//
// With a SpreadPotential all ranks call it, too, without the option `group`: rank 0 runs the chains, one after the
// other, a while each, and has the draws. Rank 0 alone is asked to stop, and reports draws. On all ranks `interrupted`
// says whether the run was stopped.
template <Real T, class S>
requires SamplerOf<S, T> Draws run_chains(const Potential<T>& potential, const S& sampler,
                                          const RunOptions& options = {}) {
    const detail::BeginChain<T> begin = [&](std::unique_ptr<Potential<T>> own, ChainStart<T> start) {
        return sampler.begin(std::move(own), std::move(start));
    };
    std::vector<Quantity> extra;
    if constexpr (requires { sampler.extra_quantities(potential); }) extra = sampler.extra_quantities(potential);
    detail::StepSharing sharing;
    if constexpr (requires { sampler.lead(potential, std::function<void()>()); })
        sharing = {sampler.group, [&](const std::function<void()>& f) { sampler.lead(potential, f); }};
    return detail::run_chains_of<T>(potential, begin, sampler.describe(), options, extra,
                                    state_bytes_of(sampler, potential.size(), sizeof(T)), sharing);
}

}  // namespace pollen
