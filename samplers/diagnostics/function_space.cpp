#include <pollen/samplers/diagnostics/function_space.hpp>

#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

struct Judged {
    double value;
    std::int64_t output;
};

FunctionSpace::Spread spread(std::vector<Judged> values, bool greatest_is_worst) {
    std::sort(values.begin(), values.end(), [](const Judged& a, const Judged& b) {
        return a.value != b.value ? a.value < b.value : a.output < b.output;
    });
    if (values.empty()) return {detail::nothing, detail::nothing, detail::nothing, detail::nothing, -1};
    std::vector<double> ordered;
    ordered.reserve(values.size());
    for (const Judged& v : values) ordered.push_back(v.value);
    const Judged& worst = greatest_is_worst ? values.back() : values.front();
    return {worst.value, detail::quantile_of_sorted(ordered, 0.05), detail::quantile_of_sorted(ordered, 0.5),
            detail::quantile_of_sorted(ordered, 0.95), worst.output};
}

}  // namespace

template <Real T>
FunctionSpace function_space(const Tensor<T>& predictions) {
    const Shape& shape = predictions.shape();
    if (shape.rank() < 3 || predictions.size() == 0)
        throw ShapeError("function_space: predictions are " + to_string(shape) +
                         "; (chains, draws, outputs...) is expected, at least one of each");
    if (shape[1] < 6)
        throw ValueError("function_space: " + std::to_string(shape[1]) + " draws a chain; at least 6 are needed");
    const std::vector<QuantitySummary> all = summarise(predictions.reshaped({shape[0], shape[1], -1}));
    FunctionSpace result;
    result.outputs = std::ssize(all);
    std::vector<Judged> rhats, bulks, tails;
    for (std::int64_t k = 0; k < result.outputs; ++k) {
        const QuantitySummary& s = all[static_cast<std::size_t>(k)];
        if (std::isnan(s.rhat) || std::isnan(s.ess_bulk) || std::isnan(s.ess_tail)) {
            ++result.left_out;
            continue;
        }
        rhats.push_back({s.rhat, k});
        bulks.push_back({s.ess_bulk, k});
        tails.push_back({s.ess_tail, k});
    }
    result.rhat = spread(std::move(rhats), true);
    result.ess_bulk = spread(std::move(bulks), false);
    result.ess_tail = spread(std::move(tails), false);
    return result;
}

// "outputs" are counted from 0, as worst_output is.
std::string summary(const FunctionSpace& space) {
    const auto text = [](double x, int decimals) { return detail::to_text(x, std::chars_format::fixed, decimals); };
    const std::int64_t judged = space.outputs - space.left_out;
    std::string all = std::to_string(space.outputs) + (space.outputs == 1 ? " output" : " outputs");
    if (space.left_out > 0) all += ", " + std::to_string(space.left_out) + " of them constant or not finite";
    if (judged == 0) return all + "\n";
    const auto line = [&](const char* name, const FunctionSpace::Spread& s, const char* limit, int decimals) {
        return std::string(name) + limit + text(s.worst, decimals) + " (output " + std::to_string(s.worst_output) +
               "); 5 %, 50 % and 95 % of outputs: " + text(s.q5, decimals) + ", " + text(s.q50, decimals) + ", " +
               text(s.q95, decimals) + "\n";
    };
    return all + "\n" + line("r_hat     ", space.rhat, "at most  ", 3) +
           line("ess_bulk  ", space.ess_bulk, "at least ", 0) + line("ess_tail  ", space.ess_tail, "at least ", 0);
}

template FunctionSpace function_space(const Tensor<float>&);
template FunctionSpace function_space(const Tensor<double>&);

}  // namespace pollen
