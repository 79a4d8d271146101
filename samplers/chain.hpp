#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/potentials/potential.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// The kinds of metric (inverse masses of the momenta) that a sampler may have; Metric in metric.hpp has the formulas.
enum class MetricKind { unit, diagonal, dense };
std::string to_string(MetricKind kind);

// What a step of a chain reports. A sampler fills in what it has.
struct StepStatistics {
    double energy = std::numeric_limits<double>::quiet_NaN();       // U / T at the new position, in nats
    double hamiltonian = std::numeric_limits<double>::quiet_NaN();  // U / T + kinetic energy, of samplers with momenta
    double acceptance = std::numeric_limits<double>::quiet_NaN();   // the probability that the step was accepted with
    double step_size = std::numeric_limits<double>::quiet_NaN();
    std::int64_t gradients = 0;  // how many were computed
    std::int64_t tree_depth = 0;
    bool divergent = false;
    bool invalid = false;  // the step met an energy that is not finite, and rejected that point
};

// Which of these numbers a sampler has. The files of draws and the summary show those alone.
struct ChainFacts {
    bool acceptance = true;           // its steps have a probability of acceptance
    bool hamiltonian = false;         // its steps have a Hamiltonian, and may diverge
    bool fresh_momentum = true;       // each step draws a new momentum; otherwise the E-BFMI has no meaning
    bool weighted = false;            // its draws have different weights
    std::int64_t max_tree_depth = 0;  // 0: it builds no trees
    double target_acceptance = std::numeric_limits<double>::quiet_NaN();  // that it adapts to; NaN: none
    double gamma = 0.05, kappa = 0.75, t0 = 10;                           // of dual averaging, if it adapts
    MetricKind metric = MetricKind::unit;
    double step_size = std::numeric_limits<double>::quiet_NaN();  // of the next step; NaN: not known
};

// Visits everything that the next step of a chain depends on, by name: to save it, or to restore it.
class StateVisitor {
  public:
    virtual ~StateVisitor() = default;
    virtual void number(const char* name, double& x) = 0;
    virtual void integer(const char* name, std::int64_t& n) = 0;
    virtual void vector(const char* name, std::vector<float>& x) = 0;
    virtual void vector(const char* name, std::vector<double>& x) = 0;
};

// One chain of one sampler.
//
// The random numbers of a step are random_of(seed, chain, number of the step), so a restored chain continues with the
// numbers that it would have drawn. A chain adapts itself in its first ChainStart::warmup steps, and not afterwards.
template <Real T>
class Chain {
  public:
    virtual ~Chain() = default;

    virtual StepStatistics step() = 0;
    virtual std::span<const T> position() const = 0;
    // Steps done so far.
    virtual std::int64_t steps() const = 0;
    // Visits all numbers that the next step depends on, the number of steps among them.
    virtual void visit(StateVisitor& visitor) = 0;
    virtual ChainFacts facts() const { return {}; }

    // The inverse metric after the warm-up, for the files of draws: a diagonal, a dense matrix row by row, or nothing.
    virtual std::vector<double> inverse_metric() const { return {}; }
    // The weight of the present position in averages. It is only used if facts().weighted is true.
    virtual double weight() const { return 1; }

    // From these the temperature of the chain is measured: the gradient of the potential at the present position, and
    // momenta of variance (step size) x T. A chain without them returns nothing. A chain with a Hamiltonian needs no
    // momentum() here: its kinetic energy is in the StepStatistics.
    virtual std::span<const T> gradient() const { return {}; }
    virtual std::span<const T> momentum() const { return {}; }

    // The values of the sampler's extra_quantities(potential) at the present position.
    virtual std::span<const double> extra_values() const { return {}; }
};

// Where and how a chain begins.
template <Real T>
struct ChainStart {
    std::vector<T> position;  // a point of finite energy
    std::uint64_t seed = 0;
    std::uint32_t chain = 0;
    std::int64_t warmup = 0;
    std::int64_t draws = 0;  // that follow the warm-up, one every `thin` steps; 0: not known
    std::int64_t thin = 1;

    // Throws if the run is to end now, after a request to stop for example; otherwise it does nothing. If it is not
    // empty, a step that computes many gradients calls it before each of them and lets pass what it throws. What
    // visit() visits must then be as it was before the step, or be such that the same step made again gives the same
    // numbers.
    std::function<void()> check_stop = {};
};

// A sampler is a struct of options with two members:
//
//     begin(potential, start)    begins a chain
//     describe()                 names every option; a resumed run has to have the same text (describe_options makes
//     it)
//
// and some optional ones:
//
//     extra_quantities(potential)    what it draws beside theta, a vector of Quantity
//     state_bytes(size, number)      the memory of a chain, if that is more than a few vectors; see state_bytes_of
//     group, lead(potential, f)      the ranks that share the steps of its chains, or null. All call lead(): rank 0
//                                    calls f(), which runs chains, and the others help until f() returns
template <class S, class T>
concept SamplerOf = requires(const S& sampler, std::unique_ptr<Potential<T>> potential, ChainStart<T> start) {
    { sampler.begin(std::move(potential), std::move(start)) } -> std::same_as<std::unique_ptr<Chain<T>>>;
    { sampler.describe() } -> std::convertible_to<std::string>;
};

// The random numbers of step `step` of a chain, and those that draw its batch. Every step has fresh ones.
Random random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step);
Random batch_random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step);

// About how many bytes a chain takes beside its potential, for `size` dimensions and numbers of `number` bytes each:
// what the sampler says itself, or else eight vectors, and three in double for estimates.
template <class S>
double state_bytes_of(const S& sampler, std::int64_t size, std::size_t number) {
    if constexpr (requires { sampler.state_bytes(size, number); })
        return sampler.state_bytes(size, number);
    else
        return static_cast<double>(size * static_cast<std::int64_t>(8 * number + 3 * sizeof(double)));
}

}  // namespace pollen
