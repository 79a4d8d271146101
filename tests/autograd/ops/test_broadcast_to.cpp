#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(broadcast_to)

namespace {

const std::vector<std::pair<Shape, Shape>> cases{{{}, {}},
                                                 {{}, {3}},
                                                 {{3}, {3}},
                                                 {{3}, {2, 3}},
                                                 {{2, 1}, {2, 3}},
                                                 {{1}, {0}},
                                                 {{0}, {2, 0}},
                                                 {{2, 1, 3}, {2, 4, 3}},
                                                 {{1, 4, 1}, {3, 4, 5}},
                                                 {{2, 1}, {5, 2, 9}},
                                                 {{}, {1, 1, 2, 1}}};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    std::vector<std::pair<Shape, Shape>> more = cases;
    more.insert(more.end(), {{{300, 1}, {300, 200}}, {{200}, {300, 200}}, {{30000, 1}, {30000, 3}}, {{3}, {30000, 3}}});
    for (const auto& [from, to] : more) {
        const Tensor<double> x = normals(from);
        Tensor<double> expected = Tensor<double>::zeros(to);
        double* out = expected.mutable_data();
        for_each_index(to, [&](const Index& index) { *out++ = x.data()[place(from, index, to.rank())]; });
        const auto op = [&, to = to](auto v) { return pollen::broadcast_to(v, to); };
        BOOST_TEST((value<double>(op, x) == expected), from << " to " << to);
        BOOST_TEST((value<float>(op, x) == cast<float>(expected)), from << " to " << to);
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const auto& [from, to] : cases)
        check_gradients([&, to = to](auto x) { return pollen::broadcast_to(x, to); }, normals(from));
    check_gradients([](auto x) { return pollen::broadcast_to(x, Shape{2, 3}) * x; }, normals(Shape{3}));
    check_same_bits<float>([](auto x) { return pollen::broadcast_to(x, Shape{400, 300}); }, normals(Shape{300}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& from, const Shape& to) {
        return error_of<ShapeError>(
            [&] { value<float>([&](auto x) { return pollen::broadcast_to(x, to); }, normals(from)); });
    };
    BOOST_TEST(error({2, 3}, {4, 3}) ==
               "broadcast_to: x (2, 3) does not broadcast to (4, 3); aligned at the last axis, "
               "each size of x must be 1 or the same");
    BOOST_TEST(error({1, 3}, {3}) ==
               "broadcast_to: x (1, 3) does not broadcast to (3); aligned at the last axis, "
               "each size of x must be 1 or the same");
}

BOOST_AUTO_TEST_SUITE_END()
