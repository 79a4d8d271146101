#include <pollen/nn/layers/embedding.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <limits>

namespace pollen {

template <Real T>
Embedding<T>::Embedding(std::int64_t rows, std::int64_t width, Init init) {
    check_sizes("Embedding", {{"rows", rows}, {"width", width}});
    if (rows > std::numeric_limits<std::int32_t>::max())
        throw ValueError("Embedding: rows is " + std::to_string(rows) + "; at most 2147483647 can be counted");
    table = {.shape = {rows, width}, .init = init, .fans = {width, width}};
}

template <Real T>
Var<T> Embedding<T>::forward(Pass<T>& pass, Var<T> x) const {
    const std::int64_t rows = table.shape[0];
    Indices index = Indices::zeros(Shape{x.size()});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const T row = x.value().data()[i];
        if (!(row >= 0 && row < static_cast<T>(rows)) || row != static_cast<T>(static_cast<std::int32_t>(row)))
            throw ValueError("Embedding: input " + std::to_string(i) + " is " + to_text(static_cast<double>(row)) +
                             "; whole numbers from 0 to " + std::to_string(rows - 1) + " are needed");
        index.mutable_data()[i] = static_cast<std::int32_t>(row);
    }
    std::vector<std::int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
    sizes.push_back(table.shape[1]);
    return reshape(index_select(pass(table), 0, index), Shape(std::span<const std::int64_t>(sizes)));
}

template <Real T>
std::string Embedding<T>::describe() const {
    return call("Embedding", table.shape[0], table.shape[1]);
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace pollen
