#include <pollen/samplers/full_batch/detail/full_batch_chain.hpp>

#include <pollen/samplers/start.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

template <Real T>
FullBatchChain<T>::FullBatchChain(const char* name, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
    : name_(name),
      potential_(std::move(potential)),
      seed_(start.seed),
      chain_(start.chain),
      warmup_steps_(start.warmup),
      check_stop_(std::move(start.check_stop)) {
    check_start(name, potential_.get(), start);
    check_positive(name, "the temperature", potential_->temperature());
    z_.position = std::move(start.position);
    z_.resize(z_.position.size());
    z_.energy = potential_->evaluate(z_.position, z_.gradient);
    if (!std::isfinite(z_.energy.total()))
        throw ValueError(std::string(name) + ": the energy is " + to_text(z_.energy.total()) +
                         " at the start; it must be finite");
}

template <Real T>
void FullBatchChain<T>::need_gradient() const {
    const auto bad = std::find_if_not(z_.gradient.begin(), z_.gradient.end(), [](T g) { return std::isfinite(g); });
    if (bad != z_.gradient.end())
        throw ValueError(std::string(name_) + ": the gradient is " + to_text(static_cast<double>(*bad)) +
                         " at the start, for " + potential_->block_of(bad - z_.gradient.begin()) +
                         "; it must be finite");
}

template <Real T>
void FullBatchChain<T>::visit(StateVisitor& visitor) {
    visitor.integer("step", step_);
    visitor.vector("position", z_.position);
    visitor.vector("gradient", z_.gradient);
    visitor.number("prior", z_.energy.prior);
    visitor.number("likelihood", z_.energy.likelihood);
}

double metric_bytes(MetricKind kind, std::int64_t size, std::size_t number, bool adapts) {
    if (kind == MetricKind::unit) return 0;
    const double vectors = kind == MetricKind::dense ? static_cast<double>(size) : 1;
    return vector_bytes(2 * vectors, size, number) + (adapts ? vector_bytes(2 * vectors + 2, size, sizeof(double)) : 0);
}

template class FullBatchChain<float>;
template class FullBatchChain<double>;

}  // namespace pollen::detail
