// What the tape itself costs: ops on ten elements, forward and backward together, and a small hierarchical model.
#include "bench.hpp"

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/tape.hpp>

#include <cmath>
#include <memory>

namespace pollen::bench {

namespace {

constexpr int chain = 20;

// The cost of an op in a chain of twenty: leaf, seed and clear() included, shared by the twenty.
template <class T, class F>
void add_chain(const std::string& name, F op) {
    struct Setting {
        Tape<T> tape;
        Tensor<T> x = Tensor<T>::linspace(T(-1), T(1), 10);
        Tensor<T> seed = Tensor<T>::ones({10});
    };
    auto setting = std::make_shared<Setting>();
    add({.suite = "tape",
         .name = name,
         .unit = Unit::nanoseconds(chain),
         .ours =
             [setting, op] {
                 Var<T> y = setting->tape.borrow_variable(setting->x);
                 for (int i = 0; i < chain; ++i) y = op(y);
                 setting->tape.backward(y, setting->seed);
                 setting->tape.clear();
             },
         .peer = "100 ns, the limit set",
         .peer_value = 100});
}

// sum of log N(x | mean, sd) up to a constant, as one node; mean and sd are data.
Var<double> normal_lpdf(Var<double> x, const Tensor<double>& mean, const Tensor<double>& sd) {
    const auto z = [&mean, &sd](const Tensor<double>& v, std::int64_t i) {
        return (v.data()[i] - mean.data()[mean.size() > 1 ? i : 0]) / sd.data()[sd.size() > 1 ? i : 0];
    };
    TapeState<double>& tape = x.state();
    const Tensor<double>& at = x.value();
    double total = 0;
    for (std::int64_t i = 0; i < at.size(); ++i) total -= 0.5 * z(at, i) * z(at, i);
    Tensor<double> y = tape.empty({});
    y.fresh_data()[0] = total;
    return record("normal_lpdf", {x}, std::move(y), [&mean, &sd, z](Backward<double>& b) {
        const Tensor<double>& v = b.input(0);
        double* dx = b.accumulate(0);
        for (std::int64_t i = 0; i < v.size(); ++i) dx[i] -= b.grad()[0] * z(v, i) / sd.data()[sd.size() > 1 ? i : 0];
    });
}

// log of the half-Cauchy density with the given scale, up to a constant.
Var<double> half_cauchy_lpdf(Var<double> x, double scale) {
    const double at = x.item();
    Tensor<double> y = x.state().empty({});
    y.fresh_data()[0] = -std::log1p(at * at / (scale * scale));
    return record("half_cauchy_lpdf", {x}, std::move(y), [scale](Backward<double>& b) {
        const double v = b.input(0).data()[0];
        b.accumulate(0)[0] -= b.grad()[0] * 2 * v / (scale * scale + v * v);
    });
}

// Eight schools, not centred (Rubin 1981; Gelman et al., Bayesian Data Analysis, 5.5): theta_j = mu + tau z_j.
struct EightSchools {
    Tape<double> tape;
    Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12};
    Tensor<double> sd{15, 10, 16, 11, 9, 11, 10, 18};
    Tensor<double> zero = Tensor<double>::scalar(0), one = Tensor<double>::scalar(1), five = Tensor<double>::scalar(5);
    Tensor<double> at = Tensor<double>::linspace(-0.3, 0.6, 10);
    double checksum = 0;

    void gradient() {
        const Var<double> q = tape.borrow_variable(at);
        const Var<double> z = slice(q, 0, 0, 8);
        const Var<double> mu = slice(q, 0, 8, 9);
        const Var<double> log_tau = slice(q, 0, 9, 10);
        const Var<double> tau = exp(log_tau);
        const Var<double> theta = mu + tau * z;
        const Var<double> log_prob = normal_lpdf(z, zero, one) + normal_lpdf(theta, y, sd) +
                                     normal_lpdf(mu, zero, five) + half_cauchy_lpdf(tau, 5) + log_tau;
        tape.backward(log_prob);
        checksum += q.grad().data()[9];
        tape.clear();
    }
};

const Register rows([] {
    add_chain<float>("op10_add_float", [](auto x) { return x + x; });
    add_chain<float>("op10_mul_float", [](auto x) { return x * x; });
    add_chain<float>("op10_scale_float", [](auto x) { return x * 0.5; });
    add_chain<float>("op10_tanh_float", [](auto x) { return tanh(x); });
    add_chain<float>("op10_relu_float", [](auto x) { return relu(x); });
    add_chain<double>("op10_add_double", [](auto x) { return x + x; });
    add_chain<double>("op10_mul_double", [](auto x) { return x * x; });
    add_chain<double>("op10_sigmoid_double", [](auto x) { return sigmoid(x); });
    add_chain<double>("op10_tanh_double", [](auto x) { return tanh(x); });
    auto schools = std::make_shared<EightSchools>();
    add({.suite = "tape",
         .name = "eight_schools_gradient",
         .unit = Unit::microseconds(),
         .ours = [schools] { schools->gradient(); },
         .peer = "1 us, the limit set",
         .peer_value = 1});
});

}  // namespace

}  // namespace pollen::bench
