#include "../support.hpp"

#include <pollen/autograd/parallel.hpp>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(parallel)

BOOST_AUTO_TEST_CASE(ranges_depend_on_size_and_grain_alone) {
    using Ranges = std::set<std::pair<std::int64_t, std::int64_t>>;
    const auto ranges = [](int threads, std::int64_t n, std::int64_t grain) {
        Ranges seen;
        std::mutex mutex;
        with_threads(threads, [&] {
            parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
                std::lock_guard<std::mutex> lock(mutex);
                BOOST_TEST(seen.insert({begin, end}).second);
            });
        });
        return seen;
    };
    const Ranges expected{{0, 30}, {30, 60}, {60, 90}, {90, 100}};
    for (int threads : {1, 2, 4, 8}) BOOST_TEST((ranges(threads, 100, 30) == expected));
    BOOST_TEST((ranges(2, 30, 30) == Ranges{{0, 30}}));
    BOOST_TEST(ranges(2, 0, 30).empty());
}

BOOST_AUTO_TEST_CASE(small_work_stays_on_this_thread) {
    const auto here = std::this_thread::get_id();
    parallel_for(10, 10, [&](std::int64_t, std::int64_t) { BOOST_TEST((std::this_thread::get_id() == here)); });
}

BOOST_AUTO_TEST_CASE(exceptions_reach_the_caller) {
    BOOST_TEST(error_of<ValueError>([] {
                   parallel_for(1000, 1, [](std::int64_t begin, std::int64_t) {
                       if (begin == 777) throw ValueError("stop");
                   });
               }) == "stop");
}

BOOST_AUTO_TEST_CASE(loops_nest) {
    std::atomic<std::int64_t> total{0};
    with_threads(4, [&] {
        parallel_for(20, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                parallel_for(100, 7, [&](std::int64_t lo, std::int64_t hi) { total += hi - lo; });
        });
    });
    BOOST_TEST(total == 2000);
}

BOOST_AUTO_TEST_CASE(thread_limits) {
    with_threads(3, [] { BOOST_TEST(thread_count() == 3); });
    BOOST_TEST(error_of<ValueError>([] { with_threads(0, [] {}); }) == "with_threads: 0 threads; at least 1 is needed");
}

// A million calls would have taken 12 GB. Under a sanitizer memory is not given back at once.
BOOST_AUTO_TEST_CASE(many_calls_take_no_memory) {
    const auto resident = [] {
        long all = 0, pages = 0;
        std::ifstream("/proc/self/statm") >> all >> pages;
        return pages * sysconf(_SC_PAGESIZE);
    };
    const auto calls = [] {
        for (int k = 0; k < 1000; ++k)
            for (const int threads : {2, 3}) with_threads(threads, [] { parallel_for(4, 1, [](auto, auto) {}); });
    };
    calls();
    const long before = resident();
    calls();
    BOOST_TEST(resident() - before < 2'000'000);
}

// Two callers with the same number of threads do not share it.
BOOST_AUTO_TEST_CASE(callers_at_the_same_time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + std::chrono::minutes(1);  // without it, a fault would not end
    std::atomic<int> inside = 0, met = 0;
    const auto caller = [&] {
        with_threads(1, [&] {
            ++inside;
            while (inside < 2 && Clock::now() < deadline) std::this_thread::yield();
            if (inside == 2) ++met;
        });
    };
    std::thread other(caller);
    caller();
    other.join();
    BOOST_TEST(met == 2);
}

// While a thread is limited to itself, the loop of another one has two threads.
BOOST_AUTO_TEST_CASE(a_limit_is_that_of_its_caller) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + std::chrono::minutes(1);  // without it, a fault would not end
    const auto wait_until = [&](const auto& done) {
        while (!done() && Clock::now() < deadline) std::this_thread::yield();
    };
    std::atomic<bool> limited = false, over = false;
    std::thread other([&] {
        with_threads(1, [&] {
            limited = true;
            wait_until([&] { return over.load(); });
        });
    });
    wait_until([&] { return limited.load(); });
    std::atomic<int> inside = 0, met = 0;
    with_threads(2, [&] {
        parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
            ++inside;
            wait_until([&] { return inside == 2; });
            met += inside == 2;
        });
    });
    over = true;
    other.join();
    BOOST_TEST(met == 2);
}

BOOST_AUTO_TEST_CASE(background_work_is_done_once_and_can_be_waited_for_anywhere) {
    for (const int threads : {1, 2, 8})
        with_threads(threads, [&] {
            for (int round = 0; round < 200; ++round) {
                std::atomic<int> runs = 0;
                Background background;
                background.start([&] { ++runs; });
                // Also inside a loop, whose threads may not take up work from outside.
                parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
                    if (begin == 0) background.wait();
                });
                BOOST_TEST_REQUIRE(runs == 1);
                background.start([] { throw std::runtime_error("broken"); });
                BOOST_CHECK_THROW(background.wait(), std::runtime_error);
                background.wait();
                background.start([&] { ++runs; });  // the destructor waits
            }
        });
}

BOOST_AUTO_TEST_SUITE_END()
