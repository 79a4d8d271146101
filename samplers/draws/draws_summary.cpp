#include <pollen/autograd/support/checks.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

// summary() and warnings() of Draws.
namespace pollen {

namespace {

// The draws with these numbers alone.
Draws select(const Draws& draws, const std::vector<std::int64_t>& numbers) {
    Draws some{.quantities = draws.quantities, .values = {}, .chains = draws.chains, .files = {}};
    some.facts = draws.facts;
    some.thin = draws.thin;
    some.temperature = draws.temperature;
    const std::int64_t width = draws.values.shape()[2];
    some.values = Tensor<double>::empty(Shape{draws.values.shape()[0], std::ssize(numbers), width});
    double* to = some.values.fresh_data();
    for (std::int64_t c = 0; c < std::ssize(draws.chains); ++c) {
        for (const std::int64_t t : numbers)
            to = std::copy_n(draws.values.data() + (c * draws.size() + t) * width, width, to);
        detail::each_vector(some.chains[static_cast<std::size_t>(c)], [&](auto& x) {
            for (std::size_t k = 0; k < numbers.size(); ++k) x[k] = x[static_cast<std::size_t>(numbers[k])];
            x.resize(numbers.size());
        });
    }
    return some;
}

// One kind of temperature of all chains.
MeanAndError measured(const Draws& draws, BatchSums TemperatureSums::*kind) {
    std::vector<BatchSums> chains;
    for (const ChainRecord& r : draws.chains) chains.push_back(r.temperature.*kind);
    return mean_and_error(chains);
}

std::string short_text(double x, int digits) { return detail::to_text(x, std::chars_format::general, digits); }

// "temperature: kinetic 1.02 +- 0.01, configurational 0.98 +- 0.02 (asked for 1)", or nothing.
std::string temperature_text(const Draws& draws) {
    std::string text;
    const auto add = [&](const char* name, const MeanAndError& t) {
        if (std::isnan(t.mean)) return;
        text += (text.empty() ? "temperature: " : ", ") + std::string(name) + " " + short_text(t.mean, 3);
        if (!std::isnan(t.error)) text += " +- " + short_text(t.error, 1);
    };
    add("kinetic", measured(draws, &TemperatureSums::kinetic));
    add("configurational", measured(draws, &TemperatureSums::configurational));
    return text.empty() ? text : text + " (asked for " + to_text(draws.temperature) + ")";
}

// Whether a temperature is off by more than 4 standard errors and more than this share of T. Ten times T is always off,
// since its standard error is as large as the mean itself.
bool is_off(const MeanAndError& t, double asked, double share) {
    const double distance = std::abs(t.mean - asked);
    return std::isinf(t.mean) || (asked > 0 && t.mean > 10 * asked) ||
           (distance > 4 * t.error && distance > share * asked);
}

// The configurational temperature of a slow chain, which has not left the point c that it is measured from, is too low.
// R-hat warns of such chains, so only networks are told of low temperatures here. Momenta with friction a have the
// temperature T / (1 - a/2) if all is well, which is at most 2 T.
std::string wrong_temperature_text(const Draws& draws) {
    const double asked = draws.temperature;
    const MeanAndError positions = measured(draws, &TemperatureSums::configurational);
    const MeanAndError momenta = measured(draws, &TemperatureSums::kinetic);
    const bool by_positions = is_off(positions, asked, 0.2) && (draws.network || !(positions.mean < asked));
    if (!by_positions && !(momenta.mean > asked && is_off(momenta, asked, 1))) return "";
    return "The chains run at T = " + short_text(by_positions ? positions.mean : momenta.mean, 3) + ", not " +
           to_text(asked) + ": the step is too large, or they have not arrived.";
}

// "chain 1 holds 7 of 60 draws, chain 2 holds 5 of 60 draws": the files that have fewer draws than they say.
std::string incomplete_text(const Draws& draws) {
    std::string text;
    for (const std::string& one : draws.incomplete) text += (text.empty() ? "" : ", ") + one;
    return text;
}

// Why there is nothing to summarise; empty if there is something.
std::string no_draws_text(const Draws& draws) {
    if (draws.elsewhere) return "no draws here: " + std::string(detail::elsewhere);
    if (draws.size() > 0) {
        if (!draws.counted().empty()) return "";
        return "no draws that count: the weight of all " + std::to_string(draws.size()) +
               " is 0; they fell into the exploration part of a cycle, or their steps were 0";
    }
    if (!draws.incomplete.empty()) return "no draws: " + incomplete_text(draws);
    if (!draws.interrupted) return "no draws: none were asked for";
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    for (const ChainRecord& r : draws.chains) {
        least = std::min(least, r.warmup_steps + r.steps);
        most = std::max(most, r.warmup_steps + r.steps);
    }
    const bool warm = least >= draws.warmup;
    const std::string to = least == most ? "" : " to " + std::to_string(most);
    return "no draws yet: interrupted " + std::string(warm ? "" : "in the warm-up, ") + "after " +
           (to.empty() ? "step " : "steps ") + std::to_string(least) + to + " of " +
           std::to_string(warm ? draws.warmup + draws.asked * draws.thin : draws.warmup) +
           (draws.files.empty() ? "" : "; resume goes on from there");
}

// The warning of steps that met an energy that is not finite; empty if there were none.
std::string invalid_text(const Draws& draws) {
    std::string text;
    std::int64_t invalid = 0, steps = 0;
    for (const ChainRecord& r : draws.chains) {
        steps += r.steps;
        if (r.invalid_steps == 0) continue;
        invalid += r.invalid_steps;
        text += (text.empty() ? "chain " : ", chain ") + std::to_string(r.chain) + " (" +
                std::to_string(r.invalid_steps) + ")";
    }
    if (invalid == 0) return text;
    return "An energy that is not a number was met, and rejected, in " + std::to_string(invalid) + " of " +
           std::to_string(steps) + " steps: " + text + ". Look at where the log density is not defined.";
}

// "chains 5 to 8 of a run of 16; read_run has all of them", or nothing.
std::string part_text(const Draws& draws) {
    if (draws.chains_of_run == 0) return "";
    const std::int64_t first = draws.chains.front().chain, last = draws.chains.back().chain;
    const std::string chains = first == last ? "chain " + std::to_string(first)
                                             : "chains " + std::to_string(first) + " to " + std::to_string(last);
    return chains + " of a run of " + std::to_string(draws.chains_of_run) + "; read_run reads all of them";
}

// The draws that count, and everything else that a summary is made of.
class Summarised {
  public:
    Summarised(const char* function, const Draws& draws) : draws_(&draws) {
        detail::check_values(draws, function);
        const std::vector<std::int64_t> counted = draws.counted();
        if (std::ssize(counted) < draws.size()) {
            selected_ = select(draws, counted);
            draws_ = &selected_;
        }
        for (const ChainRecord& r : draws_->chains) {
            ChainStatistics s{.steps = r.steps, .divergences = r.divergences, .deep = r.deep_steps};
            if (draws.facts.hamiltonian) s.divergent = r.divergent;
            // Between two thinned draws the momentum changes several times, so the E-BFMI comes from all steps.
            if (draws.facts.hamiltonian && draws.facts.fresh_momentum) {
                s.ebfmi = r.ebfmi;
                if (draws.thin == 1) s.energy = r.hamiltonian;
            }
            if (draws.facts.max_tree_depth > 0) s.tree_depth = r.tree_depth;
            if (draws.facts.acceptance) s.acceptance = r.acceptance;
            statistics_.push_back(s);
            weights_.insert(weights_.end(), r.weight.begin(), r.weight.end());
        }
        options_.statistics = statistics_;
        options_.max_tree_depth = static_cast<int>(draws.facts.max_tree_depth);
        add_weights(draws.size());
        if (std::string text = temperature_text(draws); !text.empty()) remarks_.push_back(std::move(text));
        if (std::string text = part_text(draws); !text.empty()) remarks_.push_back(std::move(text));
        options_.remarks = remarks_;
        options_.network = draws.network;
        if (draws.interrupted) options_.asked = draws.asked;
        if (!draws.incomplete.empty())
            more_.push_back("The files are not complete: " + incomplete_text(draws) +
                            ". The run was interrupted, or a file was cut; all chains are cut to " +
                            std::to_string(draws.size()) + " draws.");
        for (std::string text : {wrong_temperature_text(draws), invalid_text(draws)})
            if (!text.empty()) more_.push_back(std::move(text));
    }
    Summarised(const Summarised&) = delete;

    std::string summary() const {
        std::string text = pollen::summary<double>(draws_->names(), draws_->values, options_);
        for (const std::string& warning : more_) text += "Warning: " + warning + "\n";
        return text;
    }
    std::vector<std::string> warnings() const {
        std::vector<std::string> all = pollen::warnings<double>(draws_->names(), draws_->values, options_);
        all.insert(all.end(), more_.begin(), more_.end());
        return all;
    }

  private:
    void add_weights(std::int64_t draws_of_all) {
        const auto differs = [&](double w) { return w != weights_.front(); };
        if (std::none_of(weights_.begin(), weights_.end(), differs) && draws_->size() == draws_of_all) return;
        double sum = 0, squares = 0;
        for (const double w : weights_) sum += w, squares += w * w;
        std::string text = "weighted: mean, sd and quantiles, by the step that left each draw";
        if (draws_->size() < draws_of_all)
            text += "; without " + std::to_string(draws_of_all - draws_->size()) + " of " +
                    std::to_string(draws_of_all) + " draws a chain, of weight 0";
        remarks_.push_back(text + "; worth " + detail::to_text(sum * sum / squares, std::chars_format::fixed, 0) +
                           " draws of equal weight");
        options_.weights = weights_;
    }

    Draws selected_;
    const Draws* draws_;
    std::vector<ChainStatistics> statistics_;
    std::vector<double> weights_;
    std::vector<std::string> remarks_;
    SummaryOptions options_;
    std::vector<std::string> more_;  // warnings that the values of the draws do not show
};

}  // namespace

std::string summary(const Draws& draws) {
    if (const std::string text = no_draws_text(draws); !text.empty()) return text + "\n";
    return Summarised("summary", draws).summary();
}

std::string summary(const Draws& draws, std::initializer_list<std::string_view> names) {
    if (const std::string text = no_draws_text(draws); !text.empty()) return text + "\n";
    detail::check_values(draws, "summary");
    Draws some = draws;
    some.quantities.clear();
    std::vector<Tensor<double>> parts;
    for (const std::string_view name : names) {
        parts.push_back(draws[name]);
        const Shape& shape = parts.back().shape();
        const Shape own(shape.sizes().subspan(2));
        some.quantities.push_back({std::string(name), own, some.value_count()});
    }
    const std::int64_t width = some.value_count(), rows = std::ssize(draws.chains) * draws.size();
    some.values = Tensor<double>::empty(Shape{std::ssize(draws.chains), draws.size(), width});
    double* to = some.values.fresh_data();
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const std::int64_t n = some.quantities[k].shape.size();
            to = std::copy_n(parts[k].data() + r * n, n, to);
        }
    return summary(some);
}

std::vector<std::string> warnings(const Draws& draws) {
    if (std::string text = no_draws_text(draws); !text.empty()) return {std::move(text)};
    return Summarised("warnings", draws).warnings();
}

}  // namespace pollen
