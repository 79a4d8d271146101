#pragma once

#include <pollen/samplers/acceptance.hpp>
#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/detail/instantiate.hpp>
#include <pollen/samplers/options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

// What the samplers share that see all data in every step.
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

template <Real T>
class FullBatchChain : public Chain<T> {
  public:
    FullBatchChain(const char* name, std::unique_ptr<Potential<T>> potential, ChainStart<T> start);

    std::span<const T> position() const override { return z_.position; }
    std::int64_t steps() const override { return step_; }
    std::span<const T> gradient() const override { return z_.gradient; }
    void visit(StateVisitor& visitor) override;

  protected:
    // The random numbers of the present step.
    Random random() const { return random_of(seed_, chain_, step_); }
    double beta() const { return 1 / potential_->temperature(); }
    std::int64_t size() const { return std::ssize(z_.position); }
    // Throws if the run is to end; see ChainStart.
    void check_stop() const {
        if (check_stop_) check_stop_();
    }
    // Throws if the gradient at the start is not finite. Chains that follow the gradient call it when they begin.
    void need_gradient() const;

    const char* name_;
    std::unique_ptr<Potential<T>> potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t warmup_steps_;
    std::int64_t step_ = 0;
    std::function<void()> check_stop_;
    Phase<T> z_;
};

// The bytes of a metric (M^-1 and its root) and, if a warm-up adapts it, of the moments and the new estimate, which are
// in double.
double metric_bytes(MetricKind kind, std::int64_t size, std::size_t number, bool adapts);

}  // namespace pollen::detail
