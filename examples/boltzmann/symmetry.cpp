#include "symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace pollen;

std::set<std::vector<double>> images(const std::vector<double>& theta) {
    const std::size_t n = theta.size() / 2;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::set<std::vector<double>> all;
    do
        for (std::size_t signs = 0; signs < std::size_t{1} << n; ++signs) {
            std::vector<double> image(2 * n);
            for (std::size_t k = 0; k < n; ++k) {
                const double sign = signs >> k & 1 ? -1 : 1;
                image[k] = sign * theta[order[k]];
                image[n + k] = sign * theta[n + order[k]];
            }
            all.insert(image);
        }
    while (std::ranges::next_permutation(order).found);
    return all;
}

static std::size_t river(double w1, double w2) {
    return (w1 > 0 ? 1 : 0) + (w2 > 0 ? 2 : 0) + (std::abs(w1) > std::abs(w2) ? 4 : 0);
}

Rivers::Rivers(const Draws& draws) {
    const Tensor<double> w1 = draws["w[1]"], w2 = draws["w[2]"];
    for (std::size_t r = 0; r < 8; ++r) {
        Tensor<double> inside = w1;
        std::set<std::int64_t> chains;
        for (std::int64_t c = 0; c < std::ssize(draws.chains); ++c)
            for (std::int64_t t = 0; t < draws.size(); ++t) {
                inside.mutable_at(c, t) = river(w1(c, t), w2(c, t)) == r;
                if (inside(c, t) == 1) chains.insert(c);
            }
        share[r] = summarise(Chains(inside)).mean;
        error[r] = mcse_mean(inside);
        of_a_chain += static_cast<double>(chains.size()) / static_cast<double>(draws.chains.size());
    }
}
