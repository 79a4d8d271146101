#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/pruning/sparse.hpp>

#include <cstdio>

// What the sparse layers share.
namespace pollen::detail {

// The numbers of a matrix that are not zero, in the order of the pattern.
template <Real T>
Tensor<T> nonzeros(const SparsePattern& pattern, const T* matrix) {
    Tensor<T> values = Tensor<T>::empty(Shape{pattern.size()});
    for (const auto& [number, row, column] : pattern.places())
        values.fresh_data()[number] = matrix[row * pattern.columns() + column];
    return values;
}

template <Real T>
Tensor<T> with_zeros(const SparsePattern& pattern, const Tensor<T>& values, const Shape& shape) {
    Tensor<T> matrix = Tensor<T>::zeros(shape);
    T* to = matrix.mutable_data();
    for (const auto& [number, row, column] : pattern.places())
        to[row * pattern.columns() + column] = values.data()[number];
    return matrix;
}

inline void check_bias(const char* layer, const Shape& bias, const Shape& weight) {
    const Shape needed{weight[0]};
    if (bias != needed)
        throw ShapeError(std::string(layer) + ": the bias has shape " + to_string(bias) + " for weights " +
                         to_string(weight) + "; " + to_string(needed) + " is needed");
}

inline std::string percent(double share) {
    char text[40];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
}

// A text that differs if the places of the numbers do.
inline std::string pattern_text(const SparsePattern& pattern) {
    const std::vector<std::uint8_t> gaps = pattern.gaps();
    return "the pattern " + hash_text(std::as_bytes(std::span(gaps)));
}

template <Real T>
void put_sparse(TensorFile& file, const std::string& name, const SparsePattern& pattern, const Shape& shape) {
    const Tensor<T> values = file.get<T>(name, Shape{pattern.size()});
    Tensor<T> ordered = Tensor<T>::empty(values.shape());
    T* to = ordered.fresh_data();
    for (const auto& place : pattern.places()) *to++ = values.data()[place.number];
    file.set(name, ordered);
    file.set(name + ".gaps", pattern.gaps());
    const auto sizes = shape.sizes();
    file.set(name + ".shape", TensorFile::Counters(sizes.begin(), sizes.end()));
}

template <Real T>
std::shared_ptr<const SparsePattern> get_sparse(TensorFile& file, const std::string& name, const SparsePattern& form,
                                                const Shape& shape) {
    const auto sizes = shape.sizes();
    const TensorFile::Counters& saved = file.counters(name + ".shape");
    if (saved != TensorFile::Counters(sizes.begin(), sizes.end())) {
        std::string text;
        for (const std::uint64_t size : saved) text += (text.empty() ? "" : ", ") + std::to_string(size);
        throw FileError(file.source() + ": tensor \"" + name + "\" is sparse of shape (" + text + "), but " +
                        to_string(shape) + " was asked for");
    }
    auto pattern = std::make_shared<const SparsePattern>(form.rows(), form.columns(), file.octets(name + ".gaps"),
                                                         file.source() + ": tensor \"" + name + ".gaps\"");
    const Tensor<T>& ordered = file.get<T>(name, Shape{pattern->size()});
    Tensor<T> values = Tensor<T>::empty(ordered.shape());
    const T* from = ordered.data();
    for (const auto& place : pattern->places()) values.fresh_data()[place.number] = *from++;
    file.set(name, values);
    return pattern;
}

}  // namespace pollen::detail
