#pragma once

#include <pollen/autograd/support/group.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/full_batch/uniform_range.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pollen {

// Parallel tempering (Swendsen & Wang, Replica Monte Carlo simulation of spin glasses, 1986; Geyer 1991): one copy of
// theta for each rung of a ladder of temperatures, rung k with the target exp(-U / (T t_k)). All copies move by
// themselves, then neighbours change places, pairs (0, 1), (2, 3), ... and (1, 2), (3, 4), ... in turn, with
// probability
//
//     min(1, exp((b_i - b_j) (U_i - U_j))),    b_k = 1 / (T t_k)
//
// so that what a hot copy finds comes down to rung 0, whose position is the position of the chain. U is the energy at
// temperature T, in which the log Jacobian of constrained parameters has the factor T: rung 0 has the law that is
// meant, and nothing depends on that of the others, whose Jacobians are tempered, too. (For a half-Cauchy
// parameter, the density of a hot copy without that factor could not be normalised.)
//
// A step costs as many moves as there are rungs. The warm-up adapts a step size for each of them, by DualAveraging.
//
// The ranks of a group can share these moves: with 4 rungs on 4 ranks, a step takes the time of one. All ranks call
//
//     const Draws draws = run_chains(potential, Tempering{.group = &group}, {.directory = "run"});
//
// with the same arguments, and without RunOptions::group. Draws and files are those of one process, but for the
// seconds, and a run may be resumed on another number of ranks. Rank 0 returns the draws; on the others
// Draws::elsewhere is set. Rank 0 has all chains, makes the swaps and writes the files. In each step it sends every
// rung of another rank there, a position and a gradient, and gets them back; that is little beside a trajectory of many
// gradients. Ranks beyond the number of rungs have nothing to do. Chains take turns, each on all ranks.
//
// If the ranks do not agree on model, data, sampler or options, all throw a GroupError before the first step. If a rank
// throws in a move, rank 0 throws the RunError "...: rank 2: ...", and the others a GroupError "rank 0: ...". Rank 0
// alone is asked to stop, and stops in a trajectory of its own; a rank that helps ends its moves of that step first.
struct Tempering {
    enum class Kernel { hmc, metropolis };
    std::vector<double> temperatures = {1, 2, 4, 8};  // t_k: 1 first, rising
    Kernel kernel = Kernel::hmc;
    double step_size = 0.1;                        // of rung 0 to begin with; rung k has sqrt(t_k) times that
    UniformRange<std::int64_t> steps = {5, 15};    // leapfrog steps, or Metropolis steps, between two swaps
    std::optional<double> target_acceptance = {};  // if not given: 0.8, and 0.234 + 0.206 / dimension of Metropolis
    bool adapt = true;                             // the step sizes, in the warm-up; the metric is always 1
    Group* group = nullptr;                        // the ranks that share the rungs; null: this process alone

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;

    // A call of the whole group: calls f() on rank 0, which may begin chains of this sampler with clones of the
    // potential, and make their steps. The others help until f() returns. run_chains() makes this call.
    template <Real T>
    void lead(const Potential<T>& potential, const std::function<void()>& f) const;
};

}  // namespace pollen
