#pragma once

#include "fingerprint.hpp"

#include <pollen/nn/module/module.hpp>

namespace pollen::test {

// A layer at x: its outputs, all gradients, and the running statistics that it sets.
template <Real T>
void add_layer(Fingerprints& to, const std::string& name, const Module<T>& layer, const Tensor<T>& x,
               Mode mode = Mode::predict) {
    Tape<T> tape;
    const Parameters<T> parameters(layer);
    Pass<T> pass(tape, parameters, {.mode = mode});
    const Var<T> input = tape.variable(x), y = layer(pass, input);
    tape.backward(y, numbers<T>(y.shape(), -1, 1, 9));
    Fingerprint f;
    f.add(y.value());
    f.add(input.grad());
    for (const Var<T>& leaf : pass.leaves()) f.add(leaf.grad());
    for (const auto& statistic : pass.statistics()) f.add(statistic.next);
    to.add(name, std::string(type_name<T>) + " " + to_string(x.shape()), f);
}

}  // namespace pollen::test
