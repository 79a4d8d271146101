#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(affine)

namespace {

const auto op = [](auto x, auto w, auto b) { return pollen::affine(x, w, b); };
const auto with_relu = [](auto x, auto w, auto b) { return affine_relu(x, w, b); };
const auto relu_apart = [](auto x, auto w, auto b) { return relu(pollen::affine(x, w, b)); };

// One number after the other.
Tensor<double> expected(const Tensor<double>& x, const Tensor<double>& w, const Tensor<double>& b, const Shape& shape) {
    const std::int64_t inputs = w.shape()[1], outputs = w.shape()[0];
    Tensor<double> y = Tensor<double>::zeros(shape);
    for (std::int64_t i = 0; i < y.size(); ++i) {
        double sum = b.data()[i % outputs];
        for (std::int64_t k = 0; k < inputs; ++k)
            sum += x.data()[i / outputs * inputs + k] * w.data()[i % outputs * inputs + k];
        y.mutable_data()[i] = sum;
    }
    return y;
}

template <class F>
std::string error(const F& f, const Shape& x, const Shape& w, const Shape& b) {
    return error_of<ShapeError>([&] {
        Tape<float> tape;
        f(tape.constant(Tensor<float>::zeros(x)), tape.constant(Tensor<float>::zeros(w)),
          tape.constant(Tensor<float>::zeros(b)));
    });
}

// affine_relu is relu of affine, bit for bit.
template <class T>
void check_relu(const Shape& x_shape, const Shape& w_shape) {
    const Tensor<double> x = normals(x_shape, 1), w = normals(w_shape, 2), b = normals(Shape{w_shape[0]}, 3);
    const auto got = value_and_gradients<T>(with_relu, x, w, b), expected = value_and_gradients<T>(relu_apart, x, w, b);
    for (std::size_t k = 0; k < 4; ++k)
        BOOST_TEST(got[k] == expected[k], to_string(x_shape) << " by " << to_string(w_shape) << ", result " << k);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    struct Case {
        Shape x, w, b, y;
    };
    for (const Case& c :
         {Case{{3, 4}, {2, 4}, {2}, {3, 2}}, Case{{4}, {2, 4}, {2}, {2}}, Case{{2, 3, 4}, {5, 4}, {5}, {2, 3, 5}},
          Case{{130, 70}, {90, 70}, {90}, {130, 90}}, Case{{1, 1}, {1, 1}, {1}, {1, 1}},
          Case{{0, 4}, {2, 4}, {2}, {0, 2}}, Case{{3, 0}, {2, 0}, {2}, {3, 2}}, Case{{3, 4}, {0, 4}, {0}, {3, 0}}}) {
        const Tensor<double> x = normals(c.x, 1), w = normals(c.w, 2), b = normals(c.b, 3);
        const Tensor<double> y = expected(x, w, b, c.y);
        BOOST_TEST(allclose(value<double>(op, x, w, b), y, 1e-13, 1e-13));
        BOOST_TEST(allclose(cast<double>(value<float>(op, x, w, b)), y, 1e-5, 1e-5));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(op, normals({3, 4}, 1), normals({2, 4}, 2), normals({2}, 3));
    check_gradients(op, normals({4}, 1), normals({2, 4}, 2), normals({2}, 3));
    check_gradients(op, normals({2, 3, 4}, 1), normals({5, 4}, 2), normals({5}, 3));
    check_gradients([](auto x, auto b) { return pollen::affine(x, x, b); }, normals({3, 3}, 1), normals({3}, 3));
}

BOOST_AUTO_TEST_CASE(with_a_relu) {
    for (const auto& [x, w] : std::vector<std::pair<Shape, Shape>>{{{3, 4}, {2, 4}},
                                                                   {{4}, {2, 4}},
                                                                   {{2, 3, 4}, {5, 4}},
                                                                   {{1, 784}, {1, 784}},
                                                                   {{130, 70}, {90, 70}},
                                                                   {{300, 5}, {16, 5}},
                                                                   {{300, 16}, {2, 16}},
                                                                   {{0, 4}, {2, 4}},
                                                                   {{3, 0}, {2, 0}},
                                                                   {{3, 4}, {0, 4}}}) {
        check_relu<float>(x, w);
        check_relu<double>(x, w);
    }
    check_gradients(with_relu, normals({3, 4}, 1), normals({2, 4}, 2), normals({2}, 3));
    check_gradients([](auto x, auto b) { return affine_relu(x, x, b); }, normals({3, 3}, 1), normals({3}, 3));
    // NaN passes. Where nothing is above 0 there is no gradient.
    const auto all = value_and_gradients<double>(with_relu, Tensor<double>(Shape{4, 1}, {std::nan(""), -1, 0, 2}),
                                                 Tensor<double>::ones(Shape{1, 1}), Tensor<double>::zeros(Shape{1}));
    const Tensor<double> g = normals({4, 1}, 11);
    BOOST_TEST(std::isnan(all[0](0, 0)));
    for (const std::int64_t i : {1, 2, 3}) BOOST_TEST(all[0](i, 0) == (i == 3 ? 2 : 0));
    for (const std::int64_t i : {0, 1, 2, 3}) BOOST_TEST(all[1](i, 0) == (i == 0 || i == 3 ? g(i, 0) : 0));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error(op, Shape{}, {2, 4}, {2}) == "affine: x is a scalar; it needs at least one axis");
    BOOST_TEST(error(op, {3, 4}, {8}, {2}) == "affine: w has shape (8); a matrix (outputs, inputs) is needed");
    BOOST_TEST(error(op, {3, 5}, {2, 4}, {2}) == "affine: x (3, 5) has 5 inputs, w (2, 4) takes 4");
    BOOST_TEST(error(op, {3, 4}, {2, 4}, {3}) ==
               "affine: b has shape (3) for w (2, 4); one number for each output, (2), is needed");
    BOOST_TEST(error(with_relu, {3, 5}, {2, 4}, {2}) == "affine: x (3, 5) has 5 inputs, w (2, 4) takes 4");
}

BOOST_AUTO_TEST_SUITE_END()
