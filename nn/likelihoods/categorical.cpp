#include <pollen/nn/likelihoods/categorical.hpp>

#include <algorithm>

namespace pollen {

namespace {

void check(const Shape& outputs, const Indices& labels) {
    const std::string shape = to_string(outputs);
    if (outputs.rank() != 2 || (outputs[0] > 0 && outputs[1] == 0))
        throw ShapeError("Categorical: outputs have shape " + shape + "; logits (n, classes) are needed");
    if (labels.shape() != Shape{outputs[0]}) {
        const std::string needed = "; one label for each row, (" + std::to_string(outputs[0]) + "), is needed";
        if (labels.shape() == Shape::nothing())
            throw ShapeError("Categorical: outputs have shape " + shape + " and there are no labels" + needed);
        throw ShapeError("Categorical: outputs have shape " + shape + ", labels " + to_string(labels.shape()) + needed);
    }
    for (std::int64_t row = 0; row < outputs[0]; ++row) {
        const std::int32_t label = labels.data()[row];
        if (label < 0 || label >= outputs[1])
            throw ValueError("Categorical: the label of item " + std::to_string(row) + " is " + std::to_string(label) +
                             "; outputs " + shape + " have classes 0 to " + std::to_string(outputs[1] - 1));
    }
}

}  // namespace

template <Real T>
Var<T> Categorical<T>::log_prob(Pass<T>&, Var<T> outputs, const Dataset<T>& batch) const {
    check(outputs.shape(), batch.labels);
    return neg(cross_entropy(outputs, batch.labels, Reduction::sum));
}

template <Real T>
void Categorical<T>::check_data(const Shape& outputs, const Dataset<T>& data) const {
    check(outputs, data.labels);
}

template <Real T>
double Categorical<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    check(outputs.shape(), batch.labels);
    const std::int64_t rows = outputs.shape()[0], classes = outputs.shape()[1];
    std::int64_t right = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        const T* x = outputs.data() + row * classes;
        right += std::max_element(x, x + classes) - x == batch.labels.data()[row];
    }
    return static_cast<double>(right);
}

template <Real T>
Tensor<T> Categorical<T>::probabilities(const Tensor<T>& logits) {
    Tape<T> tape(Recording::off);
    return softmax(tape.borrow(logits)).value();
}

template <Real T>
double Categorical<T>::finish(double total, std::int64_t items) const {
    return total / static_cast<double>(items);
}

template class Categorical<float>;
template class Categorical<double>;

}  // namespace pollen
