#include <pollen/samplers/run/detail/any_chain.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/samplers/diagnostics/temperature.hpp>
#include <pollen/samplers/options.hpp>
#include <pollen/samplers/start.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

namespace {

template <Real T>
class TypedChain final : public AnyChain {
  public:
    TypedChain(const Potential<T>& potential, BeginChain<T> begin, const RunOptions& options, std::uint32_t chain)
        : own_(potential.clone()), given_(potential.clone()), begin_(std::move(begin)), options_(&options) {
        start_.seed = options.seed;
        start_.chain = chain;
        start_.warmup = options.warmup;
        start_.draws = options.draws;
        start_.thin = options.thin;
    }

    Energy begin(std::function<void()> check_stop) override {
        start_.check_stop = std::move(check_stop);
        const auto& starts = options_->starts;
        if (starts.empty()) {
            if (!options_->radius) start_.position = own_->start(start_.seed, start_.chain);
            if (start_.position.empty())
                start_.position = find_start(*own_, start_.seed, start_.chain, options_->radius.value_or(2));
        } else {
            const std::vector<double>& point = starts[starts.size() == 1 ? 0 : start_.chain];
            start_.position.assign(point.size(), T(0));
            std::transform(point.begin(), point.end(), start_.position.begin(),
                           [](double x) { return static_cast<T>(x); });
        }
        const Energy energy = own_->evaluate(start_.position, {});
        if (!std::isfinite(energy.total())) {
            const std::string why = own_->refusal().empty()
                                        ? "the energy of its start is " + to_text(energy.prior) + " + " +
                                              to_text(energy.likelihood) + " (prior and likelihood); it must be finite"
                                        : "there is no density at its start: " + own_->refusal();
            throw ValueError(why + "; look at " + blocks_to_blame(*own_, start_.position));
        }
        chain_ = begin_(std::move(given_), std::move(start_));
        // The weights of a network lie around 0, and chains move too slowly to find a better centre.
        if (!chain_->gradient().empty() && !own_->of_network())
            centre_.assign(chain_->position().begin(), chain_->position().end());
        return energy;
    }

    StepStatistics step() override { return chain_->step(); }
    void values(std::span<double> out) override {
        const std::span<const double> extra = chain_->extra_values();
        own_->values(chain_->position(), out.first(out.size() - extra.size()));
        std::copy(extra.begin(), extra.end(), out.last(extra.size()).begin());
    }
    void visit(StateVisitor& visitor) override {
        chain_->visit(visitor);
        visitor.vector("centre", centre_);
        visitor.integer("centre_count", centre_count_);
        check_saved_count("centre_count", centre_count_);
    }
    bool finite() const override {
        return std::all_of(chain_->position().begin(), chain_->position().end(), [](T x) { return std::isfinite(x); });
    }
    std::int64_t steps() const override { return chain_->steps(); }
    std::int64_t size() const override { return std::ssize(chain_->position()); }
    ChainFacts facts() const override { return chain_->facts(); }
    std::vector<double> inverse_metric() const override { return chain_->inverse_metric(); }
    double weight() const override { return chain_->weight(); }

    void learn_centre() override {
        ++centre_count_;
        for (std::size_t k = 0; k < centre_.size(); ++k)
            centre_[k] +=
                (static_cast<double>(chain_->position()[k]) - centre_[k]) / static_cast<double>(centre_count_);
    }

    Temperatures temperatures(const StepStatistics& s) const override {
        Temperatures measured;
        if (!std::isnan(s.hamiltonian))
            measured.kinetic = 2 * (s.hamiltonian - s.energy) / static_cast<double>(size()) * own_->temperature();
        else if (const std::span<const T> v = chain_->momentum(); !v.empty())
            measured.kinetic = kinetic_temperature(v, 1 / s.step_size);
        if (const std::span<const T> gradient = chain_->gradient(); !gradient.empty()) {
            const std::vector<T> centre(centre_.begin(), centre_.end());
            measured.configurational = configurational_temperature<T>(chain_->position(), gradient, centre);
        }
        return measured;
    }

  private:
    std::unique_ptr<Potential<T>> own_, given_;  // one for the values of draws, one that goes to the chain
    BeginChain<T> begin_;
    const RunOptions* options_;
    ChainStart<T> start_;
    std::unique_ptr<Chain<T>> chain_;
    std::vector<double> centre_;  // c of the configurational temperature; empty: 0
    std::int64_t centre_count_ = 0;
};

}  // namespace

template <Real T>
std::unique_ptr<AnyChain> make_chain(const Potential<T>& potential, const BeginChain<T>& begin,
                                     const RunOptions& options, std::uint32_t chain) {
    return std::make_unique<TypedChain<T>>(potential, begin, options, chain);
}

template std::unique_ptr<AnyChain> make_chain(const Potential<float>&, const BeginChain<float>&, const RunOptions&,
                                              std::uint32_t);
template std::unique_ptr<AnyChain> make_chain(const Potential<double>&, const BeginChain<double>&, const RunOptions&,
                                              std::uint32_t);

}  // namespace pollen::detail
