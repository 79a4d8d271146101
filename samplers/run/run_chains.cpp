#include <pollen/samplers/run/run_chains.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/diagnostics/temperature.hpp>
#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <zlib.h>

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

    Energy begin() override {
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
            throw ValueError(why + "; look at " + culprits(*own_, start_.position));
        }
        chain_ = begin_(std::move(given_), std::move(start_));
        // Weights of a network lie about 0, and chains move too slowly among them to find a middle of their own.
        if (!chain_->gradient().empty() && !dynamic_cast<const NetworkPotential<T>*>(own_.get()))
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
    }
    std::int64_t steps() const override { return chain_->steps(); }
    std::int64_t size() const override { return std::ssize(chain_->position()); }
    ChainFacts facts() const override { return chain_->facts(); }
    std::vector<double> inverse_metric() const override { return chain_->inverse_metric(); }
    double weight() const override { return chain_->weight(); }

    // The mean of the positions that it is called at.
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
    std::unique_ptr<Potential<T>> own_, given_;
    BeginChain<T> begin_;
    const RunOptions* options_;
    ChainStart<T> start_;
    std::unique_ptr<Chain<T>> chain_;
    std::vector<double> centre_;  // near the middle of the posterior, where the chain has a gradient; empty: 0
    std::int64_t centre_count_ = 0;
};

void check(const RunPlan& plan) {
    const RunOptions& o = plan.options;
    const auto need = [](bool good, const std::string& what) {
        if (!good) throw ValueError("run_chains: " + what);
    };
    const auto between = [&](const char* name, std::int64_t n, std::int64_t least, std::int64_t most) {
        need(n >= least, std::string(name) + " is " + std::to_string(n) +
                             (least == 0 ? "; it must not be negative" : "; at least 1 is needed"));
        need(n <= most,
             std::string(name) + " is " + std::to_string(n) + "; at most " + std::to_string(most) + " are possible");
    };
    between("chains", o.chains, 1, 100'000);
    between("warmup", o.warmup, 0, 1'000'000'000'000);
    between("thin", o.thin, 1, 1'000'000);
    between("draws", o.draws, 0, 1'000'000'000'000);
    between("flush_every", o.flush_every, 0, 1'000'000'000'000);
    const double radius = o.radius.value_or(2);
    need(radius >= 0 && std::isfinite(radius), "radius is " + to_text(radius) + "; it must be a number from 0 up");
    need(plan.dimensions > 0, "the potential has no parameters");
    need(o.starts.size() <= 1 || std::ssize(o.starts) == o.chains,
         std::to_string(o.starts.size()) + " starts for " + std::to_string(o.chains) +
             " chains; one a chain, or one for all, is needed");
    for (std::size_t c = 0; c < o.starts.size(); ++c)
        need(std::ssize(o.starts[c]) == plan.dimensions, "start " + std::to_string(c + 1) + " has " +
                                                             std::to_string(o.starts[c].size()) +
                                                             " numbers; theta has " + std::to_string(plan.dimensions));
    need(!o.directory.empty() || !o.resume, "resume needs a directory");
    need(!o.directory.empty() || !o.save_warmup, "save_warmup needs a directory");
    need(!o.directory.empty() || o.keep, "keep = false needs a directory for the draws to go to");
    const RunMemory memory = memory_of(plan);
    need(memory.total() <= static_cast<double>(o.max_memory),
         std::to_string(o.chains) + " chains of " + std::to_string(o.draws) + " draws of " +
             std::to_string(plan.value_count) + " numbers need " + bytes_text(memory.total()) + " of memory (" +
             memory.text() + "), more than max_memory, " + bytes_text(static_cast<double>(o.max_memory)) + "; " +
             (memory.chains > memory.draws + memory.files ? "take a diagonal metric, or run fewer chains"
              : o.keep ? "draw less, thin more, or let draws go to a directory alone (keep = false)"
                       : "draw less, thin more, or run fewer chains"));
}

std::string starts_text(const RunOptions& o, bool potential_has_its_own) {
    if (o.starts.empty() && !o.radius && potential_has_its_own) return "the potential's own";
    if (o.starts.empty()) return "within " + to_text(o.radius.value_or(2));
    uLong sum = 0;
    for (const std::vector<double>& start : o.starts)
        sum = crc32_z(sum, reinterpret_cast<const unsigned char*>(start.data()), start.size() * sizeof(double));
    return std::to_string(o.starts.size()) + " given (" + std::to_string(sum) + ")";
}

}  // namespace

template <Real T>
Draws run_chains_of(const Potential<T>& potential, const BeginChain<T>& begin, const std::string& sampler,
                    const RunOptions& options, const std::vector<Quantity>& extra, double state_bytes) {
    std::vector<Quantity> all = potential.quantities();
    std::int64_t value_count = potential.value_count();
    for (const Quantity& q : extra) {
        all.push_back({q.name, q.shape, value_count});
        value_count += q.shape.size();
    }
    RunPlan plan{.options = options,
                 .sampler = sampler,
                 .precision = sizeof(T) == sizeof(float) ? "float" : "double",
                 .quantities = all,
                 .value_count = value_count,
                 .dimensions = potential.size(),
                 .state_bytes = state_bytes,
                 .temperature = potential.temperature(),
                 .network = dynamic_cast<const NetworkPotential<T>*>(&potential) != nullptr,
                 .rows = StanCsvRows(options.directory.empty() ? std::vector<Quantity>{} : all)};
    std::string quantities;
    for (const Quantity& q : plan.quantities)
        quantities += (quantities.empty() ? "" : " ") + q.name + to_string(q.shape);
    plan.about = {{"model", potential.describe()},
                  {"numbers of type", plan.precision},
                  {"temperature", to_text(potential.temperature())},
                  {"quantities", quantities},
                  {"sampler", sampler},
                  {"seed", std::to_string(options.seed)},
                  {"chains", std::to_string(options.chains)},
                  {"warmup", std::to_string(options.warmup)},
                  {"thin", std::to_string(options.thin)},
                  {"save_warmup", options.save_warmup ? "yes" : "no"},
                  {"starts", starts_text(options, !potential.start(options.seed, 0).empty())},
                  {"name", options.name}};
    check(plan);
    std::vector<std::unique_ptr<AnyChain>> chains;
    for (std::int64_t c = 0; c < options.chains; ++c)
        chains.push_back(std::make_unique<TypedChain<T>>(potential, begin, options, static_cast<std::uint32_t>(c)));
    return run_all(std::move(plan), std::move(chains));
}

template Draws run_chains_of(const Potential<float>&, const BeginChain<float>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double);
template Draws run_chains_of(const Potential<double>&, const BeginChain<double>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double);

}  // namespace pollen::detail
