#include <pollen/nn/training/detail/batch_loss.hpp>

#include <pollen/nn/likelihoods/detail/name_item.hpp>
#include <pollen/nn/training/detail/stoppable.hpp>

namespace pollen::detail {

template <Real T>
Var<T> BatchLoss<T>::cost(const Dataset<T>& rows, std::int64_t items, std::span<const T> theta) {
    const Var<T> inputs = pass_.tape().borrow(rows.inputs);
    const auto n = static_cast<double>(items), samples = static_cast<double>(options_.samples);
    const auto log_prob = [&] { return likelihood_.log_prob(pass_, net_(pass_, inputs), rows); };
    Var<T> loss;
    cost_ = 0;
    for (std::int64_t k = 0; k < options_.samples; ++k) {
        if (k > 0 && !options_.spread) stop_training_if_asked(options_.stop);  // ranks stop together, after the step
        pass_.next_sample();
        const Var<T> nll = name_item<T>(net_, likelihood_, pass_.parameters(), theta, data_.data, log_prob, data_.first,
                                        options_.stop) *
                           (-1 / (n * samples));
        cost_ += static_cast<double>(nll.item());
        loss = k == 0 ? nll : loss + nll;
    }
    return loss;
}

// The complexity term of the ELBO, -ELBO = pi_i KL[q || p] - E_q log p(batch | w), here divided by the items: the
// vectors (log q, log p) of all draws, averaged over the samples and weighted, pi_i (factor log q - log p).
template <Real T>
void BatchLoss<T>::add_complexity(Var<T>& loss, double weight) {
    if (pass_.complexities().empty()) return;
    const auto samples = static_cast<double>(options_.samples);
    const Tensor<T> factors{static_cast<T>(weight / samples * options_.kl.entropy_factor()),
                            static_cast<T>(-weight / samples)};
    Var<T> total = pass_.complexities()[0];
    for (std::size_t k = 1; k < pass_.complexities().size(); ++k) total = total + pass_.complexities()[k];
    complexity_ =
        (static_cast<double>(total.value().data()[0]) - static_cast<double>(total.value().data()[1])) / samples;
    loss = loss + sum(total * factors);
}

template <Real T>
Var<T> BatchLoss<T>::complexity_alone(const Dataset<T>& rows, double weight) {
    const Var<T> inputs = pass_.tape().borrow(rows.inputs);
    for (std::int64_t k = 0; k < options_.samples; ++k) {
        pass_.next_sample();
        net_(pass_, inputs);
    }
    Var<T> loss = pass_.tape().constant(T(0));
    add_complexity(loss, weight);
    return loss;
}

template class BatchLoss<float>;
template class BatchLoss<double>;

}  // namespace pollen::detail
