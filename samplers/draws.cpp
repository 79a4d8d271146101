#include <pollen/samplers/draws.hpp>

#include <pollen/autograd/error.hpp>

#include <algorithm>
#include <cmath>

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

bool all_nan(const std::vector<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::isnan(y); });
}

struct Statistics {
    explicit Statistics(const Draws& draws) : options{.max_tree_depth = static_cast<int>(draws.max_tree_depth)} {
        for (const ChainRecord& r : draws.chains) {
            ChainStatistics s;
            const bool momenta = !all_nan(r.hamiltonian);
            if (momenta) s.energy = r.hamiltonian, s.divergent = r.divergent;
            if (std::any_of(r.tree_depth.begin(), r.tree_depth.end(), [](std::int32_t d) { return d > 0; }))
                s.tree_depth = r.tree_depth;
            if (!all_nan(r.acceptance)) s.acceptance = r.acceptance;
            chains.push_back(s);
        }
        options.statistics = chains;
    }

    std::vector<ChainStatistics> chains;
    SummaryOptions options;
};

// What the tables of draws do not know: steps that met an energy that is not a number.
std::string invalid_text(const Draws& draws) {
    std::string text;
    std::int64_t steps = 0;
    for (const ChainRecord& r : draws.chains) {
        if (r.invalid_steps == 0) continue;
        steps += r.invalid_steps;
        text += (text.empty() ? "chain " : ", chain ") + std::to_string(r.chain) + " (" +
                std::to_string(r.invalid_steps) + ")";
    }
    if (steps == 0) return text;
    return "An energy that is not a number was met, and rejected, in " + std::to_string(steps) +
           (steps == 1 ? " step: " : " steps: ") + text + ". Look at where the log density is not defined.";
}

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

std::vector<std::string> Draws::names() const {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(value_count()));
    for (const Quantity& q : quantities) {
        for (std::int64_t k = 0; k < q.shape.size(); ++k) names.push_back(q.name + index_text(q.shape, k));
    }
    return names;
}

Tensor<double> Draws::operator[](std::string_view name) const {
    const auto is = [&](const Quantity& q) { return q.name == name; };
    const auto q = std::find_if(quantities.begin(), quantities.end(), is);
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
    for (const Quantity& array : quantities) {
        if (array.shape.rank() == 0 || !name.starts_with(array.name + "[")) continue;
        for (std::int64_t k = 0; k < array.shape.size(); ++k) {
            if (name.substr(array.name.size()) != index_text(array.shape, k)) continue;
            check_values(*this, name);
            return gather(values, array.offset + k, 1, Shape{values.shape()[0], values.shape()[1]});
        }
        throw ValueError("Draws: there is no " + std::string(name) + "; " + array.name + " has shape " +
                         to_string(array.shape) + ", counted from 1 here");
    }
    throw ValueError("Draws: there is no " + std::string(name) + "; there are " + list_names(quantities));
}

Tensor<double> Draws::at(std::string_view name, std::initializer_list<std::int64_t> index) const {
    const auto is = [&](const Quantity& q) { return q.name == name; };
    const auto q = std::find_if(quantities.begin(), quantities.end(), is);
    if (q == quantities.end())
        throw ValueError("Draws: there is no " + std::string(name) + "; there are " + list_names(quantities));
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
    check_values(draws, "summary");
    const Statistics statistics(draws);
    const std::string invalid = invalid_text(draws);
    return summary<double>(draws.names(), draws.values, statistics.options) +
           (invalid.empty() ? "" : "Warning: " + invalid + "\n");
}

std::vector<std::string> warnings(const Draws& draws) {
    check_values(draws, "warnings");
    const Statistics statistics(draws);
    std::vector<std::string> all = warnings<double>(draws.names(), draws.values, statistics.options);
    if (const std::string invalid = invalid_text(draws); !invalid.empty()) all.push_back(invalid);
    return all;
}

}  // namespace pollen
