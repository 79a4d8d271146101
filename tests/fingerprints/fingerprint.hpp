#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/random.hpp>

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

// Fingerprints of results: 64 bits that change if any bit of a result changes.
namespace pollen::test {

class Fingerprint {
  public:
    void add(std::uint64_t word) { state_ = mixed(state_ ^ mixed(word + 0x9e3779b97f4a7c15)); }
    // All NaNs count as one: their signs and payloads are the CPU's own.
    void add(double x) { add(x != x ? std::uint64_t{0x7ff8000000000000} : std::bit_cast<std::uint64_t>(x)); }
    void add(float x) { add(static_cast<double>(x)); }
    void add(const std::string& text) {
        add(static_cast<std::uint64_t>(text.size()));
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    template <class T>
    void add(std::span<const T> numbers) {
        add(static_cast<std::uint64_t>(numbers.size()));
        for (const T x : numbers) add(x);
    }
    template <Real T>
    void add(const Tensor<T>& tensor) {
        for (int axis = 0; axis < tensor.shape().rank(); ++axis) add(static_cast<std::uint64_t>(tensor.shape()[axis]));
        add(tensor.values());
    }
    std::uint64_t bits() const { return state_; }

  private:
    // The finaliser of splitmix64.
    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
    std::uint64_t state_ = 0;
};

// The fingerprints by name. A name has many cases: `each` lists them one by one, to find the one that differs.
class Fingerprints {
  public:
    void add(const std::string& name, const std::string& which, const Fingerprint& f) {
        table_[name].add(f.bits());
        each_.push_back({name + " " + which, f.bits()});
    }
    std::map<std::string, std::uint64_t> table() const {
        std::map<std::string, std::uint64_t> out;
        for (const auto& [name, f] : table_) out[name] = f.bits();
        return out;
    }
    struct Case {
        std::string name;
        std::uint64_t bits;
    };
    const std::vector<Case>& each() const { return each_; }

  private:
    std::map<std::string, Fingerprint> table_;
    std::vector<Case> each_;
};

template <Real T>
inline constexpr const char* type_name = sizeof(T) == 4 ? "float" : "double";

// Uniform numbers between low and high, the same in every run.
template <Real T>
Tensor<T> numbers(const Shape& shape, double low, double high, std::uint64_t seed) {
    Random random(seed);
    Tensor<T> out = Tensor<T>::zeros(shape);
    for (T& x : out.mutable_values()) x = static_cast<T>(low + (high - low) * random.uniform<double>());
    return out;
}

// The value of f and the gradients of its inputs, with numbers that are uniform between low and high.
template <Real T>
void add_function(Fingerprints& to, const std::string& name, const std::vector<Shape>& inputs, double low, double high,
                  const std::function<Var<T>(std::span<const Var<T>>)>& f) {
    Tape<T> tape;
    std::vector<Var<T>> x;
    std::string which = type_name<T>;
    for (const Shape& shape : inputs) {
        x.push_back(tape.variable(numbers<T>(shape, low, high, 11 + x.size())));
        which += " " + to_string(shape);
    }
    const Var<T> y = f(x);
    tape.backward(y, numbers<T>(y.shape(), -1, 1, 7));
    Fingerprint print;
    print.add(y.value());
    for (const Var<T>& v : x) print.add(v.grad());
    to.add(name, which, print);
}

void add_ops(Fingerprints&);
void add_distributions(Fingerprints&);
void add_layers(Fingerprints&);
void add_training(Fingerprints&);
void add_sampling(Fingerprints&);

}  // namespace pollen::test
