#include <pollen/nn/variational/posterior.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace pollen {

namespace {

constexpr std::int64_t block = 1024;  // weights that go through a prior at once

// A number that differs between tensors: of their fans and all their values (FNV-1a).
template <Real T>
std::uint64_t fingerprint(const Parameter<T>& parameter) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
    mix(static_cast<std::uint64_t>(parameter.fans.in));
    mix(static_cast<std::uint64_t>(parameter.fans.out));
    for (const T x : parameter.value) mix(std::bit_cast<std::uint64_t>(static_cast<double>(x)));
    return hash ^ hash >> 32;
}

}  // namespace

template <Real T>
void start_with(Parameter<T>& parameter, const Parameter<T>& mean) {
    if (!mean.has_value() || parameter.has_value()) return;
    parameter.value = Tensor<T>::empty(parameter.shape);
    const std::span<T> values(parameter.value.fresh_data(), static_cast<std::size_t>(parameter.shape.size()));
    parameter.init.fill(values, parameter.fans, {fingerprint(mean), stream_of(Purpose::initial_values, 0), 0});
}

// d log p / dw comes from the prior, a stretch at a time.
template <Real T>
Var<T> log_prior(const Prior& prior, Var<T> w, bool wanted) {
    const auto forward = [&prior, wanted](Forward<T>& node) {
        const Tensor<T>& at = node.input(0);
        double sum = wanted ? 0 : std::nan("");
        for (std::int64_t i = 0; wanted && i < at.size(); i += block)
            sum += prior.log_prob(at.data() + i, std::min(block, at.size() - i));
        node.value()[0] = static_cast<T>(sum);
    };
    return record("log_prior", {w}, Shape{}, forward, [&prior](Backward<T>& b) {
        T slopes[block];
        T* dw = b.accumulate(0);
        const Tensor<T>& at = b.input(0);
        for (std::int64_t i = 0; dw && i < at.size(); i += block) {
            const std::int64_t count = std::min(block, at.size() - i);
            prior.slopes(at.data() + i, count, slopes);
            for (std::int64_t k = 0; k < count; ++k) dw[i + k] += b.grad()[0] * slopes[k];
        }
    });
}

template void start_with(Parameter<float>&, const Parameter<float>&);
template void start_with(Parameter<double>&, const Parameter<double>&);
template Var<float> log_prior(const Prior&, Var<float>, bool);
template Var<double> log_prior(const Prior&, Var<double>, bool);

}  // namespace pollen
