#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/detail/acceptance.hpp>
#include <pollen/samplers/detail/sampler_options.hpp>

#include <memory>
#include <string>
#include <vector>

// What the samplers with full-batch gradients share.
namespace pollen::detail {

// A point of phase space, and what is known there.
template <Real T>
struct Phase {
    std::vector<T> position, gradient, momentum, velocity;
    Energy energy;
    double kinetic = 0;

    void resize(std::size_t n) {
        for (std::vector<T>* x : {&position, &gradient, &momentum, &velocity}) x->resize(n);
    }
};

// The bytes of a metric of this kind, M^-1 and its root, and, if it adapts, of what a warm-up estimates it from: the
// moments and a new estimate, in double.
double metric_bytes(MetricKind kind, std::int64_t size, std::size_t number, bool adapts);

// One leapfrog step on H = beta U + p' M^-1 p / 2:
//
//     p -= e/2 beta grad U(q),  q += e M^-1 p,  p -= e/2 beta grad U(q)
template <Real T>
void leapfrog(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size, Phase<T>& z);

// So many leapfrog steps, and the error H* - H that they make. A trajectory that meets a point without an energy ends
// there: the one back from any of its points would meet it, too. `from` has all that is known but the velocity, and
// `to` becomes the last point.
struct Trajectory {
    double error = 0;
    std::int64_t gradients = 0;
    bool invalid = false;

    double acceptance() const { return invalid ? 0 : acceptance_of(error); }
};
template <Real T>
Trajectory trajectory(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size,
                      std::int64_t steps, const Phase<T>& from, Phase<T>& to);

template <Real T>
class FullBatchChain : public Chain<T> {
  public:
    FullBatchChain(const char* name, std::unique_ptr<Potential<T>> potential, ChainStart<T> start);

    std::span<const T> position() const override { return z_.position; }
    std::int64_t steps() const override { return step_; }
    std::span<const T> gradient() const override { return z_.gradient; }
    void visit(StateVisitor& visitor) override;

  protected:
    Random random() const { return random_of(seed_, chain_, step_); }
    double beta() const { return 1 / potential_->temperature(); }
    std::int64_t size() const { return std::ssize(z_.position); }
    // Throws where the gradient of the start is not finite: for chains that go along it.
    void need_gradient() const;

    const char* name_;
    std::unique_ptr<Potential<T>> potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t warmup_steps_;
    std::int64_t step_ = 0;
    Phase<T> z_;
};

// A chain with a step size and a metric, which the warm-up adapts.
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
    // Before the first step: searches for a step size, if there is a warm-up that adapts it.
    void prepare(Random& random);
    // After a step: adapts. True if the metric has changed.
    bool adapt(Random& random, double acceptance);
    void leapfrog(double step_size, Phase<T>& z) {
        detail::leapfrog(*this->potential_, metric_, this->beta(), step_size, z);
    }

    double step_size_;
    Metric<T> metric_;
    Warmup warmup_;
    Phase<T> trial_;  // a proposal

  private:
    void find_step_size(Random& random);

    double target_, gamma_, kappa_, t0_;
};

}  // namespace pollen::detail
