#include <pollen/nn/module/walk.hpp>

#include <algorithm>
#include <sstream>

namespace pollen {

template <Real T>
std::int64_t parameter_count(const HasParameters<T>& tree) {
    std::int64_t count = 0;
    each_parameter(tree, [&](const std::string&, const Parameter<T>& p) { count += p.statistic ? 0 : p.shape.size(); });
    return count;
}

namespace {

template <Real T>
bool has_parts(const Module<T>& module) {
    bool found = false;
    each_module(module, [&](const std::string&, const Module<T>& part) {
        found |= &part != &module;
        return !found;
    });
    return found;
}

std::string with_commas(std::int64_t n) {
    std::string text = std::to_string(n);
    for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

Shape with_batch(std::int64_t rows, std::span<const std::int64_t> rest) {
    std::vector<std::int64_t> sizes{rows};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return Shape(std::span<const std::int64_t>(sizes));
}

}  // namespace

template <Real T>
std::string summary(const Module<T>& module, const Shape& input) {
    struct Line {
        std::string layer, output, parameters;
    };
    std::vector<Line> lines{{"layer", "output", "parameters"}};
    lines.push_back({"input", to_string(input), ""});
    Tape<T> tape(Recording::off);
    const Parameters<T> parameters(module);
    const Tensor<T> zeros = Tensor<T>::zeros(Shape{std::max<std::int64_t>(1, parameters.size())});
    Pass<T> pass(tape, parameters, {}, zeros.values().first(static_cast<std::size_t>(parameters.size())));
    pass.observer = [&](const Module<T>& part, const Var<T>& y) {
        if (has_parts(part)) return;  // its parts have lines of their own
        lines.push_back(
            {part.describe(), to_string(Shape(y.shape().sizes().subspan(1))), with_commas(parameter_count<T>(part))});
    };
    module(pass, tape.constant(Tensor<T>::zeros(with_batch(1, input.sizes()))));
    std::size_t layer = 0, output = 0, count = 0;
    for (const Line& line : lines) {
        layer = std::max(layer, line.layer.size());
        output = std::max(output, line.output.size());
        count = std::max(count, line.parameters.size());
    }
    std::ostringstream out;
    for (const Line& line : lines) {
        out << line.layer << std::string(layer - line.layer.size() + 2, ' ') << line.output;
        if (!line.parameters.empty())
            out << std::string(output - line.output.size() + 2 + count - line.parameters.size(), ' ')
                << line.parameters;
        out << '\n';
    }
    out << with_commas(parameter_count<T>(module)) << " parameters in all\n";
    return out.str();
}

#define POLLEN_INSTANTIATE(T)                                       \
    template std::int64_t parameter_count(const HasParameters<T>&); \
    template std::string summary(const Module<T>&, const Shape&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
