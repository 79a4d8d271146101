#include <pollen/samplers/calibration/calibration.hpp>

#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/distributions/detail/incomplete.hpp>
#include <pollen/samplers/calibration/detail/simulations.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pollen {

namespace {

constexpr const char* who = "calibrate";

void check(const CalibrationOptions& o) {
    check_sizes(who, {{"replications", o.replications}, {"thin", o.thin}});
    if (o.replications > 10'000'000)
        throw ValueError("calibrate: replications is " + std::to_string(o.replications) +
                         "; at most 10000000 are possible");
    if (o.draws < 6)
        throw ValueError("calibrate: draws is " + std::to_string(o.draws) +
                         "; at least 6 are needed to know what they are worth");
    if (o.bins < 2) throw ValueError("calibrate: bins is " + std::to_string(o.bins) + "; at least 2 are needed");
    if (o.warmup < 0)
        throw ValueError("calibrate: warmup is " + std::to_string(o.warmup) + "; it must not be negative");
    if ((o.draws + 1) % o.bins != 0)
        throw ValueError("calibrate: " + std::to_string(o.draws) + " draws have " + std::to_string(o.draws + 1) +
                         " ranks, which " + std::to_string(o.bins) + " bins do not share equally");
}

// What a replication finds out about a quantity.
struct Ranked {
    std::int64_t rank = 0;
    double ess = 0;
    double least = 0, most = 0;  // of its values, the true one among them
};

// The rank of x among the draws, equal ones counting at random.
std::int64_t rank_of(double x, std::span<const double> draws, Random& random) {
    std::int64_t below = 0, equal = 0;
    for (const double draw : draws) {
        below += draw < x;
        equal += draw == x;
    }
    return below + random.below(static_cast<std::uint64_t>(equal + 1));
}

// Draws that are all equal are worth nothing: the chain did not move.
double ess_of_a_draw(std::span<const double> draws) {
    const double ess = ess_bulk(Chains(draws, 1)) / static_cast<double>(draws.size());
    return std::isnan(ess) && draws.size() >= 6 ? 0 : ess;
}

template <Real T>
void replicate(const Simulation<T>& model, const detail::BeginChain<T>& begin, const CalibrationOptions& o,
               std::uint32_t replication, std::vector<std::string>& names, std::vector<Ranked>& out) {
    Random random(o.seed, stream_of(Purpose::simulations, replication));
    detail::Simulated<T> truth = detail::simulate(model, random);
    Potential<T>& posterior = *truth.posterior;
    names = detail::tested_names(posterior);
    const std::size_t count = names.size();
    std::vector<double> true_values(count), values(count);
    detail::tested_values<T>(posterior, truth.theta, true_values);
    const auto check_stop = [&] { detail::check_stop(o.stop); };
    const auto chain = begin(posterior.clone(),
                             ChainStart<T>{std::move(truth.theta), o.seed, replication, o.warmup, 0, 1, check_stop});
    for (std::int64_t t = 0; t < o.warmup; ++t) {
        chain->step();
        check_stop();
    }
    const auto length = static_cast<std::size_t>(o.draws);
    std::vector<double> draws(count * length);  // quantity after quantity
    for (std::size_t t = 0; t < length; ++t) {
        for (std::int64_t k = 0; k < o.thin; ++k) {
            chain->step();
            check_stop();
        }
        detail::tested_values<T>(posterior, chain->position(), values);
        for (std::size_t q = 0; q < count; ++q) draws[q * length + t] = values[q];
    }
    out.resize(count);
    for (std::size_t q = 0; q < count; ++q) {
        const std::span<const double> row = std::span<const double>(draws).subspan(q * length, length);
        const auto [least, most] = std::minmax_element(row.begin(), row.end());
        out[q] = {rank_of(true_values[q], row, random), ess_of_a_draw(row), std::min(*least, true_values[q]),
                  std::max(*most, true_values[q])};
    }
}

// sum (count - expected)^2 / expected over the bins, and the probability of a greater one, Q((bins - 1) / 2, chi^2 / 2)
void test_uniformity(QuantityRanks& q, std::int64_t ranks, std::int64_t bins) {
    q.counts.assign(static_cast<std::size_t>(bins), 0);
    for (const std::int64_t rank : q.ranks) ++q.counts[static_cast<std::size_t>(rank / (ranks / bins))];
    const double expected = static_cast<double>(q.ranks.size()) / static_cast<double>(bins);
    q.chi_squared = 0;
    for (const std::int64_t n : q.counts) {
        const double excess = static_cast<double>(n) - expected;
        q.chi_squared += excess * excess / expected;
    }
    q.p_value = kernels::gamma_q(static_cast<double>(bins - 1) / 2, q.chi_squared / 2);
}

// Heights of bars from nothing to full, half where all bins are equal.
std::string bars(const std::vector<std::int64_t>& counts, double expected) {
    const char* heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double most = 2 * expected;
    for (const std::int64_t n : counts) most = std::max(most, static_cast<double>(n));
    std::string text;
    for (const std::int64_t n : counts)
        text += heights[n == 0 ? 0 : std::max<std::int64_t>(1, std::llround(8 * static_cast<double>(n) / most))];
    return text;
}

// What the shape of a histogram says, by two z-scores: of the mean of u = (rank + 1/2) / ranks, uniform on (0, 1), and
// of the mean of (u - 1/2)^2, which has mean 1/12 and variance 1/180.
std::string shape_text(const QuantityRanks& q, std::int64_t ranks) {
    double mean = 0, square = 0;
    const auto n = static_cast<double>(q.ranks.size());
    for (const std::int64_t rank : q.ranks) {
        const double u = (static_cast<double>(rank) + 0.5) / static_cast<double>(ranks) - 0.5;
        mean += u / n;
        square += u * u / n;
    }
    const double shift = mean * std::sqrt(12 * n), width = (square - 1.0 / 12) * std::sqrt(180 * n);
    std::string text;
    if (std::abs(shift) > 3) text = shift > 0 ? "too low" : "too high";
    if (std::abs(width) > 3)
        text += (text.empty() ? "" : " and ") + std::string(width > 0 ? "too narrow, or not independent" : "too wide");
    return text.empty() ? "" : "; its draws are " + text;
}

}  // namespace

bool Calibration::passed(double level) const {
    detail::check_level("Calibration", level);
    return !quantities.empty() && std::none_of(quantities.begin(), quantities.end(), [&](const auto& q) {
        return !(q.p_value >= level) || q.too_dependent();
    });
}

std::string summary(const Calibration& c, double level) {
    detail::check_level("summary", level);
    const double expected = static_cast<double>(c.replications) / static_cast<double>(c.bins);
    std::vector<std::vector<std::string>> rows{{"", "chi^2", "p", "ess", "ranks"}};
    for (const QuantityRanks& q : c.quantities)
        rows.push_back({q.name, detail::number_text(q.chi_squared), detail::number_text(q.p_value),
                        detail::number_text(q.ess), bars(q.counts, expected)});
    std::string text = detail::text_table(rows) + '\n' + std::to_string(c.replications) +
                       " replications; ranks among " + std::to_string(c.draws) + " draws in " + std::to_string(c.bins) +
                       " bins; ess of a draw, 1 where they are independent\n";
    if (c.interrupted) text += "Warning: interrupted before all replications were done.\n";
    if (expected < 5)
        text += "Warning: " + detail::number_text(expected) +
                " replications for each bin; p-values are rough below 5. Take fewer bins, or more replications.\n";
    bool independent = true;
    for (const QuantityRanks& q : c.quantities) {
        if (q.constant || !(q.ess < 0.5)) continue;
        independent = false;
        text += "Warning: the draws of " + q.name + " are far from independent (ess " + detail::number_text(q.ess) +
                "); ranks are only uniform if they are. Thin more.\n";
    }
    for (const QuantityRanks& q : c.quantities) {
        if (!(q.p_value >= level))
            text += "Warning: the ranks of " + q.name + " are not uniform (p = " + detail::number_text(q.p_value) +
                    ")" + shape_text(q, c.draws + 1) + ".\n";
    }
    if (c.passed(level) && independent)
        text += "Nothing speaks against uniform ranks at the level " + to_text(level) + " (" +
                detail::false_alarms(std::ssize(c.quantities), level) + ").\n";
    return text;
}

namespace detail {

namespace {

template <Real T>
Calibration calibrated(const Simulation<T>& model, const BeginChain<T>& begin, const CalibrationOptions& options) {
    check(options);
    check_simulation(who, model);
    const auto n = static_cast<std::size_t>(options.replications);
    std::vector<std::vector<std::string>> names(n);
    std::vector<std::vector<Ranked>> found(n);
    const std::vector<bool> finished =
        run_simulations(who, "replication", options.replications, options.show, options.stop, [&](std::int64_t r) {
            const auto at = static_cast<std::size_t>(r);
            replicate(model, begin, options, static_cast<std::uint32_t>(r), names[at], found[at]);
        });
    const std::vector<std::string>* first_names = nullptr;
    Calibration result{.quantities = {}, .draws = options.draws, .bins = options.bins};
    for (std::size_t r = 0; r < n; ++r) {
        if (!finished[r]) {
            result.interrupted = true;
            continue;
        }
        if (result.replications++ == 0) {
            first_names = &names[r];
            for (const std::string& name : names[r])
                result.quantities.push_back({.name = name, .ranks = {}, .counts = {}});
        }
        check_same_names(who, "replication", r, names[r], *first_names);
        for (std::size_t q = 0; q < found[r].size(); ++q) {
            result.quantities[q].ranks.push_back(found[r][q].rank);
            result.quantities[q].ess += found[r][q].ess;
        }
    }
    for (std::size_t k = 0; k < result.quantities.size(); ++k) {
        QuantityRanks& q = result.quantities[k];
        q.constant = true;
        double value = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t r = 0; r < n; ++r) {
            if (!finished[r]) continue;
            if (std::isnan(value)) value = found[r][k].least;
            q.constant = q.constant && found[r][k].least == value && found[r][k].most == value;
        }
        q.ess /= static_cast<double>(result.replications);
        test_uniformity(q, options.draws + 1, options.bins);
    }
    return result;
}

}  // namespace

template <Real T>
Calibration calibrate_chains(const Simulation<T>& model, const BeginChain<T>& begin,
                             const CalibrationOptions& options) {
    return with_errors_at(who, [&] { return calibrated(model, begin, options); });
}

template Calibration calibrate_chains(const Simulation<float>&, const BeginChain<float>&, const CalibrationOptions&);
template Calibration calibrate_chains(const Simulation<double>&, const BeginChain<double>&, const CalibrationOptions&);

}  // namespace detail

}  // namespace pollen
