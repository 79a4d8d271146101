#pragma once

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/sets/dataset.hpp>

#include <charconv>
#include <string>

// What the likelihoods check before they compute anything.
namespace pollen {

// (n) and (n, 1) both mean one number for each item.
inline bool same_numbers(const Shape& a, const Shape& b) {
    if (a == b) return true;
    const bool column = (a.rank() == 1 && b.rank() == 2) || (a.rank() == 2 && b.rank() == 1);
    return column && a[0] == b[0] && a.size() == a[0] && b.size() == b[0];
}

template <class T>
bool is_missing(const Tensor<T>& tensor) {
    return tensor.shape() == Shape::nothing();
}

inline void check_outputs(const char* name, const Shape& outputs) {
    if (outputs.rank() == 0)
        throw ShapeError(std::string(name) + ": outputs have shape (); their first axis must count the items");
}

// The batch's targets have the shape `needed`.
template <Real T>
void check_target_shape(const char* name, const Shape& outputs, const Shape& needed, const Tensor<T>& targets) {
    if (same_numbers(needed, targets.shape())) return;
    const std::string text = std::string(name) + ": outputs have shape " + to_string(outputs);
    if (is_missing(targets))
        throw ShapeError(text + " and there are no targets; targets of shape " + to_string(needed) + " are needed");
    throw ShapeError(text + ", targets " + to_string(targets.shape()) + "; targets of shape " + to_string(needed) +
                     " are needed");
}

// As many digits as tell the number from its neighbours: a count of 3.0000002 is not to be shown as 3.
template <Real T>
std::string all_digits(T x) {
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, x).ptr);
}

// fine(y) on every target; `needed` says in words what it asks for.
template <Real T, class Fine>
void check_targets(const char* name, const Tensor<T>& targets, const char* needed, const Fine& fine) {
    using kernels::Batch;
    const auto wrong = [&fine](const Batch<T>& y) { return xsimd::select(fine(y), Batch<T>(T(0)), Batch<T>(T(1))); };
    if (kernels::reduce_all<kernels::Max, T>(targets.size(), wrong, kernels::Stream<T>{targets.data()}) <= 0) return;
    const std::int64_t width = targets.size() / targets.shape()[0];
    for (std::int64_t i = 0; i < targets.size(); ++i) {
        const T y = targets.data()[i];
        if (wrong(Batch<T>(y)).get(0) == T(0)) continue;
        const std::string which = width == 1 ? "the target" : "target " + std::to_string(i % width);
        throw ValueError(std::string(name) + ": " + which + " of item " + std::to_string(i / width) + " is " +
                         all_digits(y) + "; " + needed);
    }
}

struct IsFinite {
    template <class V>
    auto operator()(const V& y) const {
        return y - y == V(0);
    }
};

// Targets that are any finite numbers, one for each output.
template <Real T>
const T* finite_targets(const char* name, const Shape& outputs, const Dataset<T>& batch) {
    check_outputs(name, outputs);
    check_target_shape(name, outputs, outputs, batch.targets);
    check_targets(name, batch.targets, "finite numbers are needed", IsFinite{});
    return batch.targets.data();
}

// The mean over an item's numbers of f(output, target), summed over the items.
template <Real T, class F>
double sum_of_means(const Shape& outputs, const T* x, const T* y, const F& f) {
    double sum = 0;
    for (std::int64_t i = 0; i < outputs.size(); ++i) sum += f(static_cast<double>(x[i]), static_cast<double>(y[i]));
    return outputs.size() > 0 ? sum * static_cast<double>(outputs[0]) / static_cast<double>(outputs.size()) : 0;
}

}  // namespace pollen
