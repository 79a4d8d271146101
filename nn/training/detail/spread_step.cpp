#include <pollen/nn/training/detail/spread_step.hpp>

#include <pollen/autograd/ordered_sum.hpp>
#include <pollen/autograd/support/detail/stop_requested.hpp>

#include <algorithm>
#include <array>
#include <exception>

namespace pollen::detail {

namespace {

// What the blocks add up beside the gradient.
enum LeafColumn : std::size_t { cost_column, complexity_column, failed_column, interrupted_column, leaf_columns };

}  // namespace

template <Real T>
SpreadStep<T>::SpreadStep(const Module<T>& net, const Likelihood<T>& likelihood, const RunData<T>& data,
                          const TrainOptions& options, const Spread& spread, Pass<T>& pass)
    : data_(data),
      spread_(spread),
      stop_(options.stop),
      pass_(pass),
      loss_(net, likelihood, data, options, pass),
      batches_(data.data, spread_, {options.batch, options.draw, options.seed, options.augmentation}),
      gradients_(Tensor<T>::zeros(Shape{spread_.shares().count(spread_.group().rank()), pass.parameters().size()})),
      leaves_(static_cast<std::size_t>(spread_.shares().count(spread_.group().rank())) * leaf_columns) {}

template <Real T>
auto SpreadStep<T>::operator()(std::int64_t step, PassOptions how, std::span<const T> theta,
                               const std::function<void()>& begin, const std::function<double(std::int64_t)>& weight)
    -> Losses {
    Group& group = spread_.group();
    std::fill(leaves_.begin(), leaves_.end(), 0.0);
    std::array<double, leaf_columns> sum{};
    std::exception_ptr error;
    try {
        begin();
        batch_ = batches_.at(step);
        evaluate(how, theta, weight(batch_.items));
    } catch (...) {
        error = std::current_exception();
        leaves_[failed_column] = 1;
    }
    leaves_[interrupted_column] = stop_requested(stop_) ? 1 : 0;
    ordered_sum<double>(group, spread_.shares(), leaves_, sum);
    if (sum[failed_column] > 0)
        group.together([&] {
            if (error) std::rethrow_exception(error);
        });
    return {batch_.items, sum[cost_column], sum[complexity_column], sum[interrupted_column] > 0};
}

template <Real T>
void SpreadStep<T>::evaluate(PassOptions how, std::span<const T> theta, double weight) {
    const std::int64_t first_block = spread_.shares().first(spread_.group().rank());
    std::fill_n(gradients_.mutable_data(), gradients_.size(), T(0));
    const auto leaf = [&](std::int64_t block) {
        return std::span(leaves_).subspan(static_cast<std::size_t>(block - first_block) * leaf_columns, leaf_columns);
    };
    const auto take_complexity = [&] {
        costs_ = !pass_.complexities().empty();
        if (costs_ && how.complexity_value) leaf(0)[complexity_column] = loss_.last_complexity();
    };
    if (first_block == 0 && costs_ && (batch_.parts.empty() || batch_.parts[0].block > 0)) {
        restart(how, theta, 0);
        const Dataset<T> one = data_.data.view(0, 1);
        const Var<T> loss = loss_.complexity_alone(one, weight);
        take_complexity();
        if (costs_) pass_.tape().backward(loss);
    }
    for (const auto& [block, first_row, rows] : batch_.parts) {
        PassOptions part = how;
        part.first_row = first_row;
        part.rows = rows.size();
        part.complexity_value = how.complexity_value && block == 0;
        restart(part, theta, block);
        Var<T> loss = loss_.cost(rows, batch_.items, theta);
        leaf(block)[cost_column] = loss_.last_cost();
        if (block == 0) {
            loss_.add_complexity(loss, weight);
            take_complexity();
        }
        pass_.tape().backward(loss);
    }
    pass_.tape().clear();
}

// The gradient goes to the row of the block.
template <Real T>
void SpreadStep<T>::restart(PassOptions how, std::span<const T> theta, std::int64_t block) {
    pass_.tape().clear();
    pass_.restart(how, theta);
    const auto row = static_cast<std::size_t>(block - spread_.shares().first(spread_.group().rank()));
    const std::span<T> gradient = gradients_.mutable_values().subspan(row * theta.size(), theta.size());
    for (std::size_t k = 0; k < pass_.leaves().size(); ++k) {
        const auto& entry = pass_.parameters().entries()[k];
        pass_.tape().accumulate_into(pass_.leaves()[k],
                                     gradient.subspan(static_cast<std::size_t>(entry.offset),
                                                      static_cast<std::size_t>(entry.parameter->shape.size())));
    }
}

template <Real T>
Tensor<T> SpreadStep<T>::gradient() {
    const std::span<T> all = gradients_.mutable_values();
    const std::span<T> sum = all.first(static_cast<std::size_t>(pass_.parameters().size()));
    ordered_sum<T>(spread_.group(), spread_.shares(), all, sum);
    return Tensor<T>::borrow(sum.data(), Shape{pass_.parameters().size()});
}

template <Real T>
std::vector<Dataset<T>> SpreadStep<T>::rows() const {
    std::vector<Dataset<T>> all;
    for (const auto& part : batch_.parts) all.push_back(part.rows);
    return all;
}

template class SpreadStep<float>;
template class SpreadStep<double>;

}  // namespace pollen::detail
