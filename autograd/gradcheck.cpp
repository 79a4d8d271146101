#include <pollen/autograd/gradcheck.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pollen {

namespace {

using Function = std::function<Var<double>(std::span<const Var<double>>)>;
using Point = std::vector<Tensor<double>>;

double inner(const Tensor<double>& a, const Tensor<double>& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
    return sum;
}

Var<double> evaluate(Tape<double>& tape, const Function& f, const Point& at, std::vector<Var<double>>& x) {
    x.clear();
    for (const Tensor<double>& input : at) x.push_back(tape.variable(input));
    return f(x);
}

// L(x + t d)
double along(const Function& f, const Point& x, const Point& d, double t, const Tensor<double>& weights) {
    Point moved = x;
    for (std::size_t k = 0; k < x.size(); ++k) {
        double* numbers = moved[k].mutable_data();
        for (std::int64_t i = 0; i < x[k].size(); ++i) numbers[i] += t * d[k].data()[i];
    }
    Tape<double> tape(Recording::off);
    std::vector<Var<double>> inputs;
    return inner(evaluate(tape, f, moved, inputs).value(), weights);
}

Tensor<double> normals(const Shape& shape, Random& random) {
    Tensor<double> tensor = Tensor<double>::zeros(shape);
    for (double& number : tensor.mutable_values()) number = random.normal<double>();
    return tensor;
}

}  // namespace

GradcheckResult gradcheck(const Function& f, const Point& inputs, const GradcheckOptions& options) {
    check_function("gradcheck", f);
    Random random(options.seed);
    Tape<double> tape;
    std::vector<Var<double>> x;
    const Var<double> y = evaluate(tape, f, inputs, x);
    const Tensor<double> weights = normals(y.shape(), random);
    if (y.needs_grad()) tape.backward(y, weights);

    GradcheckResult result;
    const std::size_t count = inputs.size();
    // Each input by itself, so that two wrong gradients cannot make up for each other, and then all together.
    for (std::size_t moving = 0; moving <= count; ++moving) {
        for (int trial = 0; trial < options.directions; ++trial) {
            Point direction;
            double expected = 0, size = 1;
            for (std::size_t k = 0; k < count; ++k) {
                const bool moves = moving == k || moving == count;
                direction.push_back(moves ? normals(inputs[k].shape(), random)
                                          : Tensor<double>::zeros(inputs[k].shape()));
                expected += inner(x[k].grad(), direction[k]);
                for (double number : inputs[k]) size = std::max(size, std::abs(number));
            }
            const double h = options.step * size;
            const auto difference = [&](double t) {
                return along(f, inputs, direction, t, weights) - along(f, inputs, direction, -t, weights);
            };
            const double measured = (8 * difference(h) - difference(2 * h)) / (12 * h);
            const double error = std::abs(expected - measured) / (1 + std::abs(expected) + std::abs(measured));
            if (error > result.worst) result.worst = error;
            if (error <= options.tolerance || !result.ok) continue;
            result.ok = false;
            char text[200];
            std::snprintf(text, sizeof text, "gradcheck: %s %zu, direction %d: the tape gives %.12g, differences %.12g",
                          moving < count ? "input" : "all inputs together, of", moving, trial, expected, measured);
            result.message = text;
        }
    }
    return result;
}

}  // namespace pollen
