#include <pollen/samplers/draws/npz_draws.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/data/formats/npz.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>
#include <pollen/samplers/draws/detail/statistics.hpp>

namespace pollen {

namespace {

void write_arrays(const std::string& path, const Draws& draws) {
    detail::check_here("write_npz_draws", draws);
    if (draws.values.rank() != 3)
        throw ValueError("write_npz_draws: the values of the draws are not in memory (keep = false)");
    NpzArrays arrays;
    for (const Quantity& q : draws.quantities) arrays.emplace_back(q.name, draws[q.name]);
    for (const detail::StatisticColumn& column : detail::statistic_columns) {
        if (!detail::reports(draws.facts, column.which)) continue;
        const Tensor<double> values = detail::values_of(column.which, draws);
        if (column.type == detail::StatisticColumn::Type::number)
            arrays.emplace_back(column.stan, values);
        else
            arrays.emplace_back(column.stan, cast<std::int32_t>(values));
    }
    write_npz(path, arrays);
}

}  // namespace

void write_npz_draws(const std::string& path, const Draws& draws) {
    detail::with_errors_at(path, [&] { write_arrays(path, draws); });
}

}  // namespace pollen
