#include <pollen/nn/module/module.hpp>

#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/nn/module/detail/fitting_rows.hpp>
#include <pollen/nn/module/detail/refused_item.hpp>

#include <algorithm>

namespace pollen {

namespace {

constexpr std::int64_t most_rows = 1000;

// How many numbers the layers write for the first `count` rows of x.
template <Real T>
std::int64_t numbers_of(Pass<T>& pass, const Module<T>& module, std::span<const T> theta, const Tensor<T>& x,
                        std::int64_t count) {
    Tape<T>& tape = pass.tape();
    tape.clear();
    pass.restart({}, theta);
    const Tensor<T> inputs = rows(x, 0, count);
    const Var<T> input = tape.borrow(inputs);
    module(pass, input);
    return detail::numbers_since(tape, input.index() + 1);
}

}  // namespace

template <Real T>
std::int64_t detail::fitting_rows(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters,
                                  std::span<const T> theta, const Tensor<T>& x) {
    constexpr std::int64_t few_rows = 16, few_numbers = 1 << 16;
    if (x.rank() == 0 || x.shape()[0] < 2 || (x.shape()[0] <= few_rows && x.size() <= few_numbers)) return most_rows;
    constexpr std::int64_t fit = most_output_bytes / std::int64_t{sizeof(T)};
    try {
        Pass<T> pass(tape, parameters);
        const std::int64_t one = numbers_of(pass, module, theta, x, 1);
        if (one * most_rows <= fit) return most_rows;
        // Some of it may be weights, which are there once.
        const std::int64_t of_row = numbers_of(pass, module, theta, x, 2) - one;
        return std::clamp<std::int64_t>(fit / std::max<std::int64_t>(1, of_row), 1, most_rows);
    } catch (...) {
        return most_rows;  // predict() will say what is wrong with all rows
    }
}

namespace {

// The module at some rows of x, and where its outputs go.
template <Real T>
class Prediction {
  public:
    Prediction(Pass<T>& pass, const Module<T>& module, std::span<const T> theta, const Tensor<T>& x,
               const PredictOptions& options)
        : pass_(pass), module_(module), theta_(theta), x_(x), options_(options) {}

    // Rows first, ..., first + count - 1. They are rows of a group, which begins at row `begin` and shares the random
    // numbers of one step; weights are drawn under one step for all groups.
    void operator()(std::uint64_t group, std::int64_t begin, std::int64_t first, std::int64_t count) {
        const Var<T> y = named(group, begin, first, count);
        const auto makes = [&] {
            return "predict: " + module_.describe() + " makes " + to_string(y.shape()) + " of inputs " +
                   to_string(inputs_.shape());
        };
        if (y.rank() == 0 || y.shape()[0] != count)
            throw ShapeError(makes() + "; the first axis, which counts the inputs, must stay");
        const Shape all = with_rows(y.shape(), x_.shape()[0]);
        if (first == 0) outputs = Tensor<T>::empty(all);
        if (outputs.shape() != all)
            throw ShapeError(makes() + ", but other sizes before: " + to_string(outputs.shape()) +
                             " for all inputs together");
        std::copy(y.value().begin(), y.value().end(),
                  outputs.mutable_data() + (count > 0 ? first * (y.size() / count) : 0));
    }

    Tensor<T> outputs;

  private:
    Var<T> at(std::uint64_t group, std::int64_t begin, std::int64_t first, std::int64_t count) {
        pass_.tape().clear();
        pass_.restart({.mode = options_.mode,
                       .seed = options_.seed,
                       .step = options_.draw << 24 | group,
                       .weight_step = options_.draw,
                       .first_row = first - begin,
                       .rows = count},
                      theta_);
        inputs_ = rows(x_, first, count);
        return module_(pass_, pass_.tape().borrow(inputs_));
    }

    // The same. A ValueError gets the number of the row that is refused, or, if it is not one alone, of the rows.
    Var<T> named(std::uint64_t group, std::int64_t begin, std::int64_t first, std::int64_t count) {
        try {
            return at(group, begin, first, count);
        } catch (const DomainError&) {
            throw;
        } catch (const ValueError& error) {
            if (x_.shape()[0] == 1) throw;
            detail::find_refused_item(first, first + count, "the inputs",
                                      [&](std::int64_t row) { at(group, begin, row, 1); });
            if (count == x_.shape()[0]) throw;
            throw ValueError("rows " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                             " of the inputs: " + error.what());
        }
    }

    Pass<T>& pass_;
    const Module<T>& module_;
    std::span<const T> theta_;
    const Tensor<T>& x_;
    const PredictOptions& options_;
    Tensor<T> inputs_;
};

template <Real T>
Tensor<T> predict_all(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                      const Tensor<T>& x, const PredictOptions& options) {
    if (x.rank() == 0) throw ShapeError("predict: x is a scalar; its first axis counts the inputs");
    if (options.batch && *options.batch < 1)
        throw ValueError("predict: a batch of " + std::to_string(*options.batch) + " inputs; at least 1 is needed");
    constexpr std::uint64_t draws = std::uint64_t{1} << 32;  // a step has 56 bits, of which 24 count the groups
    if (options.mode == Mode::sample && options.draw >= draws)
        throw ValueError("predict: draw " + std::to_string(options.draw) + "; it must be below " +
                         std::to_string(draws));
    if (!theta.empty() && static_cast<std::int64_t>(theta.size()) != parameters.size())
        throw ShapeError("predict: theta has " + std::to_string(theta.size()) + " numbers; the network has " +
                         std::to_string(parameters.size()) + " parameters");
    const std::int64_t batch =
        options.batch ? *options.batch : detail::fitting_rows(tape, module, parameters, theta, x);
    Pass<T> pass(tape, parameters);
    Prediction<T> predict_rows(pass, module, theta, x, options);
    // A key has enough random numbers for a group of this size. Without random layers all rows are one group.
    const std::int64_t all = x.shape()[0], group_size = options.mode == Mode::predict ? all : most_rows;
    std::uint64_t group = 0;
    for (std::int64_t begin = 0; begin == 0 || begin < all; begin += std::max<std::int64_t>(1, group_size), ++group) {
        const std::int64_t count = std::min(group_size, all - begin);
        // Pieces of about the same size, so that they can use the same memory.
        const std::int64_t pieces = std::max<std::int64_t>(1, count / batch + (count % batch != 0));
        for (std::int64_t k = 0, first = begin; k < pieces; ++k) {
            const std::int64_t size = count / pieces + (k < count % pieces);
            predict_rows(group, begin, first, size);
            first += size;
        }
    }
    return std::move(predict_rows.outputs);
}

}  // namespace

template <Real T>
Tensor<T> predict(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options) {
    return detail::with_errors_at("predict", [&] { return predict_all(tape, module, parameters, theta, x, options); });
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
    template std::int64_t detail::fitting_rows(Tape<T>&, const Module<T>&, const Parameters<T>&, std::span<const T>,   \
                                               const Tensor<T>&);                                                      \
    template Tensor<T> predict(const Module<T>&, const Tensor<T>&, PredictOptions);                                    \
    template Tensor<T> predict(const Module<T>&, const Parameters<T>&, std::span<const T>, const Tensor<T>&,           \
                               PredictOptions);                                                                        \
    template Tensor<T> predict(Tape<T>&, const Module<T>&, const Parameters<T>&, std::span<const T>, const Tensor<T>&, \
                               PredictOptions);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
