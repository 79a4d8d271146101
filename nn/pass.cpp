#include <pollen/nn/pass.hpp>

namespace pollen {

template <Real T>
void Pass<T>::restart(PassOptions options, const T* theta) {
    options_ = options;
    random_layers_ = 0;
    leaves_.clear();
    if (!theta) parameters_->check_values();
    for (const auto& [name, parameter, offset] : parameters_->entries()) {
        const T* values = theta ? theta + offset : parameter->value.data();
        leaves_.push_back(tape_->state().leaf("parameter", Tensor<T>::borrow(values, parameter->shape), true));
    }
}

template class Pass<float>;
template class Pass<double>;

}  // namespace pollen
