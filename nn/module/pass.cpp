#include <pollen/nn/module/module.hpp>

namespace pollen {

template <Real T>
void Pass<T>::restart(PassOptions options, std::span<const T> theta) {
    options_ = options;
    random_layers_ = random_weights_ = 0;
    complexities_.clear();
    leaves_.clear();
    drawn_.clear();
    computed_.clear();
    statistics_.clear();
    if (theta.empty())
        parameters_->check_values();
    else if (std::ssize(theta) != parameters_->size())
        throw ShapeError("Pass: theta has " + std::to_string(theta.size()) + " numbers; the network has " +
                         std::to_string(parameters_->size()) + " parameters");
    for (const auto& [name, parameter, offset] : parameters_->entries()) {
        const T* values = theta.empty() ? parameter->value.data() : theta.data() + offset;
        leaves_.push_back(tape_->state().leaf("parameter", Tensor<T>::borrow(values, parameter->shape), true));
    }
}

template <Real T>
LayerNoise Pass<T>::noise(std::int64_t numbers) {
    const Purpose purpose = mode() == Mode::train ? Purpose::layers : Purpose::predicted_layers;
    const RandomKey key{options_.seed, stream_of(purpose, random_layers_++), options_.step};
    if (options_.rows == 0) return {key};
    const std::int64_t of_row = (numbers + options_.rows - 1) / options_.rows;
    return {key, static_cast<std::uint64_t>(options_.first_row * of_row)};
}

template <Real T>
Var<T> Pass<T>::operator()(const Parameter<T>& parameter) const {
    if (const auto computed = computed_.find(&parameter); computed != computed_.end()) return computed->second;
    const std::optional<std::size_t> k = parameters_->find(parameter);
    if (!k)
        throw ValueError("a parameter of shape " + to_string(parameter.shape) +
                         " is used in a pass over another network; does members() of its layer name it?");
    if (*k >= leaves_.size()) throw TapeError("a pass is used before restart() put the parameters on its tape");
    return leaves_[*k];
}

template <Real T>
Tensor<T> Pass<T>::statistic(const Parameter<T>& parameter) const {
    for (const Statistic& set : statistics_)
        if (set.parameter == &parameter) return set.next;
    return (*this)(parameter).value();
}

template <Real T>
void Pass<T>::set_statistic(const Parameter<T>& parameter, Tensor<T> next) {
    if (!parameter.statistic || next.shape() != parameter.shape)
        throw ValueError("a statistic of shape " + to_string(next.shape()) + " is set for a parameter of shape " +
                         to_string(parameter.shape) + (parameter.statistic ? "" : ", which is no statistic"));
    for (Statistic& set : statistics_)
        if (set.parameter == &parameter) {
            set.next = std::move(next);
            return;
        }
    statistics_.push_back({&parameter, std::move(next)});
}

template class Pass<float>;
template class Pass<double>;

}  // namespace pollen
