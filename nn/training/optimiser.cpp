#include <pollen/nn/training/optimiser.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/training/kernels/optimiser_loop.hpp>

namespace pollen {

using kernels::Batch;

// Every rule is one loop over theta: each number is read once, with its gradient and memory, and written once.

template <Real T>
void Sgd::update(const UpdateStep& now, const Stretch<T>& at) const {
    const Batch<T> a(static_cast<T>(now.rate));
    kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g) { theta -= a * g; });
}

template <Real T>
void Momentum::update(const UpdateStep& now, const Stretch<T>& at) const {
    const Batch<T> a(static_cast<T>(now.rate)), keep(static_cast<T>(momentum)), b(static_cast<T>(1 - momentum));
    switch (form) {
        case Form::classic:
            return kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& v) {
                v = keep * v + g;
                theta -= a * v;
            });
        case Form::nesterov:
            return kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& v) {
                v = keep * v + g;
                theta -= a * (g + keep * v);
            });
        case Form::averaged:
            return kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& p) {
                p = keep * p - b * g;
                theta += a * p;
            });
    }
}

template <Real T>
void RmsProp::update(const UpdateStep& now, const Stretch<T>& at) const {
    const Batch<T> a(static_cast<T>(now.rate)), keep(static_cast<T>(alpha)), add(static_cast<T>(1 - alpha));
    const Batch<T> small(static_cast<T>(epsilon));
    kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& v) {
        v = keep * v + add * g * g;
        theta -= a * g / (xsimd::sqrt(v) + small);
    });
}

namespace {

// theta = shrink theta - a m / (sqrt(v) c + epsilon),  a = rate / (1 - beta1^t),  c = 1 / sqrt(1 - beta2^t)
template <class Rule, Real T>
void adam(const Rule& rule, double shrink, const UpdateStep& now, const Stretch<T>& at) {
    const double t = static_cast<double>(now.step + 1);
    const double unbias1 = -std::expm1(t * std::log(rule.beta1)), unbias2 = -std::expm1(t * std::log(rule.beta2));
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

namespace {

void check_option(const std::string& rule, const char* name, double x, double below) {
    if (!(x >= 0 && x < below))
        throw ValueError(rule + ": " + name + " must not be negative and must be below " + to_text(below));
}

}  // namespace

void Momentum::check() const { check_option(describe(), "momentum", momentum, 1); }
void RmsProp::check() const {
    check_option(describe(), "alpha", alpha, 1);
    check_option(describe(), "epsilon", epsilon, 1);
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

std::string Sgd::describe() const { return call("Sgd", "rate " + rate.describe()); }

std::string Momentum::describe() const {
    const char* forms[] = {"classic", "nesterov", "averaged"};
    return call("Momentum", "rate " + rate.describe(), "momentum " + to_text(momentum),
                std::string(forms[static_cast<int>(form)]));
}

std::string RmsProp::describe() const {
    return call("RmsProp", "rate " + rate.describe(), "alpha " + to_text(alpha), "epsilon " + to_text(epsilon));
}

std::string Adam::describe() const {
    return call("Adam", "rate " + rate.describe(), "beta1 " + to_text(beta1), "beta2 " + to_text(beta2),
                "epsilon " + to_text(epsilon));
}

std::string AdamW::describe() const {
    return call("AdamW", "rate " + rate.describe(), "beta1 " + to_text(beta1), "beta2 " + to_text(beta2),
                "epsilon " + to_text(epsilon), "weight_decay " + to_text(weight_decay));
}

#define POLLEN_INSTANTIATE(Rule)                                                \
    template void Rule::update(const UpdateStep&, const Stretch<float>&) const; \
    template void Rule::update(const UpdateStep&, const Stretch<double>&) const;
POLLEN_INSTANTIATE(Sgd)
POLLEN_INSTANTIATE(Momentum)
POLLEN_INSTANTIATE(RmsProp)
POLLEN_INSTANTIATE(Adam)
POLLEN_INSTANTIATE(AdamW)

}  // namespace pollen
