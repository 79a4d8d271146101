#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// The two parts of a potential, in double and apart: both are large sums, and what a sampler decides by is the small
// difference between two of them.
struct Energy {
    double prior = 0;       // -log p(theta), and -T log |Jacobian| of constrained parameters
    double likelihood = 0;  // -sum_i log p(x_i | theta), times N/n where the sum is over a batch of n of N items

    double total() const;
};

// What a draw consists of: a parameter as the model knows it, or a quantity computed from parameters.
struct Quantity {
    std::string name;
    Shape shape;
    std::int64_t offset = 0;  // of its first number among all values of a draw
};

// The potential of a posterior,
//
//     U(theta)  = -log p(theta) - sum_{i=1..N} log p(x_i | theta)
//     U~(theta) = -log p(theta) - N/n sum_{i in batch} log p(x_i | theta)         target ~ exp(-U / T)
//
// theta is a vector of numbers without bounds. There are three ways to write one: a function of named parameters
// (Model, for any log density), a network with a prior, a likelihood and data (NetworkPotential), and a function that
// returns U and its gradient (FunctionPotential). A potential has a tape of its own and serves one chain at a time;
// clone() makes one for another chain.
//
// A temperature belongs to the density as it was written: where theta is a transform of parameters x with bounds, the
// target is p(x)^(1/T) dx. U has -T log |dx/dtheta| then, so that exp(-U / T) has the Jacobian as it is.
template <Real T>
class Potential {
  public:
    virtual ~Potential() = default;
    virtual std::unique_ptr<Potential> clone() const = 0;

    virtual std::int64_t size() const = 0;   // numbers in theta
    virtual std::int64_t items() const = 0;  // N, or 0 where no batches can be made

    // U and, where `gradient` is not empty, dU/dtheta: size() numbers, which are overwritten. Where the density is 0
    // the energy is infinite; a sampler rejects such a point.
    virtual Energy evaluate(std::span<const T> theta, std::span<T> gradient) = 0;
    // The same for U~ on the items given.
    virtual Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch) = 0;

    // Where a chain should begin; nothing where any point will do.
    virtual std::vector<T> start(std::uint64_t seed, std::uint32_t chain) const;

    // Why the density of the last point is 0: what the DomainError said, or nothing where there was none.
    const std::string& refusal() const { return refusal_; }

    // The values of a draw: every quantity at theta, value_count() numbers one after the other.
    virtual const std::vector<Quantity>& quantities() const = 0;
    virtual void values(std::span<const T> theta, std::span<double> out) = 0;
    std::int64_t value_count() const {
        return quantities().empty() ? 0 : quantities().back().offset + quantities().back().shape.size();
    }

    // The parameters that theta is made of, unconstrained: for messages, and for the names in a saved state.
    virtual const std::vector<Quantity>& blocks() const = 0;
    const std::string& block_of(std::int64_t coordinate) const;

    // A text that tells one model from another.
    virtual std::string describe() const = 0;

    // What else a saved run must share with the run that goes on from it, by name: {"network", ...}, {"data", ...}. If
    // it is empty, a run compares energies and gradients at fixed points, bit by bit.
    virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }

    // Whether theta is the parameters of a network.
    virtual bool of_network() const { return false; }

    // Calls f(), which may evaluate the potential. If it is evaluated by the ranks of a group together
    // (SpreadPotential), all ranks call lead(); then f() is called on rank 0 alone, and the others help until it
    // returns. f makes no calls of the group.
    virtual void lead(const std::function<void()>& f) const { f(); }
    // After lead(), on all ranks that called it: returns what the rank that called f() passes.
    virtual bool of_leader(bool flag) const { return flag; }
    // Whether this potential and its clones are evaluated one at a time, each with all threads.
    virtual bool one_at_a_time() const { return false; }

    // T of the target exp(-U / T): 1 is the posterior, 0 optimisation. Clones have it, too.
    double temperature() const { return temperature_; }
    void set_temperature(double temperature);

  protected:
    // What f returns. Where a distribution in it gets a parameter that it cannot have (DomainError), the density is 0.
    template <class F>
    Energy unless_refused(std::span<T> gradient, const F& f) {
        refusal_.clear();
        try {
            return f();
        } catch (const DomainError& error) {
            refusal_ = error.what();
            std::fill(gradient.begin(), gradient.end(), std::numeric_limits<T>::quiet_NaN());
            return {.prior = std::numeric_limits<double>::infinity()};
        }
    }

  private:
    double temperature_ = 1;
    std::string refusal_;
};

}  // namespace pollen
