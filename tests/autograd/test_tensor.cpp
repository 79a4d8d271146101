#include "../support.hpp"

#include <sstream>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(tensor)

BOOST_AUTO_TEST_CASE(factories) {
    BOOST_TEST((Tensor<double>{1, 2, 3} == Tensor<double>(Shape{3}, std::vector<double>{1, 2, 3})));
    BOOST_TEST((Tensor<float>{{1, 2}, {3, 4}} == Tensor<float>(Shape{2, 2}, std::vector<float>{1, 2, 3, 4})));
    BOOST_TEST((Tensor<float>::zeros({2, 2}) == Tensor<float>{{0, 0}, {0, 0}}));
    BOOST_TEST((Tensor<float>::ones({3}) == Tensor<float>{1, 1, 1}));
    BOOST_TEST((Tensor<double>::eye(2) == Tensor<double>{{1, 0}, {0, 1}}));
    BOOST_TEST((Tensor<std::int32_t>::arange(4) == Tensor<std::int32_t>{0, 1, 2, 3}));
    BOOST_TEST((Tensor<double>::linspace(0, 1, 5) == Tensor<double>{0, 0.25, 0.5, 0.75, 1}));
    BOOST_TEST((Tensor<double>::linspace(3, 4, 1) == Tensor<double>{3}));
    BOOST_TEST(Tensor<double>::scalar(7).item() == 7);
    BOOST_TEST(Tensor<double>::scalar(7).rank() == 0);
    BOOST_TEST(Tensor<double>().size() == 0);
    BOOST_TEST(Tensor<double>::zeros({4, 0, 3}).size() == 0);
}

BOOST_AUTO_TEST_CASE(buffers_are_aligned) {
    for (std::int64_t n : {0, 1, 3, 16, 17, 1000, 100000}) {
        const Tensor<float> t = Tensor<float>::zeros({n});
        BOOST_TEST(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0u);
    }
}

BOOST_AUTO_TEST_CASE(copies_share_until_written) {
    Tensor<double> a{1, 2, 3};
    Tensor<double> b = a;
    BOOST_TEST(a.data() == b.data());
    b.mutable_at(1) = 20;
    BOOST_TEST((a == Tensor<double>{1, 2, 3}));
    BOOST_TEST((b == Tensor<double>{1, 20, 3}));
    const double* before = b.data();
    b.mutable_at(2) = 30;
    BOOST_TEST(b.data() == before);

    const double outside[] = {5, 6};
    Tensor<double> borrowed = Tensor<double>::borrow(outside, {2});
    BOOST_TEST(borrowed.data() == outside);
    const Tensor<double> kept = borrowed;
    BOOST_TEST(kept.data() != outside);
    borrowed.mutable_at(0) = 50;
    BOOST_TEST(outside[0] == 5);
    BOOST_TEST((kept == Tensor<double>{5, 6}));
}

BOOST_AUTO_TEST_CASE(reading_never_writes) {
    Tensor<double> a{{1, 2}, {3, 4}};
    Tensor<double> b = a;
    Tensor<double> one = Tensor<double>::scalar(5);
    Tensor<double> other = one;
    double sum = 0;
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 2; ++j) sum += b(i, j);
    for (double x : b) sum += x;
    for (double x : b.values()) sum += x;
    BOOST_TEST(sum == 30);
    BOOST_TEST(other() + other.item() == 10);
    BOOST_TEST((b == a));
    BOOST_TEST(b.reshaped({4}).data() == a.data());
    BOOST_TEST(b.data() == a.data());
    BOOST_TEST(other.data() == one.data());

    const double outside[] = {5, 6};
    Tensor<double> borrowed = Tensor<double>::borrow(outside, {2});
    BOOST_TEST(borrowed(1) == 6);
    BOOST_TEST(borrowed.data() == outside);
}

BOOST_AUTO_TEST_CASE(moves_leave_nothing_behind) {
    Tensor<float> a{{1, 2}, {3, 4}};
    const Tensor<float> b = std::move(a);
    BOOST_TEST(a.size() == 0);
    BOOST_TEST(a.shape() == Shape({0}));
    BOOST_TEST(b(1, 1) == 4);
    a = b;
    a = *&a;
    BOOST_TEST((a == b));
}

BOOST_AUTO_TEST_CASE(element_access_is_checked) {
    Tensor<float> t = Tensor<float>::zeros({2, 3});
    t.mutable_at(1, 2) = 5;
    BOOST_TEST(t(1, 2) == 5);
    BOOST_TEST(error_of<ShapeError>([&] { t(2, 0); }) == "tensor: index 2 is out of range for axis 0 of shape (2, 3)");
    BOOST_TEST(error_of<ShapeError>([&] { t(0, -1); }) ==
               "tensor: index -1 is out of range for axis 1 of shape (2, 3)");
    BOOST_TEST(error_of<ShapeError>([&] { t(0); }) == "tensor: 1 indices for shape (2, 3); 2 are needed");
    BOOST_TEST(error_of<ShapeError>([&] { t.mutable_at(0, 3); }) ==
               "tensor: index 3 is out of range for axis 1 of shape (2, 3)");
    BOOST_TEST(error_of<ShapeError>([&] { t.item(); }) == "item: a tensor of shape (2, 3) has 6 elements, not one");
}

BOOST_AUTO_TEST_CASE(bad_sizes_are_refused_before_memory_is_taken) {
    BOOST_TEST(error_of<ShapeError>([] {
                   Tensor<float>::zeros({2, -1});
               }) == "shape: axis 1 of (2, -1) is negative; sizes are 0 or more");
    BOOST_TEST(error_of<ShapeError>([] {
                   Tensor<float>::zeros({1LL << 40, 1LL << 40});
               }) == "shape: (1099511627776, 1099511627776) has too many elements; at most 2^59 are supported");
    BOOST_TEST(error_of<MemoryError>([] { (void)Tensor<double>::empty({1LL << 58}); }) ==
               "pool: the system has no 2305843009213693952 bytes left for a tensor");
    BOOST_TEST(error_of<ShapeError>([] {
                   Tensor<float>(Shape{2, 2}, std::vector<float>{1, 2, 3});
               }) == "tensor: 3 numbers for shape (2, 2), which holds 4");
    BOOST_TEST(error_of<ShapeError>([] {
                   Tensor<float>{{1, 2}, {3}};
               }) == "tensor: row 1 has 1 numbers where row 0 has 2; rows must be equally long");
}

BOOST_AUTO_TEST_CASE(reshaping) {
    const Tensor<double> t = Tensor<double>::arange(6);
    const Tensor<double> r = t.reshaped({2, -1});
    BOOST_TEST(r.shape() == Shape({2, 3}));
    BOOST_TEST(r.data() == t.data());
    BOOST_TEST(error_of<ShapeError>([&] {
                   t.reshaped({4, -1});
               }) == "reshape: (6) to (4, -1): 6 elements cannot be cut into parts of 4");
    BOOST_TEST(error_of<ShapeError>([&] {
                   t.reshaped({-1, -1});
               }) == "reshape: (6) to (-1, -1): only one size may be -1");
    BOOST_TEST(error_of<ShapeError>([&] { t.reshaped({7}); }) == "reshape: (6) to (7): 6 elements do not fill 7");
}

BOOST_AUTO_TEST_CASE(equality) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    BOOST_TEST((Tensor<double>{1, nan} != Tensor<double>{1, nan}));
    BOOST_TEST((Tensor<double>{1, 2} != Tensor<double>{{1, 2}}));
    BOOST_TEST(allclose(Tensor<double>{1, INFINITY}, Tensor<double>{1 + 1e-9, INFINITY}, 1e-8, 0.0));
    BOOST_TEST(!allclose(Tensor<double>{nan}, Tensor<double>{nan}, 1.0, 1.0));
}

BOOST_AUTO_TEST_CASE(printing) {
    std::ostringstream out;
    out << Tensor<float>{{1, 2.5f}, {-3, 1e10f}};
    BOOST_TEST(out.str() == "[[1, 2.5],\n [-3, 1e+10]]");
    BOOST_TEST(to_string(Tensor<double>::scalar(0.1)) == "0.1");
    BOOST_TEST(to_string(Tensor<double>::arange(20)) == "[0, 1, 2, ..., 17, 18, 19]");
    BOOST_TEST(to_string(Tensor<double>()) == "[]");
    BOOST_TEST(to_string(Tensor<double>{NAN, INFINITY}) == "[nan, inf]");
    BOOST_TEST(to_string(Indices{1, 2}) == "[1, 2]");
}

BOOST_AUTO_TEST_CASE(casts) {
    BOOST_TEST((cast<float>(Tensor<double>{0.1, 2}) == Tensor<float>{0.1f, 2}));
    BOOST_TEST((cast<std::int32_t>(Tensor<float>{1.9f, -2.5f}) == Indices{1, -2}));
    BOOST_TEST((cast<std::int32_t>(Tensor<double>{2147483647.9, -2147483648.9}) == Indices{2147483647, -2147483648}));
    const auto error = [](double x) { return error_of<ValueError>([&] { cast<std::int32_t>(Tensor<double>{0, x}); }); };
    BOOST_TEST(error(NAN) == "cast: element 1 is nan; an int32 holds -2147483648 to 2147483647");
    BOOST_TEST(error(2147483648) == "cast: element 1 is 2147483648; an int32 holds -2147483648 to 2147483647");
    BOOST_TEST(error(-2147483649) == "cast: element 1 is -2147483649; an int32 holds -2147483648 to 2147483647");
}

BOOST_AUTO_TEST_SUITE_END()
