#include <pollen/autograd/tensor.hpp>

#include <cstdio>
#include <ostream>

namespace pollen {

namespace {

constexpr std::int64_t edge = 3;        // entries shown at each end of a long axis
constexpr std::int64_t long_axis = 10;  // an axis longer than this is cut

std::string number(std::int32_t x) { return std::to_string(x); }

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
}

template <class T>
void append(std::string& text, const T* data, const Shape& shape, int axis, std::int64_t stride) {
    if (axis == shape.rank()) {
        text += number(*data);
        return;
    }
    const std::int64_t n = shape[axis];
    const std::int64_t step = n > 0 ? stride / n : 0;
    const bool last = axis + 1 == shape.rank();
    text += '[';
    for (std::int64_t i = 0; i < n; ++i) {
        if (i > 0) text += last ? std::string(", ") : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
        if (n > long_axis && i == edge) {
            text += "...";
            i = n - edge - 1;
            continue;
        }
        append(text, data + i * step, shape, axis + 1, step);
    }
    text += ']';
}

}  // namespace

template <class T>
std::string to_string(const Tensor<T>& tensor) {
    std::string text;
    append(text, tensor.data(), tensor.shape(), 0, tensor.size());
    return text;
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& tensor) {
    return out << to_string(tensor);
}

template std::string to_string(const Tensor<float>&);
template std::string to_string(const Tensor<double>&);
template std::string to_string(const Tensor<std::int32_t>&);
template std::ostream& operator<<(std::ostream&, const Tensor<float>&);
template std::ostream& operator<<(std::ostream&, const Tensor<double>&);
template std::ostream& operator<<(std::ostream&, const Tensor<std::int32_t>&);

}  // namespace pollen
