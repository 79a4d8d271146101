#include "market.hpp"

#include "../common/arguments.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/data/sets/embedded.hpp>

#include <cmath>
#include <string>

using namespace pollen;

namespace {

// 2008-05-05 is 2008.344
double year_of(const std::string& date) {
    if (date.size() != 10) throw ValueError("sp500.csv: date is " + date + "; it must be like 2008-05-05");
    const auto part = [&date](std::size_t first, std::size_t count) {
        return finite_number("sp500.csv: part of the date " + date, date.substr(first, count));
    };
    return part(0, 4) + (part(5, 2) - 1) / 12 + (part(8, 2) - 1) / 365;
}

}  // namespace

Market read_market(std::int64_t days) {
    const auto table = read_csv_text(embedded_data("sp500/sp500.csv"), {.columns = {"date", "close"}});
    if (days < 10 || days >= std::ssize(table.rows))
        throw ValueError("--days must be from 10 to " + std::to_string(table.rows.size() - 1) + ", not " +
                         std::to_string(days));
    const auto close_of = [&table](std::size_t row) {
        return finite_number("sp500.csv: close on " + table.rows[row][0], table.rows[row][1]);
    };
    Market market{{}, Tensor<double>::empty({days})};
    for (std::size_t i = 1; i <= static_cast<std::size_t>(days); ++i) {
        const double close = close_of(i), before = close_of(i - 1);
        market.years.push_back(year_of(table.rows[i][0]));
        market.returns.mutable_values()[i - 1] = math::log(close / before);
    }
    return market;
}

double level_of(const Tensor<double>& returns) {
    double squares = 0;
    for (const double r : returns.values()) squares += r * r;
    return math::log(std::sqrt(squares / static_cast<double>(returns.size())));
}
