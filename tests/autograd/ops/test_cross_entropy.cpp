#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(cross_entropy)

namespace {

const Tensor<double> logits{{1, -2, 0.5}, {3, 3, -1}, {-0.25, 4, 2}};
const Indices labels{0, 2, 1};

Indices some_labels(std::int64_t rows, std::int64_t classes) {
    Indices all = Indices::zeros(Shape{rows});
    for (std::int64_t i = 0; i < rows; ++i) all.mutable_at(i) = static_cast<std::int32_t>(i * 7 % classes);
    return all;
}

// -log softmax(x)[label] of each row in long double.
template <class T>
Tensor<double> reference(const Tensor<T>& x, const Indices& label) {
    Tensor<double> losses = Tensor<double>::zeros(label.shape());
    std::size_t row = 0;
    for (const Numbers& group : groups(x, 2)) {
        const long double own = group[static_cast<std::size_t>(label.data()[row])];
        long double others = 0;  // sum of exp(x_j - x_label) but for the label's own 1
        for (std::size_t j = 0; j < group.size(); ++j)
            if (static_cast<std::int64_t>(j) != label.data()[row]) others += std::exp(group[j] - own);
        losses.mutable_data()[row++] = static_cast<double>(std::log1p(others));
    }
    return losses;
}

const auto each = [](auto x, const Indices& label) { return pollen::cross_entropy(x, label, Reduction::none); };

}  // namespace

BOOST_AUTO_TEST_CASE(against_pytorch) {
    // torch.nn.functional.cross_entropy(logits, labels, reduction=...)
    const auto with = [](Reduction reduction) {
        return value<double>([&](auto x) { return pollen::cross_entropy(x, labels, reduction); }, logits);
    };
    check_close(with(Reduction::none), Tensor<double>{0.5045969023422835, 4.702263321439095, 0.13941363576311525}, 4);
    check_close(with(Reduction::sum), Tensor<double>::scalar(5.346273859544494), 4);
    check_close(with(Reduction::mean), Tensor<double>::scalar(1.7820912865148315), 4);
    Tape<double> tape;
    const Var<double> x = tape.variable(logits);
    tape.backward(pollen::cross_entropy(x, labels));
    check_close(x.grad(),
                Tensor<double>(Shape{3, 3}, {-0.13208370128379138, 0.010019629189858006, 0.1220640720939334,
                                             0.16515421419261436, 0.16515421419261436, -0.3303084283852287,
                                             0.004136000898938124, -0.04337728484700443, 0.03924128394806632}),
                8);
}

BOOST_AUTO_TEST_CASE(values) {
    for (std::int64_t classes = 1; classes <= 40; ++classes) {
        const Indices label = some_labels(5, classes);
        const Tensor<double> x = normals(Shape{5, classes});
        check_close(value<double>([&](auto v) { return each(v, label); }, x), reference(x, label), 20);
        check_close(value<float>([&](auto v) { return each(v, label); }, x), reference(cast<float>(x), label), 20);
    }
    for (const Shape& shape : {Shape{3, 40000}, Shape{9000, 10}}) {
        const Indices label = some_labels(shape[0], shape[1]);
        const Tensor<float> x = cast<float>(normals(shape));
        for (const Recording recording : {Recording::on, Recording::off}) {
            Tape<float> tape(recording);
            check_close(each(tape.variable(x), label).value(), reference(x, label), 20);
        }
    }
}

// Small losses and their gradients keep all digits, large ones do not overflow.
BOOST_AUTO_TEST_CASE(extreme) {
    for (const double gap : {20.0, 50.0, 80.0}) {
        Tape<float> tape;
        const Var<float> x =
            tape.variable(Tensor<float>{{static_cast<float>(gap), 0, 0}, {0, static_cast<float>(gap), 0}});
        const Var<float> y = each(x, Indices{0, 0});
        const double small = std::log1p(2 * std::exp(-gap)), large = gap + std::log1p(2 * std::exp(-gap));
        check_close(y.value(), Tensor<double>{small, large}, 4);
        tape.backward(y, Tensor<float>{1, 1});
        BOOST_TEST(std::abs(x.grad()(0, 0) / -static_cast<float>(-std::expm1(-small)) - 1) < 1e-6);
        BOOST_TEST(x.grad()(1, 0) == -1);
    }
    Tape<float> tape;
    const Tensor<float> y =
        each(tape.constant(Tensor<float>{{0, -1e30f}, {0, -INFINITY}, {NAN, 0}, {-INFINITY, -INFINITY}}),
             Indices{1, 1, 1, 0})
            .value();
    BOOST_TEST(y(0) == 1e30f);
    BOOST_TEST(y(1) == INFINITY);
    BOOST_TEST(std::isnan(y(2)));
    BOOST_TEST(std::isnan(y(3)));
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean})
        for (const Shape& shape : {Shape{1, 1}, Shape{1, 3}, Shape{4, 10}, Shape{3, 20}}) {
            const Indices label = some_labels(shape[0], shape[1]);
            check_gradients([&](auto x) { return pollen::cross_entropy(x, label, reduction); }, normals(shape));
            check_gradients([&](auto x) { return pollen::cross_entropy(x * x, label, reduction); }, normals(shape));
        }
    const Indices label = some_labels(5000, 10);
    check_same_bits<float>([&](auto x) { return pollen::cross_entropy(x, label); }, normals(Shape{5000, 10}));
    check_same_bits<float>([&](auto x) { return each(x, label); }, normals(Shape{5000, 10}));
}

// The sum over no rows is 0, their mean NaN.
BOOST_AUTO_TEST_CASE(no_rows) {
    const Indices none = Indices::zeros(Shape{0});
    const auto run = [&](Reduction reduction, const Shape& shape) {
        return value_and_gradients<double>([&](auto x) { return pollen::cross_entropy(x, none, reduction); },
                                           normals(shape));
    };
    BOOST_TEST((run(Reduction::none, {0, 3})[0].shape() == Shape{0}));
    BOOST_TEST(run(Reduction::sum, {0, 3})[0].item() == 0);
    BOOST_TEST(std::isnan(run(Reduction::mean, {0, 3})[0].item()));
    BOOST_TEST((run(Reduction::mean, {0, 0})[1].shape() == Shape{0, 0}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& shape, const Indices& label) {
        return error_of<ShapeError>([&] { value<float>([&](auto x) { return each(x, label); }, normals(shape)); });
    };
    Indices label = some_labels(128, 10);
    label.mutable_at(3) = 12;
    BOOST_TEST(error({128, 10}, label) ==
               "cross_entropy: label 12 at row 3 is out of range; logits (128, 10) have classes 0 to 9");
    label.mutable_at(0) = -1;
    BOOST_TEST(error({128, 10}, label) ==
               "cross_entropy: label -1 at row 0 is out of range; logits (128, 10) have classes 0 to 9");
    BOOST_TEST(error({3}, labels) == "cross_entropy: logits have shape (3); (rows, classes) is needed");
    BOOST_TEST(error({4, 10}, labels) ==
               "cross_entropy: labels have shape (3) for logits (4, 10); one label for each row, (4), is needed");
    BOOST_TEST(error({1, 3}, Indices::zeros(Shape{1, 1})) ==
               "cross_entropy: labels have shape (1, 1) for logits (1, 3); one label for each row, (1), is needed");
    BOOST_TEST(error({3, 0}, labels) == "cross_entropy: logits (3, 0) have no classes");
}

BOOST_AUTO_TEST_SUITE_END()
