#pragma once

#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/full_batch/detail/full_batch_chain.hpp>

#include <functional>
#include <limits>

// What the samplers share that follow Hamilton's equations.
namespace pollen::detail {

// Where a RandomState counts the normals of type T.
template <Real T>
inline constexpr auto normals = static_cast<std::size_t>(sizeof(T) == sizeof(float) ? RandomKind::normal_float
                                                                                    : RandomKind::normal_double);

// One leapfrog step on H = beta U + p' M^-1 p / 2:
//
//     p -= e/2 beta grad U(q),  q += e M^-1 p,  p -= e/2 beta grad U(q)
template <Real T>
void leapfrog(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size, Phase<T>& z);

// The outcome of several leapfrog steps.
struct Trajectory {
    double error = 0;            // H* - H
    std::int64_t gradients = 0;  // as many as steps were made
    bool invalid = false;        // it met a point where the energy is not finite, and ended there

    double acceptance() const { return invalid ? 0 : acceptance_probability(error); }
};
// Makes `steps` leapfrog steps; `to` becomes the last point. `from` needs no velocity. Calls check_stop() before each
// step, if it is not empty.
//
// An invalid trajectory is always rejected. That keeps detailed balance: from each of its points, the trajectory back
// meets the same point without a finite energy, and is rejected as well.
template <Real T>
Trajectory trajectory(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size,
                      std::int64_t steps, const Phase<T>& from, Phase<T>& to, const std::function<void()>& check_stop);

// A chain with a step size and a metric, which its warm-up adapts.
template <Real T>
class HamiltonianChain : public FullBatchChain<T> {
  public:
    HamiltonianChain(const char* name, std::unique_ptr<Potential<T>> potential, ChainStart<T> start, double step_size,
                     double target, const WarmupOptions& warmup, MetricKind kind,
                     const std::vector<double>& inverse_metric);

    void visit(StateVisitor& visitor) override;
    std::vector<double> inverse_metric() const override { return metric_.inverse(); }
    ChainFacts facts() const override {
        return {.hamiltonian = true,
                .target_acceptance = warmup_.adapts_step_size() ? target_ : std::numeric_limits<double>::quiet_NaN(),
                .gamma = gamma_,
                .kappa = kappa_,
                .t0 = t0_,
                .metric = metric_.kind(),
                .step_size = step_size_};
    }

  protected:
    // Before a step: searches for a step size, if it is the first one of a warm-up that adapts it, or the first one
    // with a new metric. The search can be stopped; it is made again with the step, and finds the same.
    void prepare(Random& random);
    // After a step: adapts. True if the metric has changed. `random` is where a search goes on.
    bool adapt(const Random& random, double acceptance);
    void leapfrog(double step_size, Phase<T>& z) {
        detail::leapfrog(*this->potential_, metric_, this->beta(), step_size, z);
    }

    double step_size_, first_step_size_;
    Metric<T> metric_;
    Warmup warmup_;
    Phase<T> trial_;  // a proposal

  private:
    double find_step_size(Random& random, double step_size);

    // After a step that changed the metric: 1 + the normals that it has drawn. The search draws those that follow.
    // Otherwise 0.
    std::int64_t search_from_ = 0;
    double target_, gamma_, kappa_, t0_;
};

}  // namespace pollen::detail
