#pragma once

#include "../../support.hpp"

#include <pollen/nn/potentials/model.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <vector>

// What the tests of models in blocks share.
namespace pollen::test {

inline constexpr std::int64_t many = 100000;

// How often a function was called and with how many items at most, by any thread.
struct Calls {
    std::atomic<std::int64_t> count = 0, most = 0;
    template <Real T>
    void add(Model<T>& m) {
        ++count;
        const auto n = std::ssize(m.batch());
        for (std::int64_t seen = most; seen < n && !most.compare_exchange_weak(seen, n);) {
        }
    }
    // Whether f calls the function for parts of `items` items.
    template <class F>
    bool in_blocks(std::int64_t items, const F& f) {
        count = most = 0;
        f();
        BOOST_TEST(count > 0);
        return most < items;
    }
};

// f as a model of n items, which counts its calls.
inline ModelPotential<double> counted(Calls& calls, const std::function<void(Model<double>&)>& f,
                                      std::int64_t n = many) {
    const auto function = [&calls, f](Model<double>& m) {
        calls.add(m);
        f(m);
    };
    return ModelPotential<double>(function, n);
}

// Two potentials have the same energy and the same gradient, up to rounding.
inline void check_same(Potential<double>& a, Potential<double>& b, const std::vector<double>& theta) {
    std::vector<double> of_a(theta.size(), 1e9), of_b(theta.size(), -1e9);
    const Energy one = a.evaluate(theta, of_a), other = b.evaluate(theta, of_b);
    BOOST_TEST(one.prior == other.prior);
    BOOST_TEST(one.likelihood == other.likelihood, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(a.evaluate(theta, {}).total() == one.total());
    double size = 0;
    for (const double g : of_b) size = std::max(size, std::abs(g));
    for (std::size_t k = 0; k < theta.size(); ++k)
        BOOST_TEST(std::abs(of_a[k] - of_b[k]) <= 1e-12 * size, "number " << k << ": " << of_a[k] << ", " << of_b[k]);
}

}  // namespace pollen::test
