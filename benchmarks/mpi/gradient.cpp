// mpirun -n RANKS mpi_gradient [ITEMS [BLOCKS]]
//
// How many gradients of U a second the ranks make together, each with one thread and its share of the items, and how
// many one rank makes alone, with one thread and all items. The network is 784-1200-1200-10 in float, the items are
// random digits. The last rows say what the group costs a single rank, and what the order of the sum costs: the same
// sum without a group, and the same blocks added to one gradient.
#include "../networks.hpp"

#include <pollen/autograd/detail/subtree_sums.hpp>
#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/pollen.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace pollen;
using namespace pollen::bench;

namespace {

template <class F>
double seconds(const F& f) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

NetworkPotential<float> part_of(const Dataset<float>& digits, const Spread& spread) {
    return {
        mlp(1200), Categorical<float>(), digits.slice(spread.first(), spread.count()), {.first_item = spread.first()}};
}

void row(const char* what, double time, double base) {
    std::printf("%-44s %9.1f ms %8.3f gradients a second %8.3f\n", what, 1000 * time, 1 / time, base / time);
}

void measure(Group& group, std::int64_t items, std::int64_t block_count) {
    constexpr int rounds = 10;
    const Dataset<float> digits = random_images(items);
    const Spread spread(group, items, block_count), alone(Group::alone(), items, block_count);
    const SpreadPotential<float> together(part_of(digits, spread), spread);
    NetworkPotential<float> part = part_of(digits, alone);
    SpreadPotential<float> single(part, alone);
    const std::vector<float> theta = part.start(1);
    std::vector<float> gradient(theta.size()), same(theta.size());

    double best_together = 1e9, best_single = 1e9, best_sum = 1e9, best_blocks = 1e9;
    SubtreeSums<float> sums;
    const auto items_of = [&](std::int64_t block) {
        std::vector<std::int64_t> own(static_cast<std::size_t>(alone.begin(block + 1) - alone.begin(block)));
        std::iota(own.begin(), own.end(), alone.begin(block));
        return own;
    };
    for (int round = 0; round < rounds; ++round) {
        // The others wait meanwhile.
        if (group.rank() == 0) {
            best_single = std::min(best_single, seconds([&] { single.evaluate(theta, same); }));
            best_sum = std::min(best_sum, seconds([&] {
                                    part.prior(theta, gradient);
                                    sums.begin(alone.shares(), 0, std::ssize(theta));
                                    for (std::int64_t k = 0; k < alone.blocks(); ++k)
                                        sums.add(1, [&](std::int64_t, std::span<float> to) {
                                            return part.likelihood(theta, items_of(k), 1, to);
                                        });
                                    add_to<float>(gradient.data(), sums.rows()[0].data(), std::ssize(gradient));
                                }));
            if (gradient != same) throw Error("the same sum has another gradient");
            best_blocks = std::min(best_blocks, seconds([&] {
                                       part.prior(theta, gradient);
                                       for (std::int64_t k = 0; k < alone.blocks(); ++k)
                                           part.likelihood(theta, items_of(k), 1, gradient);
                                   }));
        }
        group.barrier();
        together.lead([&] {
            const auto own = together.clone();
            best_together = std::min(best_together, seconds([&] { own->evaluate(theta, gradient); }));
            if (gradient != same) throw Error("the ranks together have another gradient");
        });
    }
    if (group.rank() > 0) return;
    std::printf("%lld digits in %lld blocks, %lld parameters, one thread for each rank\n",
                static_cast<long long>(items), static_cast<long long>(block_count),
                static_cast<long long>(theta.size()));
    row("one rank, all items", best_single, best_single);
    row((std::to_string(group.size()) + " ranks, each with its share").c_str(), best_together, best_single);
    row("one rank, the same sum without a group", best_sum, best_single);
    row("one rank, the blocks added to one gradient", best_blocks, best_single);
}

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t items = argc > 1 ? std::atoll(argv[1]) : 20'000, blocks = argc > 2 ? std::atoll(argv[2]) : 64;
    return run_mpi([&](Group& group) { with_threads(1, [&] { measure(group, items, blocks); }); });
}
