#include "../support.hpp"

#include <thread>

using namespace pollen;

BOOST_AUTO_TEST_SUITE(pool)

BOOST_AUTO_TEST_CASE(buffers_come_back) {
    Pool pool(Pool::Sharing::one_thread);
    Buffer* first = pool.take(100);
    pool.give_back_here(first);
    BOOST_TEST(pool.take(90) == first);
    BOOST_TEST(pool.counters().taken == 2u);
    BOOST_TEST(pool.counters().allocated == 1u);
    pool.give_back(first);
    BOOST_TEST(pool.take_here(70) == first);
    pool.give_back(first);
    pool.trim();
    BOOST_TEST(pool.counters().freed == 1u);
    BOOST_TEST(pool.counters().bytes == 0u);
}

// The capacity is enough, on whole cache lines, and at most a quarter too large above eight lines.
BOOST_AUTO_TEST_CASE(size_classes_waste_at_most_a_quarter) {
    Pool pool(Pool::Sharing::one_thread);
    for (std::size_t bytes = 1; bytes < 5000000; bytes += 1 + bytes / 7) {
        Buffer* buffer = pool.take(bytes);
        BOOST_TEST(buffer->bytes >= bytes);
        BOOST_TEST(buffer->bytes % 64 == 0u);
        BOOST_TEST(buffer->bytes <= std::max<std::size_t>(bytes + 63, bytes + bytes / 4 + 64));
        pool.give_back_here(buffer);
        for (std::size_t again : {buffer->bytes, bytes}) {
            Buffer* same = pool.take(again);
            BOOST_TEST(same == buffer);
            pool.give_back_here(same);
        }
        pool.trim();
    }
}

BOOST_AUTO_TEST_CASE(other_threads_may_give_back) {
    Pool pool(Pool::Sharing::one_thread);
    constexpr int rounds = 2000;
    std::vector<Buffer*> taken;
    for (int i = 0; i < rounds; ++i) taken.push_back(pool.take(64));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = t; i < rounds; i += 4) release(taken[static_cast<std::size_t>(i)]);
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < rounds; ++i) pool.take(64);
    BOOST_TEST(pool.counters().allocated == std::uint64_t{rounds});
    for (Buffer* buffer : taken) pool.give_back_here(buffer);
}

BOOST_AUTO_TEST_CASE(a_tensor_outlives_its_tape) {
    Tensor<double> kept;
    {
        Tape<double> tape;
        kept = (tape.variable({1, 2, 3}) * 2.0).value();
    }
    BOOST_TEST((kept == Tensor<double>{2, 4, 6}));
}

BOOST_AUTO_TEST_SUITE_END()
