#include "normal_noise.hpp"

#include "estimate.hpp"

#include "../common/stage.hpp"
#include "../common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/batch_draw.hpp>
#include <pollen/samplers/chain.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace pollen;

namespace {

constexpr std::int64_t times = 1000;

// Gradients of the items, less their mean, with the sums of their powers.
struct Gradients {
    std::vector<double> d;
    double p2 = 0, p4 = 0;

    Gradients() {
        double mean = 0;
        for (std::int64_t i = 0; i < times; ++i) {
            d.push_back(-math::log(1 - (static_cast<double>(i) + 0.5) / times));
            mean += d.back() / times;
        }
        for (double& x : d) {
            x -= mean;
            p2 += x * x;
            p4 += x * x * x * x;
        }
    }
};

// Moments of the sum S of n items, none of them twice. With f_k the probability that k given items are in the batch,
//
//     E S^2 = (f1 - f2) p2        E S^4 = (f1 - 7 f2 + 12 f3 - 6 f4) p4 + 3 (f2 - 2 f3 + f4) p2^2
struct Law {
    double variance, kurtosis;  // the excess: 0 if S is normal

    Law(const Gradients& all, std::int64_t n) {
        double f[5] = {1};
        for (int k = 1; k < 5; ++k)
            f[k] = f[k - 1] * static_cast<double>(n - k + 1) / static_cast<double>(times - k + 1);
        variance = (f[1] - f[2]) * all.p2;
        const double fourth =
            (f[1] - 7 * f[2] + 12 * f[3] - 6 * f[4]) * all.p4 + 3 * (f[2] - 2 * f[3] + f[4]) * all.p2 * all.p2;
        kurtosis = fourth / (variance * variance) - 3;
    }
};

// The mean of z^4 - 6 z^2 + 3 with z = S / sd. It is the excess kurtosis, since E z^2 = 1, and its standard error is
// half of that of z^4 - 3.
Estimate measured(const Gradients& all, std::int64_t n, double sd, std::int64_t batches, std::uint64_t seed) {
    BatchDraw draw;
    std::vector<std::int64_t> some;
    std::vector<double> terms;
    for (std::int64_t t = 0; t < batches; ++t) {
        Random random = batch_random_of(seed, static_cast<std::uint32_t>(n), t);
        draw(random, n, times, some);
        double sum = 0;
        for (const std::int64_t i : some) sum += all.d[static_cast<std::size_t>(i)];
        const double z2 = (sum / sd) * (sum / sd);
        terms.push_back(z2 * z2 - 6 * z2 + 3);
    }
    return Estimate(terms);
}

}  // namespace

void table_of_kurtosis(const Example& example, std::int64_t batches) {
    const Gradients all;
    const double of_one = Law(all, 1).kurtosis;
    ResultTable table({"items in a batch", "excess kurtosis", "its law", "law of independent draws"});
    for (const std::int64_t n : {1, 10, 100, 500}) {
        const Law law(all, n);
        const Found run = stage(example, "kurtosis of batches of " + std::to_string(n), [&] {
            const Estimate e = measured(all, n, std::sqrt(law.variance), batches, example.seed + 3);
            return Found{{"kurtosis", {e.mean, e.error}}};
        });
        const Tensor<double>& found = run.at("kurtosis");
        table.row(
            {std::to_string(n), {found(0), found(1), 3}, {law.kurtosis, 3}, {of_one / static_cast<double>(n), 3}});
    }
    table.show();
    table.save(example.path("brownian_kurtosis"));
}
