#pragma once

#include "../support.hpp"
#include "op_cases.hpp"

#include <cstring>

// Record a tape, write other numbers into its variables, replay it: the bits are those of a tape that is recorded
// there.
namespace pollen::test::replay {

inline bool same_bits(const Tensor<double>& a, const Tensor<double>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

inline std::vector<Tensor<double>> point(const OpCase<double>& c, std::uint64_t seed) {
    std::vector<Tensor<double>> numbers;
    for (const Shape& shape : c.inputs) numbers.push_back(uniforms(shape, c.low, c.high, seed++));
    return numbers;
}

inline std::vector<Var<double>> variables(Tape<double>& tape, const std::vector<Tensor<double>>& numbers) {
    std::vector<Var<double>> x;
    for (const Tensor<double>& n : numbers) x.push_back(tape.borrow_variable(n));
    return x;
}

inline void write(std::vector<Tensor<double>>& to, const std::vector<Tensor<double>>& from) {
    for (std::size_t k = 0; k < to.size(); ++k) std::copy(from[k].begin(), from[k].end(), to[k].mutable_data());
}

inline void check(const OpCase<double>& c) {
    BOOST_TEST_CONTEXT(c.name) {
        std::vector<Tensor<double>> numbers = point(c, 1);
        const std::vector<Tensor<double>> there = point(c, 100);
        Tape<double> tape(Recording::replay), fresh;
        const std::vector<Var<double>> x = variables(tape, numbers), z = variables(fresh, there);
        const Var<double> y = c.f(x), expected = c.f(z);
        const Tensor<double> seed = normals(y.shape(), 7), before = y.value(), copy(before.shape(), before.values());
        tape.backward(y, seed);  // a way back before the replay leaves no trace
        tape.zero_grad();
        write(numbers, there);
        tape.replay();
        tape.backward(y, seed);
        fresh.backward(expected, seed);
        BOOST_TEST(same_bits(y.value(), expected.value()), "values differ");
        for (std::size_t k = 0; k < x.size(); ++k)
            BOOST_TEST(same_bits(x[k].grad(), z[k].grad()), "gradients of input " << k << " differ");
        BOOST_TEST(same_bits(before, copy), "a value that was taken away must not change");
    }
}

}  // namespace pollen::test::replay
