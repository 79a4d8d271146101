#include <pollen/nn/training/momentum.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/training/kernels/optimiser_loop.hpp>

namespace pollen {

using kernels::Batch;

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

void Momentum::check() const { check_option(describe(), "momentum", momentum, 1); }

std::string Momentum::describe() const {
    const char* forms[] = {"classic", "nesterov", "averaged"};
    return call("Momentum", "rate " + rate.describe(), "momentum " + to_text(momentum),
                std::string(forms[static_cast<int>(form)]));
}

POLLEN_INSTANTIATE_RULE(Momentum)

}  // namespace pollen
