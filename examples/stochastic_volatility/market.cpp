#include "market.hpp"

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
    return std::stod(date.substr(0, 4)) + (std::stod(date.substr(5, 2)) - 1) / 12 +
           (std::stod(date.substr(8, 2)) - 1) / 365;
}

}  // namespace

Market read_market(std::int64_t days) {
    const auto table = read_csv_text(embedded_data("sp500/sp500.csv"), {.columns = {"date", "close"}});
    if (days < 10 || days >= std::ssize(table.rows))
        throw ValueError("--days must be from 10 to " + std::to_string(table.rows.size() - 1) + ", not " +
                         std::to_string(days));
    Market market{{}, Tensor<double>::empty({days})};
    for (std::size_t i = 1; i <= static_cast<std::size_t>(days); ++i) {
        const double close = std::stod(table.rows[i][1]), before = std::stod(table.rows[i - 1][1]);
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
