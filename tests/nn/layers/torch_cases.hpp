#pragma once

#include "../../support.hpp"

#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/module.hpp>

#include <string_view>

// Modules and likelihoods, with their gradients, against what PyTorch made of the same numbers (torch_reference.py).
namespace pollen::test {

struct TorchArray {
    const char *test, *name;
    int rank;
    std::int64_t sizes[4];
    std::int64_t offset;
};
#include "torch_reference.inc"

inline bool has_torch(std::string_view test, std::string_view name) {
    for (const TorchArray& array : torch_arrays) {
        if (array.test == test && array.name == name) return true;
    }
    return false;
}

inline Tensor<double> torch(std::string_view test, std::string_view name) {
    for (const TorchArray& array : torch_arrays) {
        if (array.test != test || array.name != name) continue;
        const Shape shape(std::span(array.sizes, static_cast<std::size_t>(array.rank)));
        return Tensor<double>(shape, std::span(torch_numbers + array.offset, static_cast<std::size_t>(shape.size())));
    }
    throw ValueError("torch_reference.inc has no " + std::string(name) + " of " + std::string(test));
}

// How many numbers are off by more than 1e-10 (double) or 1e-5 (float), relative to PyTorch's, or to 1 where that is
// less.
template <class T>
int wrong_numbers(const Tensor<T>& ours, const Tensor<double>& theirs) {
    const double tolerance = std::same_as<T, double> ? 1e-10 : 1e-5;
    BOOST_REQUIRE_EQUAL(to_string(ours.shape()), to_string(theirs.shape()));
    int wrong = 0;
    for (std::int64_t i = 0; i < ours.size(); ++i) {
        const double a = static_cast<double>(ours.data()[i]), b = theirs.data()[i];
        wrong += !(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)));
    }
    return wrong;
}

template <class T>
void give_values(HasParameters<T>& tree, const char* test) {
    std::vector<T> theta;
    const Parameters<T> parameters(tree);
    for (const auto& entry : parameters.entries()) {
        const Tensor<double> value = torch(test, entry.name);
        BOOST_REQUIRE_EQUAL(to_string(entry.parameter->shape), to_string(value.shape()));
        for (const double x : value) theta.push_back(static_cast<T>(x));
    }
    unflatten(tree, std::span<const T>(theta));
}

// evaluate(pass, x) is compared with "y", and its gradients with "d.x", "d.weight" and so on.
template <class T, class Evaluate>
void compare_with_torch(const char* test, const HasParameters<T>& tree, const Evaluate& evaluate,
                        Mode mode = Mode::predict) {
    Tape<T> tape;
    const Parameters<T> parameters(tree);
    Pass<T> pass(tape, parameters, {.mode = mode});
    const Var<T> x = tape.variable(cast<T>(torch(test, "x"))), y = evaluate(pass, x);
    tape.backward(y, has_torch(test, "seed") ? cast<T>(torch(test, "seed")) : Tensor<T>::ones(y.shape()));
    BOOST_TEST(wrong_numbers(y.value(), torch(test, "y")) == 0, "outputs differ");
    if (has_torch(test, "d.x")) BOOST_TEST(wrong_numbers(x.grad(), torch(test, "d.x")) == 0, "gradients of x differ");
    for (std::size_t k = 0; k < parameters.count(); ++k) {
        const std::string& name = parameters.entries()[k].name;
        if (parameters.entries()[k].parameter->statistic) continue;
        BOOST_TEST(wrong_numbers(pass.leaves()[k].grad(), torch(test, "d." + name)) == 0,
                   "gradients of " << name << " differ");
    }
}

// make<T>() gives the module.
template <class Make>
void check_torch(const char* test, const Make& make) {
    BOOST_TEST_CONTEXT(test) {
        const auto both = [&]<class T>() {
            auto module = make.template operator()<T>();
            give_values<T>(module, test);
            const Module<T>& layer = module;
            compare_with_torch<T>(test, module, [&](Pass<T>& pass, Var<T> x) { return layer(pass, x); });
        };
        both.template operator()<float>();
        both.template operator()<double>();
    }
}

}  // namespace pollen::test
