#include <pollen/autograd/tape.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace pollen {

namespace {

// A number, a short vector, or only the first entries: enough to follow a worked example.
template <Real T>
std::string preview(const T* data, std::int64_t n) {
    constexpr std::int64_t shown = 3;
    std::string text = n == 1 ? "" : "[";
    for (std::int64_t i = 0; i < std::min(n, shown); ++i) {
        char number[32];
        std::snprintf(number, sizeof number, "%s%.4g", i ? ", " : "", static_cast<double>(data[i]));
        text += number;
    }
    if (n > shown) text += ", ...";
    return n == 1 ? text : text + "]";
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size() + 1), ' ');
    return text;
}

}  // namespace

template <Real T>
std::string TapeState<T>::print() {
    std::size_t names = 14;
    for (std::uint32_t i = 0; i < size_; ++i) names = std::max(names, std::string_view(node(i).name).size());
    std::string text =
        "node  " + padded("op", names + 2) + "inputs      shape         value                       gradient\n";
    for (std::uint32_t i = 0; i < size_; ++i) {
        Node& n = node(i);
        std::string from;
        for (std::uint32_t input : inputs(n)) from += (from.empty() ? "" : ", ") + std::to_string(input);
        const std::string gradient = n.grad ? preview(static_cast<const T*>(n.grad->data()), n.value.size())
                                            : std::string(n.needs_grad ? "-" : "not needed");
        text += padded(std::to_string(i), 6) + padded(n.name, names + 2) + padded(from, 12) +
                padded(pollen::to_string(n.value.shape()), 14) + padded(preview(n.value.data(), n.value.size()), 28) +
                gradient + "\n";
    }
    return text;
}

template <Real T>
std::string TapeState<T>::dot() {
    std::string text = "digraph tape {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n";
    for (std::uint32_t i = 0; i < size_; ++i) {
        Node& n = node(i);
        text += "  n" + std::to_string(i) + " [label=\"" + std::to_string(i) + ": " + n.name + " " +
                pollen::to_string(n.value.shape()) + "\\nvalue " + preview(n.value.data(), n.value.size());
        if (n.grad) text += "\\ngradient " + preview(static_cast<const T*>(n.grad->data()), n.value.size());
        text += n.needs_grad ? "\"];\n" : "\", style=\"rounded,dashed\"];\n";
        for (std::uint32_t input : inputs(n))
            text += "  n" + std::to_string(input) + " -> n" + std::to_string(i) + ";\n";
    }
    return text + "}\n";
}

template std::string TapeState<float>::print();
template std::string TapeState<double>::print();
template std::string TapeState<float>::dot();
template std::string TapeState<double>::dot();

}  // namespace pollen
