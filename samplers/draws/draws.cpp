#include <pollen/samplers/draws/draws.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>

#include <algorithm>
#include <charconv>

namespace pollen {

namespace {

// "[1,2]" for the second element of the first row.
std::string index_text(const Shape& shape, std::int64_t element) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        text.insert(0, std::to_string(element % shape[axis] + 1) + (text.empty() ? "" : ","));
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

// Whether a quantity is the one asked for. Files write 0_weight for 0.weight, so both are accepted.
bool same_name(std::string_view own, std::string_view asked) {
    return std::equal(own.begin(), own.end(), asked.begin(), asked.end(),
                      [](char a, char b) { return a == b || (a == '_' && b == '.'); });
}

// The quantity of this name: the same name if there is one, or else as files write it.
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

// Elements [first, first + shape.size()) of every draw.
Tensor<double> gather(const Tensor<double>& values, std::int64_t first, std::int64_t count, const Shape& shape) {
    Tensor<double> out = Tensor<double>::empty(shape);
    const std::int64_t rows = values.shape()[0] * values.shape()[1], width = values.shape()[2];
    double* to = out.fresh_data();
    for (std::int64_t r = 0; r < rows; ++r) to = std::copy_n(values.data() + r * width + first, count, to);
    return out;
}

// The position of the element "[3,4]", whose indices count from 1. Returns -1 if the tensor has no such element.
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
    detail::each_vector(*this, [&](auto& x) { detail::reserve(x, static_cast<std::size_t>(draws), "draws"); });
}

void ChainRecord::resize(std::int64_t draws) {
    detail::each_vector(*this, [&](auto& x) { detail::resize(x, static_cast<std::size_t>(draws), "draws"); });
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
        detail::check_values(*this, name);
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
            detail::check_values(*this, name);
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
    detail::check_values(*this, name);
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

}  // namespace pollen
