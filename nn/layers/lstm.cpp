#include <pollen/nn/layers/lstm.hpp>

#include <pollen/nn/layers/detail/recurrent_layer.hpp>

namespace pollen {

template <Real T>
Lstm<T>::Lstm(std::int64_t inputs, std::int64_t hidden, RecurrentOptions options) : output_(options.output) {
    check_sizes("Lstm", {{"inputs", inputs}, {"hidden", hidden}});
    const Init init = detail::recurrent_init(hidden, options);
    input_weight = {.shape = {4 * hidden, inputs}, .init = init, .fans = {inputs, hidden}};
    hidden_weight = {.shape = {4 * hidden, hidden}, .init = init, .fans = {hidden, hidden}};
    bias = {.shape = {4 * hidden}, .init = init};
}

template <Real T>
Var<T> Lstm<T>::forward(Pass<T>& pass, Var<T> x) const {
    detail::check_sequences("Lstm", x.shape(), input_weight.shape[1]);
    const Var<T> gates = affine(x, pass(input_weight), pass(bias));
    return detail::output_of(lstm(gates, pass(hidden_weight)), output_);
}

template <Real T>
std::string Lstm<T>::describe() const {
    return detail::describe_recurrent("Lstm", input_weight.shape[1], hidden_weight.shape[1], output_);
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace pollen
