#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/potentials/potential.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// What a step of a chain says about itself. A sampler fills in what it has.
struct StepStatistics {
    double energy = std::numeric_limits<double>::quiet_NaN();       // U / T at the new position, in nats
    double hamiltonian = std::numeric_limits<double>::quiet_NaN();  // U / T + kinetic energy, of samplers with momenta
    double acceptance = std::numeric_limits<double>::quiet_NaN();   // the probability with which it was accepted
    double step_size = std::numeric_limits<double>::quiet_NaN();
    std::int64_t gradients = 0;  // how many were computed
    std::int64_t tree_depth = 0;
    bool divergent = false;
    bool invalid = false;  // a point where the energy is not a number was met, and rejected
};

enum class MetricKind;

// What a sampler says of itself: the files of draws and the summary have what there is to say, and no more.
struct ChainFacts {
    bool acceptance = true;           // its steps have a probability of acceptance
    bool hamiltonian = false;         // its steps have a Hamiltonian, and may diverge
    bool fresh_momentum = true;       // each step draws its momentum anew: E-BFMI means something then
    bool weighted = false;            // its draws have weights that differ
    std::int64_t max_tree_depth = 0;  // 0: it builds no trees
    double target_acceptance = std::numeric_limits<double>::quiet_NaN();  // NaN: it adapts to none
    double gamma = 0.05, kappa = 0.75, t0 = 10;                           // of the dual averaging that does
    MetricKind metric{};                                                  // unit, where it has none
    double step_size = std::numeric_limits<double>::quiet_NaN();          // of the next step; NaN: not known
};

// Walks through everything that the next step of a chain depends on, by name: to write it down, or to read it back.
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
// A step draws its random numbers from the stream of its chain, at the number of the step: a chain that goes on from a
// saved state draws what it would have drawn. After the steps of the warm-up, whose number it knows from its start,
// a chain adapts nothing any more.
template <Real T>
class Chain {
  public:
    virtual ~Chain() = default;

    virtual StepStatistics step() = 0;
    virtual std::span<const T> position() const = 0;
    // Steps done so far.
    virtual std::int64_t steps() const = 0;
    virtual void visit(StateVisitor& visitor) = 0;
    virtual ChainFacts facts() const { return {}; }

    // What the warm-up came to, for the files of draws: the inverse of the mass, a diagonal (or a dense matrix row by
    // row), or nothing.
    virtual std::vector<double> inverse_metric() const { return {}; }
    // The weight of the present position in averages: the step size, where that changes along the way. It counts where
    // the facts say that draws are weighted.
    virtual double weight() const { return 1; }

    // For the temperature that a chain runs at: the gradient of the potential at the present position, and momenta of
    // variance (step size) x T. Nothing where a chain has none, or has a Hamiltonian that says it.
    virtual std::span<const T> gradient() const { return {}; }
    virtual std::span<const T> momentum() const { return {}; }

    // What a draw has beside the potential's own quantities, where the sampler has extra_quantities(potential).
    virtual std::span<const double> extra_values() const { return {}; }
};

// Where and how a chain begins.
template <Real T>
struct ChainStart {
    std::vector<T> position;  // a point of finite energy
    std::uint64_t seed = 0;
    std::uint32_t chain = 0;
    std::int64_t warmup = 0;
    std::int64_t draws = 0;  // that will follow, one every `thin` steps; 0: not known
    std::int64_t thin = 1;
};

// A sampler is a struct of options that can begin a chain. describe() names every option: it is what a resumed run is
// compared by. One that draws more than theta also has extra_quantities(potential), a vector of Quantity; one whose
// chains keep more than a few vectors has state_bytes(dimensions, bytes of a number), for the memory of a run.
template <class S, class T>
concept SamplerOf = requires(const S& sampler, std::unique_ptr<Potential<T>> potential, ChainStart<T> start) {
    { sampler.begin(std::move(potential), std::move(start)) } -> std::same_as<std::unique_ptr<Chain<T>>>;
    { sampler.describe() } -> std::convertible_to<std::string>;
};

// The random numbers of step `step` of a chain.
Random random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step);

// A point to begin at, for every chain another one: numbers without bounds uniformly from (-radius, radius), again
// until energy and gradient are finite. After 100 attempts an error says which parameters they were not finite for.
template <Real T>
std::vector<T> find_start(Potential<T>& potential, std::uint64_t seed, std::uint32_t chain, double radius = 2);

namespace detail {
// "tau, theta": the blocks that an energy at theta which is not finite may be due to.
template <Real T>
std::string culprits(Potential<T>& potential, const std::vector<T>& theta);
}  // namespace detail

}  // namespace pollen
