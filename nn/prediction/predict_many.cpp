#include <pollen/nn/prediction/predictive.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/module/detail/fitting_rows.hpp>

namespace pollen {

template <Real T>
void each_sample(const Module<T>& net, const Tensor<T>& x, SampleOptions options,
                 const std::type_identity_t<UseOutputs<T>>& use) {
    if (options.samples < 1)
        throw ValueError("each_sample: " + std::to_string(options.samples) + " samples; at least 1 is needed");
    check_function("each_sample", use);
    const Parameters<T> parameters(net);
    Tape<T> tape(Recording::off);
    if (!options.batch) options.batch = detail::fitting_rows(tape, net, parameters, std::span<const T>(), x);
    for (std::int64_t k = 0; k < options.samples; ++k) {
        const std::uint64_t draw = options.first + static_cast<std::uint64_t>(k);
        use(predict(tape, net, parameters, std::span<const T>(), x, {options.batch, Mode::sample, options.seed, draw}));
    }
}

template <Real T>
void each_member(const Ensemble<T>& ensemble, const Tensor<T>& x, PredictOptions options,
                 const std::type_identity_t<UseOutputs<T>>& use) {
    check_function("each_member", use);
    if (ensemble.size() == 0) throw ValueError("each_member: the ensemble has no members");
    Tape<T> tape(Recording::off);
    const bool is_open = !options.batch;
    std::string seen;
    for (std::size_t k = 0; k < ensemble.size(); ++k, ++options.draw) {
        const Parameters<T> parameters(ensemble[k]);
        // Members are nearly always the same network.
        if (const std::string what = ensemble[k].describe(); is_open && what != seen) {
            options.batch = detail::fitting_rows(tape, ensemble[k], parameters, std::span<const T>(), x);
            seen = what;
        }
        use(predict(tape, ensemble[k], parameters, std::span<const T>(), x, options));
    }
}

template <Real T>
void each_theta(const Module<T>& net, std::type_identity_t<std::span<const Tensor<T>>> thetas, const Tensor<T>& x,
                PredictOptions options, const std::type_identity_t<UseOutputs<T>>& use) {
    const Parameters<T> parameters(net);
    check_function("each_theta", use);
    if (thetas.empty()) throw ValueError("each_theta: there is no theta");
    Tape<T> tape(Recording::off);
    if (!options.batch) options.batch = detail::fitting_rows(tape, net, parameters, thetas[0].values(), x);
    for (std::size_t k = 0; k < thetas.size(); ++k, ++options.draw) {
        // An empty theta would mean the network's own values.
        if (thetas[k].size() != parameters.size())
            throw ShapeError("each_theta: theta " + std::to_string(k) + " has shape " + to_string(thetas[k].shape()) +
                             "; the network has " + std::to_string(parameters.size()) + " parameters");
        use(predict(tape, net, parameters, thetas[k].values(), x, options));
    }
}

template <Real T>
Predictive<T> predict_samples(const Module<T>& net, const Tensor<T>& x, SampleOptions options) {
    Predictive<T> predictive;
    each_sample(net, x, options, [&](const Tensor<T>& logits) { predictive.add(logits); });
    return predictive;
}

template <Real T>
Predictive<T> predict_ensemble(const Ensemble<T>& ensemble, const Tensor<T>& x, PredictOptions options) {
    Predictive<T> predictive;
    each_member(ensemble, x, options, [&](const Tensor<T>& logits) { predictive.add(logits); });
    return predictive;
}

template <Real T>
Predictive<T> predict_thetas(const Module<T>& net, std::type_identity_t<std::span<const Tensor<T>>> thetas,
                             const Tensor<T>& x, PredictOptions options) {
    Predictive<T> predictive;
    each_theta(net, thetas, x, options, [&](const Tensor<T>& logits) { predictive.add(logits); });
    return predictive;
}

#define POLLEN_INSTANTIATE(T)                                                                                \
    template void each_sample(const Module<T>&, const Tensor<T>&, SampleOptions, const UseOutputs<T>&);      \
    template void each_member(const Ensemble<T>&, const Tensor<T>&, PredictOptions, const UseOutputs<T>&);   \
    template void each_theta(const Module<T>&, std::span<const Tensor<T>>, const Tensor<T>&, PredictOptions, \
                             const UseOutputs<T>&);                                                          \
    template Predictive<T> predict_samples(const Module<T>&, const Tensor<T>&, SampleOptions);               \
    template Predictive<T> predict_ensemble(const Ensemble<T>&, const Tensor<T>&, PredictOptions);           \
    template Predictive<T> predict_thetas(const Module<T>&, std::span<const Tensor<T>>, const Tensor<T>&,    \
                                          PredictOptions);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
