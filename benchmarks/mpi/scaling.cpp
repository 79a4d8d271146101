// How a gradient over spread items would scale to more ranks than there are here: a simple model with measured numbers.
//
//     mpirun -n 2 build/native/benchmarks/mpi_scaling                          over shared memory
//     mpirun -n 2 --mca btl tcp,self build/native/benchmarks/mpi_scaling       over TCP
//
// The items are in B blocks, and each of R ranks has at most ceil(B / R) of them. Rank 0 sends the P parameters to all,
// each rank computes its blocks, and the gradients are added in a binary tree, to whose root every level sends one row:
//
//     T(R) = ceil(B / R) t  +  latency log2 R + 2 * 4 P / bandwidth                          computing, sending
//                           +  log2 R (latency + 4 P / bandwidth + 4 P / adding)              adding up
//
// t is the time of a block on the cores of a rank, 1 or 32, which share it evenly. Measured here: t, the time of a
// short message, the bandwidth of messages of 1 MiB, which is how ordered_sum() sends a row, and how fast a row is
// added to another one. Printed: the speed-up T(1) / T(R); and in brackets the speed-up if the root of the tree were
// another rank for each stretch of the gradient, so that a rank would send and receive 4 P bytes once.
#include "../networks.hpp"

#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using namespace pollen;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The shortest of several times of f().
template <class F>
double fastest(int times, const F& f) {
    double best = INFINITY;
    for (int k = 0; k < times; ++k) {
        const double begin = now();
        f();
        best = std::min(best, now() - begin);
    }
    return best;
}

// Seconds of one message from rank 0 to rank 1, or back.
double message(Group& group, std::size_t bytes, int times) {
    std::vector<std::byte> buffer(bytes);
    Group::Call call(group, "messages of the benchmark");
    const auto there_and_back = [&] {
        for (const int from : {0, 1}) {
            if (group.rank() == from) call.send(1 - from, buffer);
            if (group.rank() == 1 - from) call.receive(from, buffer);
        }
    };
    return fastest(times, there_and_back) / 2;
}

// Seconds for one item of U and its gradient, on one core.
double seconds_of_item(const Module<float>& net, const Dataset<float>& data) {
    NetworkPotential<float> potential(net, Categorical<float>(), data);
    const std::vector<float> theta = potential.start(1);
    std::vector<float> gradient(theta.size());
    double seconds = 0;
    with_threads(1, [&] { seconds = fastest(5, [&] { potential.evaluate(theta, gradient); }); });
    return seconds / static_cast<double>(data.size());
}

struct Measured {
    double latency, bandwidth, adding;
};

// Seconds of an item on one core, and numbers of parameters and items.
struct Problem {
    double of_item, parameters, items;
};

// "12 (15)": the speed-up, and that with many roots.
std::string speed_up(const Problem& p, double ranks, double cores, const Measured& m) {
    constexpr double blocks = 1024;
    const double bytes = 4 * p.parameters, levels = std::log2(ranks), block = p.items / blocks * p.of_item / cores,
                 compute = std::ceil(blocks / ranks) * block, send = m.latency * levels + 2 * bytes / m.bandwidth,
                 row = bytes / m.bandwidth + bytes / m.adding, sum = levels * (m.latency + row),
                 with_many_roots = levels * m.latency + row;
    char text[60];
    std::snprintf(text, sizeof text, "%.0f (%.0f)", blocks * block / (compute + send + sum),
                  blocks * block / (compute + send + with_many_roots));
    return text;
}

}  // namespace

int main() {
    return run_mpi([](Group& group) {
        if (group.size() != 2) throw ValueError("mpi_scaling takes two ranks: mpirun -n 2");
        Measured m{};
        m.latency = message(group, 8, 2000);
        m.bandwidth = static_cast<double>(1 << 20) / message(group, 1 << 20, 400);
        double picture = 0, digit = 0;
        if (group.rank() == 0) {
            std::vector<float> sum(1 << 24), row(1 << 24, 1.0F);
            m.adding = static_cast<double>(sum.size() * sizeof(float)) / fastest(10, [&] {
                           std::transform(sum.begin(), sum.end(), row.begin(), sum.begin(), std::plus<>());
                       });
            picture = seconds_of_item(bench::resnet20(), bench::random_images(48, 3, 32));
            digit = seconds_of_item(bench::mlp(1200), bench::random_images(1000));
            std::printf(
                "A message of 8 bytes takes as long as %.0f bytes of a long one; rows are added %.1f times as "
                "fast as they are sent.\n\n",
                m.latency * m.bandwidth, m.adding / m.bandwidth);
            const auto size_of = [](const Module<float>& net) {
                return static_cast<double>(Parameters<float>(net).size());
            };
            const Problem resnet{picture, size_of(bench::resnet20()), 50'000};
            // A weight of a dense layer takes the same time in a large network.
            const Problem dense{digit * 1e8 / size_of(bench::mlp(1200)), 1e8, 50'000};
            std::printf("| ranks | ResNet-20, 1 core a rank | 32 cores | 10^8 weights, 1 core a rank | 32 cores |\n");
            std::printf("|--:|--:|--:|--:|--:|\n");
            for (const double ranks : {16.0, 64.0, 256.0, 1024.0})
                std::printf("| %.0f | %s | %s | %s | %s |\n", ranks, speed_up(resnet, ranks, 1, m).c_str(),
                            speed_up(resnet, ranks, 32, m).c_str(), speed_up(dense, ranks, 1, m).c_str(),
                            speed_up(dense, ranks, 32, m).c_str());
        }
        group.barrier();
    });
}
