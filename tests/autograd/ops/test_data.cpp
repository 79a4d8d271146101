#include "../../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(data_beside_variables)

namespace {

// f(x, y) with a tensor in place of a constant on the tape: the same value and the same gradient.
template <class F>
void check_left(const F& f, const Tensor<double>& x, const Tensor<double>& y) {
    Tape<double> tape;
    const auto v = tape.variable(y), w = tape.variable(y);
    const auto by_data = f(Tensor<double>(x.shape(), x.values()), v), by_node = f(tape.constant(x), w);
    tape.backward(sum(square(by_data)) + sum(square(by_node)));
    BOOST_TEST((by_data.value() == by_node.value()));
    BOOST_TEST((v.grad() == w.grad()));
}
template <class F>
void check_right(const F& f, const Tensor<double>& x, const Tensor<double>& y) {
    check_left([&](const auto& a, const auto& b) { return f(b, a); }, y, x);
}
template <class F>
void check_both(const F& f, const Tensor<double>& x, const Tensor<double>& y) {
    check_left(f, x, y);
    check_right(f, x, y);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ops_take_tensors) {
    const Tensor<double> a = normals({3, 2}, 1), b = normals({2, 3}, 2), u = normals({4}, 3), v = normals({4}, 4);
    check_both([](const auto& x, const auto& y) { return matmul(x, y); }, a, b);
    check_both([](const auto& x, const auto& y) { return matmul(x, y, {.transpose_y = true}); }, a, normals({5, 2}, 9));
    check_both([](const auto& x, const auto& y) { return dot(x, y); }, u, v);
    check_both([](const auto& x, const auto& y) { return outer(x, y); }, u, v);
    check_both([](const auto& x, const auto& y) { return pow(x, y); }, uniforms({4}, 1, 2), v);
    check_both([](const auto& x, const auto& y) { return maximum(x, y); }, u, v);
    check_both([](const auto& x, const auto& y) { return minimum(x, y); }, u, v);
    check_both([](const auto& x, const auto& y) { return where(Tensor<double>{1, 0, 0, 1}, x, y); }, u, v);
    check_both([](const auto& x, const auto& y) { return triangular_solve(x, y); }, Tensor<double>{{2, 0}, {1, 3}}, b);
    check_left(
        [](const auto& x, const auto& w) {
            return conv2d(x, w, {.padding = {1, 1}});
        },
        normals({1, 2, 4, 4}, 5), normals({3, 2, 2, 2}, 6));
    check_left([](const auto& x, const auto& w) { return conv2d(x, w, w.state().leaf("b", Tensor<double>{1}, false)); },
               normals({1, 2, 4, 4}, 5), normals({1, 2, 2, 2}, 6));
    check_left([](const auto& x, const auto& w) { return affine(x, w, w.state().leaf("b", Tensor<double>{1}, false)); },
               a, normals({1, 2}, 7));
}

BOOST_AUTO_TEST_CASE(slices_of_a_tensor) {
    const Tensor<double> x = normals({3, 4});
    const Indices index{2, 0, 2};
    Tape<double> tape;
    for (const int axis : {0, 1, -1})
        BOOST_TEST((index_select(x, axis, index) == index_select(tape.constant(x), axis, index).value()));
    BOOST_TEST(error_of<ShapeError>([&] { index_select(x, 0, Indices{3}); }) ==
               "index_select: index 3 at 0 is out of range; axis 0 of x (3, 4) has size 3");
}

BOOST_AUTO_TEST_SUITE_END()
