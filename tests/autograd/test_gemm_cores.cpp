#include <pollen/autograd/kernels/gemm.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <vector>

// How many cores a product keeps busy, computed from its tasks.
using pollen::kernels::gemm_tasks;

BOOST_AUTO_TEST_SUITE(gemm_cores)

namespace {

using Int = std::int64_t;

struct Size {
    Int m, n, k;
};

// The time that the tasks take if each thread, when it is free, begins the next one.
Int makespan(const std::vector<Int>& tasks, int threads) {
    std::priority_queue<Int, std::vector<Int>, std::greater<>> free;
    for (int t = 0; t < threads; ++t) free.push(0);
    Int last = 0;
    for (const Int task : tasks) {
        const Int end = free.top() + task;
        free.pop();
        free.push(end);
        last = std::max(last, end);
    }
    return last;
}

// All work over threads times the time; one product after the other.
double efficiency(const std::vector<Size>& products, int threads) {
    Int work = 0, time = 0;
    for (const auto& [m, n, k] : products) {
        const std::vector<Int> tasks = gemm_tasks<float>(m, n, k);
        BOOST_TEST(std::accumulate(tasks.begin(), tasks.end(), Int{0}) == m * n * k);
        work += m * n * k;
        time += makespan(tasks, threads);
    }
    return static_cast<double>(work) / (static_cast<double>(threads) * static_cast<double>(time));
}

// The products of a training step of 784-1200-1200-10 at batch 512: Y, dX and dW of each layer; the first needs no dX.
const std::vector<Size> mlp{{512, 1200, 784},  {512, 1200, 1200}, {512, 10, 1200},   {512, 1200, 10},
                            {512, 1200, 1200}, {1200, 784, 512},  {1200, 1200, 512}, {10, 1200, 512}};

}  // namespace

BOOST_AUTO_TEST_CASE(large_products_keep_many_cores_busy) {
    for (const int threads : {2, 8, 16, 32}) {
        const double cube = efficiency({{1024, 1024, 1024}}, threads), step = efficiency(mlp, threads);
        BOOST_TEST_MESSAGE(threads << " threads: 1024^3 " << cube << ", 784-1200-1200-10 " << step);
        BOOST_TEST(cube >= 0.85, threads << " threads, 1024^3: " << cube);
        BOOST_TEST(step >= 0.85, threads << " threads, 784-1200-1200-10: " << step);
    }
}

// Four tasks, as a product of 1024^3 once had, are found out.
BOOST_AUTO_TEST_CASE(four_tasks_are_too_few) {
    BOOST_TEST(makespan({1, 1, 1, 1}, 8) == 1);
    BOOST_TEST(makespan({3, 3, 2, 2, 2}, 2) == 7);
}

BOOST_AUTO_TEST_CASE(small_products_are_one_task) { BOOST_TEST(gemm_tasks<double>(10, 10, 10).size() == 1u); }

BOOST_AUTO_TEST_SUITE_END()
