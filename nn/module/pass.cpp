#include <pollen/nn/module/module.hpp>

namespace pollen {

template <Real T>
void Pass<T>::restart(PassOptions options, std::span<const T> theta) {
    options_ = options;
    random_layers_ = random_weights_ = 0;
    complexities_.clear();
    leaves_.clear();
    drawn_.clear();
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
Var<T> Pass<T>::at(const Module<T>& module, const Parameters<T>& parameters, std::vector<Var<T>> leaves, Var<T> x) {
    const Parameters<T>* outer = std::exchange(parameters_, &parameters);
    std::swap(leaves_, leaves);
    auto watching = std::exchange(observer, {});
    GradientSink<T>* const outer_sink = std::exchange(sink, nullptr);
    const auto restore = [&] {
        observer = std::move(watching);
        sink = outer_sink;
        parameters_ = outer;
        std::swap(leaves_, leaves);
    };
    try {
        const Var<T> y = module(*this, x);
        restore();
        return y;
    } catch (...) {
        restore();
        throw;
    }
}

template class Pass<float>;
template class Pass<double>;

}  // namespace pollen
