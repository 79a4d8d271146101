#pragma once

#include <pollen/data/sets/spread.hpp>
#include <pollen/nn/potentials/itemwise_potential.hpp>

#include <memory>

namespace pollen {

// The potential of a posterior whose items are spread over the ranks of a group. Each rank makes the potential of the
// items that it has, and this one from it:
//
//     const Spread spread(group, 60'000, 64);
//     const Dataset<float> mine = ...;  // items spread.first(), ..., spread.last() - 1
//     const NetworkPotential<float> part(net, likelihood, mine, {.first_item = spread.first()});
//     const SpreadPotential<float> potential(part, spread);
//     const Draws draws = run_chains(potential, Hmc{}, {.directory = "digits"});  // on all ranks; rank 0 has the draws
//
// Rank 0 leads: it runs the samplers and decides by the clock, by files and by requests to stop. The others compute
// their share of each energy and gradient that it asks for. The prior and its temperature are those of rank 0.
// run_chains() sees to that. Any other code that evaluates the potential goes inside lead(), which all ranks call:
//
//     potential.lead([&] { error = check_gradient(*potential.clone(), theta).error; });  // rank 0 has the error
//
// If f() throws on rank 0, lead() throws the same there, and a GroupError "rank 0: ..." on the others. If a rank cannot
// evaluate its items, evaluate() throws a GroupError "rank 3: ..." on rank 0, and the others go on serving. Any other
// error of a rank that serves, such as memory that the system refused, is a GroupError on all and ends the group.
// Ranks that serve are not asked to stop: if they have an Interrupt, they ignore Ctrl-C until rank 0 has ended.
//
// The leaves of the sum are the blocks of the Spread; for a batch, the blocks that have items of it. They are added up
// in the order of ordered_sum(). So the bits depend on the number of blocks, but not on the numbers of ranks and
// threads, and a run may be resumed on another number of ranks. Threads of a rank share its leaves, so there should be
// a few blocks for each thread. A large network has the leaves one after the other, each with all threads. Beside its
// items a rank needs memory for 2 log2(blocks) + 2 gradients at most, and in a small network for 4,194,304 numbers
// more.
//
// Clones share what evaluates, and are evaluated one at a time. On a group of one they are independent.
template <Real T>
class SpreadPotential final : public Potential<T> {
  public:
    // A call of the whole group, which must outlive the potential. `part` has the items of this rank, and is copied.
    // Throws a ValueError on a group of one, and a GroupError on all ranks of a larger one, if it has another number of
    // items, or if its likelihood is not a sum over items; and if the ranks do not agree on the model.
    SpreadPotential(const ItemwisePotential<T>& part, const Spread& spread);
    ~SpreadPotential() override;

    std::unique_ptr<Potential<T>> clone() const override;
    std::int64_t size() const override;
    std::int64_t items() const override;
    // Throw a ValueError outside of lead(), unless this is a group of one.
    Energy evaluate(std::span<const T> theta, std::span<T> gradient) override;
    Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch) override;
    std::vector<T> start(std::uint64_t seed, std::uint32_t chain) const override;
    const std::vector<Quantity>& quantities() const override;
    void values(std::span<const T> theta, std::span<double> out) override;
    const std::vector<Quantity>& blocks() const override;
    std::string describe() const override;
    bool of_network() const override;
    void lead(const std::function<void()>& f) const override;
    bool of_leader(bool flag) const override;
    bool one_at_a_time() const override;

  private:
    class Engine;
    SpreadPotential(const SpreadPotential& other);
    Energy evaluate_checked(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch);

    std::shared_ptr<Engine> engine_;
};

}  // namespace pollen
