#include "../../naive.hpp"
#include "same_bits.hpp"

#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(pad)

namespace {

using Width = std::array<std::int64_t, 2>;

template <class V>
V padded(V x, const std::vector<Width>& w, double fill) {
    using T = std::remove_cvref_t<decltype(x.item())>;
    const T number = static_cast<T>(fill);
    switch (w.size()) {
        case 0:
            return pollen::pad(x, {}, number);
        case 1:
            return pollen::pad(x, {w[0]}, number);
        case 2:
            return pollen::pad(x, {w[0], w[1]}, number);
        default:
            return pollen::pad(x, {w[0], w[1], w[2]}, number);
    }
}

template <class T>
void check(const Shape& shape, const std::vector<Width>& widths) {
    std::vector<std::int64_t> sizes;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const Width& w = widths[static_cast<std::size_t>(axis)];
        sizes.push_back(shape[axis] + w[0] + w[1]);
    }
    const Tensor<T> x = cast<T>(normals(shape));
    Tensor<T> expected = Tensor<T>::full(Shape(std::span<const std::int64_t>(sizes)), T(9));
    std::int64_t at = 0;
    for_each_index(shape, [&](Index index) {
        for (std::size_t k = 0; k < widths.size(); ++k) index[k] += widths[k][0];
        std::int64_t to = 0;
        for (std::size_t k = 0; k < widths.size(); ++k) to = to * sizes[k] + index[k];
        expected.mutable_data()[to] = x.data()[at++];
    });
    Tape<T> tape;
    const Var<T> v = tape.variable(x), y = padded(v, widths, 9);
    BOOST_TEST((y.value() == expected), shape << " to " << expected.shape());
    tape.backward(y, expected);
    BOOST_TEST((v.grad() == x), "gradient of " << shape);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check<float>({}, {});
    for (const Width& w : {Width{0, 0}, Width{1, 0}, Width{0, 2}, Width{3, 4}}) {
        check<float>({5}, {w});
        check<float>({0}, {w});
        for (const Width& v : {Width{0, 0}, Width{2, 1}}) {
            check<double>({3, 4}, {w, v});
            check<double>({3, 4}, {v, w});
            check<float>({0, 4}, {w, v});
            check<float>({2, 3, 4}, {v, w, {1, 1}});
            check<float>({200, 300}, {v, w});
        }
    }
    // numpy.pad([[1, 2]], ((1, 0), (0, 1)))
    BOOST_TEST((value<float>(
                    [](auto x) {
                        return pollen::pad(x, {{1, 0}, {0, 1}});
                    },
                    Tensor<double>{{1, 2}}) == Tensor<float>{{0, 0, 0}, {1, 2, 0}}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::pad(x, {{1, 2}, {0, 1}}); }, normals(Shape{2, 3}));
    check_gradients(
        [](auto x) {
            return pollen::pad(x, {{1, 2}}, 3) * pollen::pad(x, {{2, 1}}, -1);
        },
        normals(Shape{3}));
    check_gradients([](auto x) { return pollen::pad(x, {{1, 2}}); }, normals(Shape{0}));
    check_same_bits<float>([](auto x) { return pollen::pad(x, {{1, 2}, {3, 4}}); }, normals(Shape{301, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3}));
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::pad(x, {{1, 1}});
               }) == "pad: 1 pairs of widths for x (2, 3); one pair for each axis is needed");
    BOOST_TEST(error_of<ValueError>([&] {
                   pollen::pad(x, {{0, 0}, {1, -1}});
               }) == "pad: axis 1 of x (2, 3) is to get (1, -1) more entries; widths are from 0 to 2^59");
    BOOST_TEST(error_of<ValueError>([&] {
                   pollen::pad(x, {{huge, huge}, {0, 0}});
               }) ==
               "pad: axis 0 of x (2, 3) is to get (9223372036854775807, 9223372036854775807) more entries; widths are "
               "from 0 to 2^59");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::pad(x, {{1 << 30, 0}, {1 << 30, 0}});
               }) == "shape: (1073741826, 1073741827) has too many elements; at most 2^59 are supported");
}

BOOST_AUTO_TEST_SUITE_END()
