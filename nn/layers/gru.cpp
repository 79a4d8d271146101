#include <pollen/nn/layers/gru.hpp>

#include <pollen/nn/layers/detail/recurrent_layer.hpp>

namespace pollen {

template <Real T>
Gru<T>::Gru(std::int64_t inputs, std::int64_t hidden, RecurrentOptions options) : output_(options.output) {
    check_sizes("Gru", {{"inputs", inputs}, {"hidden", hidden}});
    const Init init = detail::recurrent_init(hidden, options);
    input_weight = {.shape = {3 * hidden, inputs}, .init = init, .fans = {inputs, hidden}};
    hidden_weight = {.shape = {3 * hidden, hidden}, .init = init, .fans = {hidden, hidden}};
    bias = {.shape = {3 * hidden}, .init = init};
    hidden_bias = {.shape = {hidden}, .init = init};
}

template <Real T>
Var<T> Gru<T>::forward(Pass<T>& pass, Var<T> x) const {
    detail::check_sequences("Gru", x.shape(), input_weight.shape[1]);
    const Var<T> gates = affine(x, pass(input_weight), pass(bias));
    return detail::output_of(gru(gates, pass(hidden_weight), pass(hidden_bias)), output_);
}

template <Real T>
std::string Gru<T>::describe() const {
    return detail::describe_recurrent("Gru", input_weight.shape[1], hidden_weight.shape[1], output_);
}

template class Gru<float>;
template class Gru<double>;

}  // namespace pollen
