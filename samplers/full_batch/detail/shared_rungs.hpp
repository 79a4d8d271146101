#pragma once

#include <pollen/autograd/support/group.hpp>
#include <pollen/samplers/full_batch/detail/rungs.hpp>

#include <span>
#include <string>
#include <vector>

namespace pollen::detail {

// The moves of the rungs of Tempering, which the ranks of a group share: rung k is moved by rank k modulo their number.
// Rank 0 has the rungs. It sends each one to its rank for a step, with its energy and, if the kernel needs it, its
// gradient, and gets it back.
template <Real T>
class SharedRungs {
  public:
    SharedRungs(const Tempering& options, Phase<T> trial, std::function<void()> check_stop = {});

    // Which step of which chain: its random numbers are random_of(seed, chain, number).
    struct Step {
        std::uint64_t seed = 0;
        std::int64_t chain = 0, number = 0;
    };

    // On rank 0: moves all rungs. Returns what the step may draw after that. If it throws, the other ranks have ended
    // their moves, and some rungs may have moved: undo() takes that back. It throws a GroupError "rank 2: ..." if
    // another rank has thrown.
    Random move(Potential<T>& potential, const Step& step, std::span<Rung<T>> rungs);
    // On rank 0: ends serve() of the others.
    void end(bool failed);
    // On the others: moves rungs until rank 0 has ended. Throws a GroupError "rank 0: ..." if it has failed.
    void serve(Potential<T>& potential);

  private:
    struct Order {
        enum : std::int64_t { done, failed, step };
        std::int64_t what = done;
        Step of = {};
    };
    int owner(std::size_t k) const { return static_cast<int>(k % static_cast<std::size_t>(group_.size())); }
    template <class N>
    void pass(Group::Call& call, int from, int to, std::span<N> numbers);
    Order exchange(Order order, std::span<Rung<T>> rungs);
    void move_own(Potential<T>& potential, std::span<Rung<T>> rungs);
    void bring_back(std::span<Rung<T>> rungs);

    Group& group_;
    bool gradients_;
    RungKernel<T> kernel_;
    std::string name_;
    std::vector<Rung<T>> served_;  // on other ranks than 0; those of this one alone have vectors
};

}  // namespace pollen::detail
