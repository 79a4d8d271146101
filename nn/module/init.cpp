#include <pollen/nn/module/init.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

template <Real T>
void Init::fill(std::span<T> values, Fans fans, const RandomKey& key) const {
    const double in = static_cast<double>(std::max<std::int64_t>(1, fans.in));
    const double out = static_cast<double>(std::max<std::int64_t>(1, fans.out));
    const auto normals = [&](double mean, double sd) {
        fill_normal(key, 0, values, static_cast<T>(mean), static_cast<T>(sd));
    };
    const auto uniforms = [&](double low, double high) {
        fill_uniform(key, 0, values, static_cast<T>(low), static_cast<T>(high));
    };
    const double bound = b_ * std::sqrt(6 / (in + out));
    switch (law_) {
        case Law::he:
            return normals(0, b_ * std::sqrt(2 / in));
        case Law::lecun:
            return normals(0, b_ * std::sqrt(1 / in));
        case Law::glorot:
            return uniforms(-bound, bound);
        case Law::normal:
            return normals(a_, b_);
        case Law::uniform:
            return uniforms(a_, b_);
        case Law::constant:
            return std::fill(values.begin(), values.end(), static_cast<T>(a_));
    }
}

std::string Init::describe() const {
    switch (law_) {
        case Law::he:
            return call("he", b_);
        case Law::glorot:
            return call("glorot", b_);
        case Law::lecun:
            return call("lecun", b_);
        case Law::normal:
            return call("normal", a_, b_);
        case Law::uniform:
            return call("uniform", a_, b_);
        case Law::constant:
            return call("constant", a_);
    }
    return {};
}

template void Init::fill(std::span<float>, Fans, const RandomKey&) const;
template void Init::fill(std::span<double>, Fans, const RandomKey&) const;

}  // namespace pollen
