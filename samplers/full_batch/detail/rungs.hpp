#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>

#include <cstdint>
#include <functional>

// The rungs of Tempering, and how they move between two swaps.
namespace pollen::detail {

template <Real T>
struct Rung {
    double beta = 1;
    double step_size = 1;
    Phase<T> z, before;  // before: where the present step has begun, once it has moved
    bool moved = false;

    // Of the present step.
    double acceptance = 0;
    std::int64_t gradients = 0;
    bool invalid = false;

    // Goes back to where the present step has begun.
    void undo();
};

template <Real T>
class RungKernel {
  public:
    // Vectors of `trial` are used for proposals.
    RungKernel(const Tempering& options, Phase<T> trial, std::function<void()> check_stop);

    // Begins a step that has these random numbers.
    void begin(Random random);
    // Moves rung k. The result depends on k, the rung and the potential alone, not on what was moved before.
    void move(Potential<T>& potential, std::int64_t k, Rung<T>& rung);
    // The random numbers of the step after those of rungs 0 to k - 1, each of which has as many.
    Random random(std::int64_t k) const;

  private:
    bool by_gradients() const { return options_.kernel == Tempering::Kernel::hmc; }
    void hmc(Potential<T>& potential, Rung<T>& rung, Random random);
    void metropolis(Potential<T>& potential, Rung<T>& rung, Random random);
    void accept(Rung<T>& rung);

    Tempering options_;
    Metric<T> metric_;
    Phase<T> trial_;
    std::function<void()> check_stop_;
    Random first_;            // the beginning of rung 0
    std::int64_t steps_ = 0;  // of each rung
};

}  // namespace pollen::detail
