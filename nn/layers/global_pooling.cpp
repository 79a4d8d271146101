#include <pollen/nn/layers/global_pooling.hpp>

namespace pollen {

namespace {

// x with what becomes one number in one axis: (n, channels, positions) or (n, steps, features).
template <Real T>
Var<T> to_be_pooled(const char* layer, PoolOver over, Var<T> x) {
    const Shape& shape = x.shape();
    const bool fits = over == PoolOver::steps ? shape.rank() == 3 : shape.rank() >= 3;
    if (!fits)
        throw ShapeError(std::string(layer) + ": x " + to_string(shape) +
                         (over == PoolOver::steps ? "; sequences (n, steps, features) are needed"
                                                  : "; images or sequences (n, channels, ...) are needed"));
    std::int64_t positions = 1;
    for (int axis = 2; axis < shape.rank(); ++axis) positions *= shape[axis];
    const bool steps = over == PoolOver::steps;
    if ((steps ? shape[1] : positions) == 0)
        throw ShapeError(std::string(layer) + ": x " + to_string(shape) + " has no " + (steps ? "steps" : "positions") +
                         "; at least 1 is needed");
    return steps ? x : reshape(x, {shape[0], shape[1], positions});
}

int pooled_axis(PoolOver over) { return over == PoolOver::steps ? 1 : 2; }

std::string described_pool(const char* layer, PoolOver over) {
    return over == PoolOver::steps ? std::string(layer) + " over steps" : layer;
}

}  // namespace

template <Real T>
Var<T> GlobalAvgPool<T>::forward(Pass<T>&, Var<T> x) const {
    return mean(to_be_pooled("GlobalAvgPool", over_, x), pooled_axis(over_));
}

template <Real T>
std::string GlobalAvgPool<T>::describe() const {
    return described_pool("GlobalAvgPool", over_);
}

template <Real T>
Var<T> GlobalMaxPool<T>::forward(Pass<T>&, Var<T> x) const {
    return max(to_be_pooled("GlobalMaxPool", over_, x), pooled_axis(over_));
}

template <Real T>
std::string GlobalMaxPool<T>::describe() const {
    return described_pool("GlobalMaxPool", over_);
}

template class GlobalAvgPool<float>;
template class GlobalAvgPool<double>;
template class GlobalMaxPool<float>;
template class GlobalMaxPool<double>;

}  // namespace pollen
