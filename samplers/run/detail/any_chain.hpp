#pragma once

#include <pollen/samplers/run/run_chains.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace pollen::detail {

// The temperature that a chain ran at in one step; NaN if it cannot be measured.
struct Temperatures {
    double kinetic = std::numeric_limits<double>::quiet_NaN();
    double configurational = std::numeric_limits<double>::quiet_NaN();
};

// A chain of float or of double, with its potential.
class AnyChain {
  public:
    virtual ~AnyChain() = default;
    // Finds the start and begins there. Returns the energy of the start. For check_stop see ChainStart.
    virtual Energy begin(std::function<void()> check_stop) = 0;
    virtual StepStatistics step() = 0;
    // Writes the values of all quantities at the present position.
    virtual void values(std::span<double> out) = 0;
    virtual void visit(StateVisitor& visitor) = 0;
    virtual std::int64_t steps() const = 0;
    virtual std::int64_t size() const = 0;
    // Whether all numbers of the position are finite.
    virtual bool finite() const = 0;
    virtual ChainFacts facts() const = 0;
    virtual std::vector<double> inverse_metric() const = 0;
    virtual double weight() const = 0;

    // Called in the second half of the warm-up: updates c, the mean of the positions it is called at.
    virtual void learn_centre() = 0;
    // The temperatures after a step. The configurational one is (theta - c) . gradient / d. Its mean is T for any fixed
    // c, and its noise is least if c is the middle of the posterior. Without a warm-up c is the start; for the weights
    // of a network it is 0.
    virtual Temperatures temperatures(const StepStatistics& statistics) const = 0;
};

// Chain number `chain` of a run. It keeps a reference to the options.
template <Real T>
std::unique_ptr<AnyChain> make_chain(const Potential<T>& potential, const BeginChain<T>& begin,
                                     const RunOptions& options, std::uint32_t chain);

}  // namespace pollen::detail
