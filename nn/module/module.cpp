#include <pollen/nn/module/walk.hpp>

#include <pollen/autograd/rows.hpp>

#include <algorithm>
#include <sstream>

namespace pollen {

template <Real T>
std::int64_t parameter_count(const HasParameters<T>& tree) {
    return Parameters<T>(tree).size();
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
    out << with_commas(parameters.size()) << " parameters in all\n";
    return out.str();
}

template <Real T>
Tensor<T> predict(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options) {
    if (x.rank() == 0) throw ShapeError("predict: x is a scalar; its first axis counts the inputs");
    if (options.batch < 1)
        throw ValueError("predict: a batch of " + std::to_string(options.batch) + " inputs; at least 1 is needed");
    if (!theta.empty() && static_cast<std::int64_t>(theta.size()) != parameters.size())
        throw ShapeError("predict: theta has " + std::to_string(theta.size()) + " numbers; the network has " +
                         std::to_string(parameters.size()) + " parameters");
    Pass<T> pass(tape, parameters);
    const std::int64_t rows = x.shape()[0];
    Tensor<T> outputs;
    std::int64_t done = 0;
    std::uint64_t piece = 0;
    do {
        const std::int64_t some = std::min(options.batch, rows - done);
        tape.clear();
        // Each piece of each draw has random numbers of its own; weights are drawn once for all pieces.
        pass.restart({options.mode, options.seed, options.draw << 24 | piece++, options.draw}, theta);
        const Tensor<T> inputs = pollen::rows(x, done, some);
        const Var<T> y = module(pass, tape.borrow(inputs));
        if (y.rank() == 0 || y.shape()[0] != some)
            throw ShapeError("predict: " + module.describe() + " makes " + to_string(y.shape()) + " of inputs " +
                             to_string(inputs.shape()) + "; the first axis, which counts the inputs, must stay");
        const Shape all = with_rows(y.shape(), rows);
        if (done == 0) outputs = Tensor<T>::empty(all);
        if (outputs.shape() != all)
            throw ShapeError("predict: " + module.describe() + " makes " + to_string(y.shape()) + " of inputs " +
                             to_string(inputs.shape()) + ", but other sizes before: " + to_string(outputs.shape()) +
                             " for all inputs together");
        std::copy(y.value().begin(), y.value().end(),
                  outputs.mutable_data() + (some > 0 ? done * (y.size() / some) : 0));
        done += some;
    } while (done < rows);
    return outputs;
}

template <Real T>
Tensor<T> predict(const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options) {
    Tape<T> tape(Recording::off);
    return predict(tape, module, parameters, theta, x, options);
}

template <Real T>
Tensor<T> predict(const Module<T>& module, const Tensor<T>& x, PredictOptions options) {
    return predict(module, Parameters<T>(module), std::span<const T>(), x, options);
}

#define POLLEN_INSTANTIATE(T)                                                                                          \
    template std::int64_t parameter_count(const HasParameters<T>&);                                                    \
    template std::string summary(const Module<T>&, const Shape&);                                                      \
    template Tensor<T> predict(const Module<T>&, const Tensor<T>&, PredictOptions);                                    \
    template Tensor<T> predict(const Module<T>&, const Parameters<T>&, std::span<const T>, const Tensor<T>&,           \
                               PredictOptions);                                                                        \
    template Tensor<T> predict(Tape<T>&, const Module<T>&, const Parameters<T>&, std::span<const T>, const Tensor<T>&, \
                               PredictOptions);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
