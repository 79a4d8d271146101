#include <pollen/samplers/draws/draws.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/warnings.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace pollen {

namespace {

// f(vector) for everything that has an entry a draw.
template <class F>
void each_vector(ChainRecord& r, const F& f) {
    f(r.energy), f(r.hamiltonian), f(r.acceptance), f(r.step_size), f(r.weight);
    f(r.gradients), f(r.tree_depth), f(r.divergent), f(r.invalid);
}

// "[1,2]" for the second element of the first row.
std::string index_text(const Shape& shape, std::int64_t element) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        text = std::to_string(element % shape[axis] + 1) + (text.empty() ? "" : ",") + text;
        element /= shape[axis];
    }
    return text.empty() ? text : "[" + text + "]";
}

std::string list_names(const std::vector<Quantity>& quantities) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t k = 0; k < std::min(most, quantities.size()); ++k) text += (k ? ", " : "") + quantities[k].name;
    if (quantities.size() > most) text += " and " + std::to_string(quantities.size() - most) + " more";
    return text;
}

// Files have 0_weight for 0.weight.
bool same_name(std::string_view own, std::string_view asked) {
    return std::equal(own.begin(), own.end(), asked.begin(), asked.end(),
                      [](char a, char b) { return a == b || (a == '_' && b == '.'); });
}

// The quantity of this name, as it is, or as files have it.
std::vector<Quantity>::const_iterator find(const std::vector<Quantity>& quantities, std::string_view name) {
    const auto exact =
        std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.name == name; });
    if (exact != quantities.end()) return exact;
    return std::find_if(quantities.begin(), quantities.end(),
                        [&](const Quantity& q) { return same_name(q.name, name); });
}

[[noreturn]] void fail(std::string_view name, const std::vector<Quantity>& quantities) {
    throw ValueError(
        "Draws: there is no " + std::string(name) + "; there are " + list_names(quantities) +
        (name.ends_with("__") ? "; what the sampler says is in statistic(&ChainRecord::energy) and others" : ""));
}

void check_values(const Draws& draws, std::string_view name) {
    if (draws.values.rank() == 3) return;
    throw ValueError("Draws: " + std::string(name) +
                     ": the values were not kept in memory (keep = false); read the files with read_stan_csv");
}

// Elements [first, first + shape.size()) of every draw.
Tensor<double> gather(const Tensor<double>& values, std::int64_t first, std::int64_t count, const Shape& shape) {
    Tensor<double> out = Tensor<double>::empty(shape);
    const std::int64_t rows = values.shape()[0] * values.shape()[1], width = values.shape()[2];
    double* to = out.fresh_data();
    for (std::int64_t r = 0; r < rows; ++r) to = std::copy_n(values.data() + r * width + first, count, to);
    return out;
}

// The number of an element that is named by its index, counted from 1: "[3,4]". -1 where there is none of that name.
std::int64_t element_of(const Shape& shape, std::string_view index) {
    if (!index.starts_with('[') || !index.ends_with(']')) return -1;
    index.remove_prefix(1);
    std::int64_t element = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        std::int64_t i = 0;
        const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), i);
        const char mark = axis + 1 < shape.rank() ? ',' : ']';
        if (error != std::errc() || *end != mark || i < 1 || i > shape[axis]) return -1;
        element = element * shape[axis] + i - 1;
        index.remove_prefix(static_cast<std::size_t>(end + 1 - index.data()));
    }
    return index.empty() ? element : -1;
}

// The draws of these numbers alone.
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
        each_vector(some.chains[static_cast<std::size_t>(c)], [&](auto& x) {
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

// More than 4 errors and this share of it off; where it is tenfold the error is as large as the number itself.
bool is_off(const MeanAndError& t, double asked, double share) {
    const double distance = std::abs(t.mean - asked);
    return std::isinf(t.mean) || (asked > 0 && t.mean > 10 * asked) ||
           (distance > 4 * t.error && distance > share * asked);
}

// The configurational one, which every chain with a gradient has, is too low, too, where a chain moves slowly and has
// not left the point c that it measures from; R-hat speaks of that. Momenta with friction a are at T / (1 - a/2), at
// most 2 T, as they should be.
std::string wrong_temperature_text(const Draws& draws) {
    const double asked = draws.temperature;
    const MeanAndError positions = measured(draws, &TemperatureSums::configurational);
    const MeanAndError momenta = measured(draws, &TemperatureSums::kinetic);
    const bool by_positions = is_off(positions, asked, 0.2) && (draws.network || !(positions.mean < asked));
    if (!by_positions && !(momenta.mean > asked && is_off(momenta, asked, 1))) return "";
    return "The chains run at T = " + short_text(by_positions ? positions.mean : momenta.mean, 3) + ", not " +
           to_text(asked) + ": the step is too large, or they have not arrived.";
}

// Why there is nothing to summarise, or nothing.
std::string no_draws_text(const Draws& draws) {
    if (draws.size() > 0) {
        if (!draws.counted().empty()) return "";
        return "no draws that count: the weight of all " + std::to_string(draws.size()) +
               " is 0; they fell into the exploration part of a cycle, or their steps were 0";
    }
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

// What the tables of draws do not know: steps that met an energy that is not a number.
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

// All that a summary is made of.
class Summarised {
  public:
    Summarised(const char* function, const Draws& draws) : draws_(&draws) {
        check_values(draws, function);
        const std::vector<std::int64_t> counted = draws.counted();
        if (std::ssize(counted) < draws.size()) {
            selected_ = select(draws, counted);
            draws_ = &selected_;
        }
        for (const ChainRecord& r : draws_->chains) {
            ChainStatistics s{.steps = r.steps, .divergences = r.divergences, .deep = r.deep_steps};
            if (draws.facts.hamiltonian) s.divergent = r.divergent;
            // Between thinned draws momenta are drawn again and again: only that of all steps means something then.
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
        options_.remarks = remarks_;
        options_.network = draws.network;
        if (draws.interrupted) options_.asked = draws.asked;
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
    std::vector<std::string> more_;  // warnings that the tables of draws know nothing of
};

}  // namespace

void ChainRecord::add(const StepStatistics& s, double weight_of_draw) {
    energy.push_back(s.energy);
    hamiltonian.push_back(s.hamiltonian);
    acceptance.push_back(s.acceptance);
    step_size.push_back(s.step_size);
    weight.push_back(weight_of_draw);
    gradients.push_back(s.gradients);
    tree_depth.push_back(static_cast<std::int32_t>(s.tree_depth));
    divergent.push_back(s.divergent);
    invalid.push_back(s.invalid);
}

void ChainRecord::reserve(std::int64_t draws) {
    each_vector(*this, [&](auto& x) { x.reserve(static_cast<std::size_t>(draws)); });
}

void ChainRecord::resize(std::int64_t draws) {
    each_vector(*this, [&](auto& x) { x.resize(static_cast<std::size_t>(draws)); });
}

std::int64_t Draws::value_count() const {
    return quantities.empty() ? 0 : quantities.back().offset + quantities.back().shape.size();
}

std::vector<std::int64_t> Draws::counted() const {
    std::vector<std::int64_t> numbers;
    for (std::int64_t t = 0; t < size(); ++t) {
        const auto counts = [t](const ChainRecord& r) { return r.weight[static_cast<std::size_t>(t)] > 0; };
        if (std::all_of(chains.begin(), chains.end(), counts)) numbers.push_back(t);
    }
    return numbers;
}

std::vector<std::string> Draws::names() const {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(value_count()));
    for (const Quantity& q : quantities) {
        for (std::int64_t k = 0; k < q.shape.size(); ++k) names.push_back(q.name + index_text(q.shape, k));
    }
    return names;
}

Tensor<double> Draws::operator[](std::string_view name) const {
    const auto q = find(quantities, name);
    if (q != quantities.end()) {
        check_values(*this, name);
        std::vector<std::int64_t> sizes{values.shape()[0], values.shape()[1]};
        sizes.insert(sizes.end(), q->shape.sizes().begin(), q->shape.sizes().end());
        if (std::ssize(sizes) > max_rank)
            throw ShapeError("Draws: " + q->name + " " + to_string(q->shape) +
                             " has too many axes beside those of chains and draws; ask for its elements");
        return gather(values, q->offset, q->shape.size(), Shape(sizes));
    }
    // theta[3]
    const std::string_view base = name.substr(0, name.rfind('['));
    for (const Quantity& array : quantities) {
        if (array.shape.rank() == 0 || base == name || !same_name(array.name, base)) continue;
        const std::int64_t k = element_of(array.shape, name.substr(array.name.size()));
        if (k >= 0) {
            check_values(*this, name);
            return gather(values, array.offset + k, 1, Shape{values.shape()[0], values.shape()[1]});
        }
        throw ValueError("Draws: there is no " + std::string(name) + "; " + array.name + " has shape " +
                         to_string(array.shape) + ", counted from 1 here");
    }
    fail(name, quantities);
}

Tensor<double> Draws::at(std::string_view name, std::initializer_list<std::int64_t> index) const {
    const auto q = find(quantities, name);
    if (q == quantities.end()) fail(name, quantities);
    check_values(*this, name);
    std::int64_t element = 0;
    bool good = std::ssize(index) == q->shape.rank();
    for (int axis = 0; good && axis < q->shape.rank(); ++axis) {
        const std::int64_t i = index.begin()[axis];
        good = i >= 0 && i < q->shape[axis];
        element = element * q->shape[axis] + i;
    }
    if (!good) {
        std::string text;
        for (const std::int64_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
        throw ShapeError("Draws: " + q->name + " has shape " + to_string(q->shape) + " and no element (" + text + ")");
    }
    return gather(values, q->offset + element, 1, Shape{values.shape()[0], values.shape()[1]});
}

template <class N>
Tensor<double> Draws::statistic(std::vector<N> ChainRecord::*which) const {
    Tensor<double> out = Tensor<double>::empty(Shape{std::ssize(chains), size()});
    double* to = out.fresh_data();
    for (const ChainRecord& r : chains) {
        if (std::ssize(r.*which) != size())
            throw ShapeError("Draws: chain " + std::to_string(r.chain) + " has " + std::to_string((r.*which).size()) +
                             " statistics for " + std::to_string(size()) + " draws");
        to = std::transform((r.*which).begin(), (r.*which).end(), to, [](N x) { return static_cast<double>(x); });
    }
    return out;
}

template Tensor<double> Draws::statistic(std::vector<double> ChainRecord::*) const;
template Tensor<double> Draws::statistic(std::vector<std::int64_t> ChainRecord::*) const;
template Tensor<double> Draws::statistic(std::vector<std::int32_t> ChainRecord::*) const;
template Tensor<double> Draws::statistic(std::vector<std::uint8_t> ChainRecord::*) const;

std::string summary(const Draws& draws) {
    if (const std::string text = no_draws_text(draws); !text.empty()) return text + "\n";
    return Summarised("summary", draws).summary();
}

std::string summary(const Draws& draws, std::initializer_list<std::string_view> names) {
    if (const std::string text = no_draws_text(draws); !text.empty()) return text + "\n";
    check_values(draws, "summary");
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
