#include <pollen/nn/potentials/function_potential.hpp>

#include <pollen/nn/potentials/detail/column_name.hpp>

#include <algorithm>
#include <set>

namespace pollen {

namespace {

std::vector<Quantity> numbers_called(const std::vector<std::string>& names) {
    std::vector<Quantity> blocks;
    std::set<std::string> columns;
    for (const std::string& name : names) {
        if (!columns.insert(column_name("FunctionPotential", name)).second)
            throw ValueError("FunctionPotential: two numbers are called " + name);
        blocks.push_back({name, {}, std::ssize(blocks)});
    }
    return blocks;
}

std::vector<Quantity> numbers_called_x(std::int64_t size) { return {{"x", Shape{std::max<std::int64_t>(size, 0)}, 0}}; }

template <Real T>
typename FunctionPotential<T>::BatchFunction without_batches(typename FunctionPotential<T>::Function f) {
    if (!f) return nullptr;
    return [f = std::move(f)](std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t>) {
        return f(theta, gradient);
    };
}

}  // namespace

template <Real T>
FunctionPotential<T>::FunctionPotential(std::int64_t size, std::vector<Quantity> blocks, std::int64_t items,
                                        BatchFunction f)
    : size_(size), items_(items), blocks_(std::move(blocks)), f_(std::move(f)) {
    if (size_ < 1) throw ValueError("FunctionPotential: size is " + std::to_string(size_) + "; at least 1 is needed");
    if (items_ < 0)
        throw ValueError("FunctionPotential: items is " + std::to_string(items_) + "; it must not be negative");
    if (!f_) throw ValueError("FunctionPotential: the function is empty");
}

template <Real T>
FunctionPotential<T>::FunctionPotential(std::int64_t size, Function f)
    : FunctionPotential(size, numbers_called_x(size), 0, without_batches<T>(std::move(f))) {}

template <Real T>
FunctionPotential<T>::FunctionPotential(const std::vector<std::string>& names, Function f)
    : FunctionPotential(std::ssize(names), numbers_called(names), 0, without_batches<T>(std::move(f))) {}

template <Real T>
FunctionPotential<T>::FunctionPotential(std::int64_t size, std::int64_t items, BatchFunction f)
    : FunctionPotential(size, numbers_called_x(size), items, std::move(f)) {}

template <Real T>
FunctionPotential<T>::FunctionPotential(const std::vector<std::string>& names, std::int64_t items, BatchFunction f)
    : FunctionPotential(std::ssize(names), numbers_called(names), items, std::move(f)) {}

template <Real T>
std::unique_ptr<Potential<T>> FunctionPotential<T>::clone() const {
    return std::make_unique<FunctionPotential>(*this);
}

template <Real T>
void FunctionPotential<T>::check(std::span<const T> theta, std::span<T> gradient) const {
    const auto need = [&](const char* what, std::size_t n) {
        if (static_cast<std::int64_t>(n) != size_)
            throw ShapeError("FunctionPotential: " + std::string(what) + " has " + std::to_string(n) +
                             " numbers; the potential has " + std::to_string(size_));
    };
    need("theta", theta.size());
    if (!gradient.empty()) need("the gradient", gradient.size());
}

template <Real T>
Energy FunctionPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient) {
    check(theta, gradient);
    return this->unless_refused(gradient, [&] { return Energy{.likelihood = f_(theta, gradient, {})}; });
}

template <Real T>
Energy FunctionPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient,
                                      std::span<const std::int64_t> batch) {
    check(theta, gradient);
    if (batch.empty()) throw ValueError("FunctionPotential: the batch is empty");
    if (items_ == 0) throw ValueError("FunctionPotential: there are no items to make batches of");
    return this->unless_refused(gradient, [&] { return Energy{.likelihood = f_(theta, gradient, batch)}; });
}

template <Real T>
void FunctionPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    if (theta.size() != out.size())
        throw ShapeError("FunctionPotential: room for " + std::to_string(out.size()) + " values; a draw has " +
                         std::to_string(theta.size()));
    std::transform(theta.begin(), theta.end(), out.begin(), [](T x) { return static_cast<double>(x); });
}

template <Real T>
std::string FunctionPotential<T>::describe() const {
    std::string text = "function of";
    for (const Quantity& q : blocks_) text += " " + q.name + to_string(q.shape);
    return text;
}

template class FunctionPotential<float>;
template class FunctionPotential<double>;

}  // namespace pollen
