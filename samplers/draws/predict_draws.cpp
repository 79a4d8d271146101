#include <pollen/samplers/draws/predict_draws.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/draws/detail/check_rows.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace pollen {

namespace {

// Draws are read and used in groups of at most 16. A group takes at most 64 MB, unless a single draw takes more.
constexpr std::int64_t most_thetas = 16, most_theta_bytes = 64'000'000;

// The numbers of the draws that are used.
std::vector<std::int64_t> used_draws(const Draws& draws, std::int64_t every) {
    if (every < 1) throw ValueError("each_draw: every is " + std::to_string(every) + "; at least 1 is needed");
    const std::vector<std::int64_t> counted = draws.counted();
    std::vector<std::int64_t> used;
    for (std::int64_t k = every - 1; k < std::ssize(counted); k += every)
        used.push_back(counted[static_cast<std::size_t>(k)]);
    if (used.empty())
        throw ValueError("each_draw: " + std::to_string(counted.size()) + " draws a chain" +
                         (std::ssize(counted) < draws.size() ? " of a weight above 0" : "") + "; one of every " +
                         std::to_string(every) + " is none");
    return used;
}

// Throws unless the draws begin with the parameters of this network, each of the same size.
template <Real T>
void check_blocks(const Module<T>& net, const Draws& draws) {
    const Parameters<T> parameters(net);
    for (std::size_t k = 0; k < parameters.count(); ++k) {
        const auto& [name, parameter, offset] = parameters.entries()[k];
        const bool there = k < draws.quantities.size();
        if (there && draws.quantities[k].shape.size() == parameter->shape.size()) continue;
        throw ShapeError("each_draw: the draws have " +
                         (there ? draws.quantities[k].name + " " + to_string(draws.quantities[k].shape) : "nothing") +
                         " where the network has " + name + " " + to_string(parameter->shape));
    }
}

}  // namespace

void each_draw(const Draws& draws, std::int64_t every, const UseDraw& f) {
    check_function("each_draw", f);
    detail::check_here("each_draw", draws);
    const std::vector<std::int64_t> used = used_draws(draws, every);
    const auto width = static_cast<std::size_t>(draws.value_count());
    const auto weight = [&](std::size_t c, std::int64_t t) {
        return draws.chains[c].weight[static_cast<std::size_t>(t)];
    };
    if (draws.values.rank() == 3) {
        const std::span<const double> all = draws.values.values();
        for (std::size_t c = 0; c < draws.chains.size(); ++c) {
            for (std::int64_t i = 0; i < std::ssize(used); ++i) {
                const std::int64_t t = used[static_cast<std::size_t>(i)];
                const auto row = c * static_cast<std::size_t>(draws.size()) + static_cast<std::size_t>(t);
                f(static_cast<std::int64_t>(c), i, all.subspan(row * width, width), weight(c, t));
            }
        }
        return;
    }
    if (draws.files.size() != draws.chains.size())
        throw ValueError("each_draw: the draws are neither in memory nor in files");
    for (std::size_t c = 0; c < draws.files.size(); ++c) {
        // Rows that the run did not write are refused, and those that it wrote later are not read.
        const bool known = draws.row_checksums.size() == draws.files.size();
        const std::int64_t end = known
                                     ? detail::check_rows_of_file(draws.files[c], draws.row_checksums[c], "these draws")
                                     : std::numeric_limits<std::int64_t>::max();
        StanCsvReader reader(draws.files[c], {}, end);
        StanCsvReader::Row row;
        std::size_t i = 0;
        std::int64_t seen = 0;
        // Rows in between are only counted.
        while (i < used.size() && reader.next(row, seen == used[i])) {
            if (row.warmup || seen++ != used[i]) continue;
            if (row.values.size() != width)
                throw FileError(draws.files[c] + ": has " + std::to_string(row.values.size()) +
                                " numbers a draw; there should be " + std::to_string(width));
            f(static_cast<std::int64_t>(c), static_cast<std::int64_t>(i), row.values, weight(c, used[i]));
            ++i;
        }
        if (i < used.size())
            throw FileError(draws.files[c] + ": has " + std::to_string(seen) + " draws; there should be " +
                            std::to_string(draws.size()));
    }
}

template <Real T>
void each_draw(const Module<T>& net, const Draws& draws, const Tensor<T>& x, DrawOptions options,
               const std::type_identity_t<UseWeighted<T>>& use) {
    check_function("each_draw", use);
    const std::int64_t size = Parameters<T>(net).size();
    if (draws.value_count() < size)
        throw ShapeError("each_draw: a draw has " + std::to_string(draws.value_count()) + " numbers; the network has " +
                         std::to_string(size) + " parameters");
    check_blocks(net, draws);
    const std::int64_t fit = most_theta_bytes / std::int64_t{sizeof(T)} / std::max<std::int64_t>(1, size),
                       at_once = std::clamp<std::int64_t>(fit, 1, most_thetas);
    std::vector<Tensor<T>> thetas;
    std::vector<double> weights;
    const auto flush = [&] {
        if (thetas.empty()) return;
        std::size_t k = 0;
        each_theta<T>(net, thetas, x, options.predict, [&](const Tensor<T>& outputs) { use(outputs, weights[k++]); });
        options.predict.draw += thetas.size();
        thetas.clear();
        weights.clear();
    };
    each_draw(draws, options.every, [&](std::int64_t, std::int64_t, std::span<const double> values, double weight) {
        Tensor<T> theta = Tensor<T>::empty(Shape{size});
        std::transform(values.begin(), values.begin() + size, theta.fresh_data(),
                       [](double v) { return static_cast<T>(v); });
        thetas.push_back(std::move(theta));
        weights.push_back(weight);
        if (std::ssize(thetas) >= at_once) flush();
    });
    flush();
}

template <Real T>
Predictive<T> predict_draws(const Module<T>& net, const Draws& draws, const Tensor<T>& x, DrawOptions options) {
    Predictive<T> predictive;
    each_draw(net, draws, x, options, [&](const Tensor<T>& logits, double weight) {
        if (logits.rank() == 2 && logits.shape()[1] == 1)
            throw ShapeError(
                "predict_draws: outputs are " + to_string(logits.shape()) +
                ", but it is for the logits of at least two classes; each_draw has the outputs as they are");
        predictive.add(logits, weight);
    });
    return predictive;
}

template <Real T>
FunctionSpace function_space(const Module<T>& net, const Draws& draws, const Tensor<T>& x, FunctionValues values,
                             DrawOptions options, std::uint64_t max_memory) {
    const std::int64_t chains = std::ssize(draws.chains), used = std::ssize(used_draws(draws, options.every));
    Tensor<T> predictions;
    T* to = nullptr;
    each_draw(net, draws, x, options, [&](const Tensor<T>& outputs, double) {
        if (!to) {
            const double bytes = static_cast<double>(chains) * static_cast<double>(used) *
                                 static_cast<double>(outputs.size()) * sizeof(T);
            if (bytes > static_cast<double>(max_memory))
                throw ValueError("function_space: predictions at " + std::to_string(chains) + " x " +
                                 std::to_string(used) + " draws, " + std::to_string(outputs.size()) +
                                 " numbers each, are more than max_memory, " + std::to_string(max_memory) +
                                 " bytes; use fewer rows of x, or every k-th draw");
            predictions = Tensor<T>::empty(Shape{chains, used, outputs.size()});
            to = predictions.mutable_data();
        }
        if (values == FunctionValues::probabilities) {
            Predictive<T> one;
            one.add(outputs);
            const Tensor<T> p = one.probabilities();
            to = std::copy(p.begin(), p.end(), to);
        } else {
            to = std::copy(outputs.begin(), outputs.end(), to);
        }
    });
    return function_space(predictions);
}

#define POLLEN_INSTANTIATE(T)                                                                                      \
    template void each_draw(const Module<T>&, const Draws&, const Tensor<T>&, DrawOptions, const UseWeighted<T>&); \
    template Predictive<T> predict_draws(const Module<T>&, const Draws&, const Tensor<T>&, DrawOptions);           \
    template FunctionSpace function_space(const Module<T>&, const Draws&, const Tensor<T>&, FunctionValues,        \
                                          DrawOptions, std::uint64_t);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
