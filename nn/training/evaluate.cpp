#include <pollen/nn/training/detail/evaluate_at.hpp>

#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/nn/likelihoods/detail/name_item.hpp>
#include <pollen/nn/module/detail/fitting_rows.hpp>
#include <pollen/nn/training/detail/stoppable.hpp>

#include <algorithm>

namespace pollen {

template <Real T>
Evaluation detail::evaluate_at(std::span<const T> theta, const Parameters<T>& parameters, const Module<T>& net,
                               const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch,
                               const std::stop_token* stop) {
    data.check();
    if (data.size() == 0) throw ShapeError("evaluate: the data set is empty");
    data.check_finite("evaluate");
    Tape<T> tape(Recording::off);
    Pass<T> pass(tape, parameters);
    const PredictOptions options{.batch = fitting_rows(tape, net, parameters, theta, data.inputs)};
    const auto named = [&](const auto& f) {
        return name_item(net, likelihood, parameters, theta, data, f, 0, stop ? *stop : std::stop_token());
    };
    double log_prob = 0, score = 0;
    for (std::int64_t first = 0; first < data.size(); first += batch) {
        if (stop) stop_training_if_asked(*stop);
        const Dataset<T> part = data.view(first, std::min(batch, data.size() - first));
        const Tensor<T> outputs = named([&] { return predict(tape, net, parameters, theta, part.inputs, options); });
        if (first == 0) likelihood.check_data(with_rows(outputs.shape(), data.size()), data);
        tape.clear();
        pass.restart({}, theta);
        log_prob +=
            static_cast<double>(named([&] { return likelihood.log_prob(pass, tape.borrow(outputs), part); }).item());
        score += likelihood.score(outputs, part);
    }
    return {-log_prob / static_cast<double>(data.size()), likelihood.finish(score, data.size())};
}

template <Real T>
Evaluation evaluate(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch) {
    if (batch < 1) throw ValueError("evaluate: batch is " + std::to_string(batch) + "; at least 1 is needed");
    return detail::with_errors_at("evaluate", [&] {
        return detail::evaluate_at<T>({}, parameters_of<T>(net, likelihood), net, likelihood, data, batch);
    });
}

#define POLLEN_INSTANTIATE(T)                                                                           \
    template Evaluation detail::evaluate_at(std::span<const T>, const Parameters<T>&, const Module<T>&, \
                                            const Likelihood<T>&, const Dataset<T>&, std::int64_t,      \
                                            const std::stop_token*);                                    \
    template Evaluation evaluate(const Module<T>&, const Likelihood<T>&, const Dataset<T>&, std::int64_t);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
