#include <pollen/nn/training/adam.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/training/kernels/optimiser_loop.hpp>

namespace pollen {

using kernels::Batch;

namespace {

// theta = shrink theta - a m / (sqrt(v) c + epsilon),  a = rate / (1 - beta1^t),  c = 1 / sqrt(1 - beta2^t)
template <class Rule, Real T>
void adam(const Rule& rule, double shrink, const UpdateStep& now, const Stretch<T>& at) {
    const double t = static_cast<double>(now.step + 1);
    const double unbias1 = -math::expm1(t * math::log(rule.beta1)), unbias2 = -math::expm1(t * math::log(rule.beta2));
    const Batch<T> keep1(static_cast<T>(rule.beta1)), add1(static_cast<T>(1 - rule.beta1));
    const Batch<T> keep2(static_cast<T>(rule.beta2)), add2(static_cast<T>(1 - rule.beta2));
    const Batch<T> a(static_cast<T>(now.rate / unbias1)), c(static_cast<T>(1 / std::sqrt(unbias2)));
    const Batch<T> small(static_cast<T>(rule.epsilon)), less(static_cast<T>(shrink));
    kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& m, Batch<T>& v) {
        m = keep1 * m + add1 * g;
        v = keep2 * v + add2 * g * g;
        theta = less * theta - a * m / (xsimd::sqrt(v) * c + small);
    });
}

}  // namespace

template <Real T>
void Adam::update(const UpdateStep& now, const Stretch<T>& at) const {
    adam(*this, 1, now, at);
}

template <Real T>
void AdamW::update(const UpdateStep& now, const Stretch<T>& at) const {
    adam(*this, 1 - now.rate * weight_decay, now, at);
}

void Adam::check() const {
    check_option(describe(), "beta1", beta1, 1);
    check_option(describe(), "beta2", beta2, 1);
    check_option(describe(), "epsilon", epsilon, 1);
}
void AdamW::check() const {
    Adam{.rate = rate, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon}.check();
    check_option(describe(), "weight_decay", weight_decay, 1e9);
}

std::string Adam::describe() const {
    return call("Adam", "rate " + rate.describe(), "beta1 " + to_text(beta1), "beta2 " + to_text(beta2),
                "epsilon " + to_text(epsilon));
}

std::string AdamW::describe() const {
    return call("AdamW", "rate " + rate.describe(), "beta1 " + to_text(beta1), "beta2 " + to_text(beta2),
                "epsilon " + to_text(epsilon), "weight_decay " + to_text(weight_decay));
}

POLLEN_INSTANTIATE_RULE(Adam)
POLLEN_INSTANTIATE_RULE(AdamW)

}  // namespace pollen
