#include "../../support.hpp"

#include <pollen/data/io/detail/xxh64.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(xxh64)

// Of the first bytes of i^2 mod 251, i = 0, 1, ...; by XXH64 of libxxhash 0.8.1.
BOOST_AUTO_TEST_CASE(the_hashes_of_libxxhash) {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<std::byte>(i * i % 251));
    const std::pair<std::size_t, std::uint64_t> expected[] = {
        {0, 0xef46db3751d8e999},  {1, 0xe934a84adb052768},   {3, 0xe38ecea27964f1a0},  {4, 0x4d0a1255b7392f55},
        {7, 0xab23d8eaba8b0fd0},  {8, 0x9ae9ad02529c6e94},   {11, 0x990c6b609d684ab3}, {31, 0xf802085ae7e12fa9},
        {32, 0xabe98b5116e5ed4d}, {33, 0xd9c3a758ecff9219},  {63, 0x9d597e61218f5977}, {64, 0xc2b8d1eca1282124},
        {79, 0xaaa74d0b76df4374}, {1000, 0x2d5f4044a731ebd7}};
    for (const auto& [size, hash] : expected)
        BOOST_TEST(detail::xxh64(Bytes(bytes).first(size)) == hash, size << " bytes");
}

// Where a product with an odd number alone would miss it: two numbers with the other sign.
BOOST_AUTO_TEST_CASE(other_signs_are_other_data) {
    Tensor<double> x = normals({64});
    const std::uint64_t first = detail::xxh64(std::as_bytes(x.values()));
    for (std::int64_t k = 1; k < 64; ++k) {
        Tensor<double> y = x;
        y.mutable_at(0) *= -1;
        y.mutable_at(k) *= -1;
        BOOST_TEST(detail::xxh64(std::as_bytes(y.values())) != first);
    }
}

BOOST_AUTO_TEST_SUITE_END()
