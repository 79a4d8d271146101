#include <pollen/samplers/draws/stan_csv.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/nn/potentials/detail/column_name.hpp>
#include <pollen/samplers/draws/detail/statistics.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace pollen {

namespace {

// %.17g, which brings every double back, whatever the locale is.
void append_number(std::string& text, double x) {
    if (std::isnan(x)) {
        text += "nan";
        return;
    }
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::general, 17).ptr);
}

void append_number(std::string& text, std::int64_t n) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

// Without an exponent, which rstan would not read.
std::string seconds_text(double x) {
    char digits[400];
    return {digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed, 6).ptr};
}

std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

// Calls f(element, "2.1") for the elements of a tensor, column-major, with the place of each in row-major order.
template <class F>
void each_element(const Shape& shape, const F& f) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
    std::string text;
    for (std::int64_t k = 0; k < shape.size(); ++k) {
        std::int64_t element = 0;
        text.clear();
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t i = index[static_cast<std::size_t>(axis)];
            element = element * shape[axis] + i;
            text += '.';
            append_number(text, i + 1);
        }
        f(element, text);
        for (int axis = 0; axis < shape.rank() && ++index[static_cast<std::size_t>(axis)] == shape[axis]; ++axis)
            index[static_cast<std::size_t>(axis)] = 0;
    }
}

// CmdStan has no column for steps that met an energy which is not finite; the state of a run counts them.
bool is_written(const ChainFacts& facts, detail::Statistic which) {
    return which != detail::Statistic::invalid && detail::reports(facts, which);
}

std::string algorithm_text(const ChainFacts& facts) {
    if (!facts.hamiltonian) return "#     algorithm = fixed_param\n#       fixed_param\n";
    std::string text;
    if (!std::isnan(facts.target_acceptance))
        text +=
            "#     adapt\n"
            "#       engaged = 1\n"
            "#       gamma = " +
            to_text(facts.gamma) + "\n#       delta = " + to_text(facts.target_acceptance) +
            "\n#       kappa = " + to_text(facts.kappa) + "\n#       t0 = " + to_text(facts.t0) + "\n";
    text += "#     algorithm = hmc (Default)\n#       hmc\n";
    if (facts.max_tree_depth > 0)
        text +=
            "#         engine = nuts (Default)\n"
            "#           nuts\n"
            "#             max_depth = " +
            to_text(facts.max_tree_depth) + "\n";
    else
        text += "#         engine = static\n";
    text += "#         metric = ";
    text += facts.metric == MetricKind::dense      ? "dense_e"
            : facts.metric == MetricKind::diagonal ? "diag_e (Default)"
                                                   : "unit_e";
    return text + "\n#         stepsize = " + to_text(facts.step_size) + "\n";
}

std::string header_text(const StanCsvHeader& h, const std::vector<Quantity>& quantities) {
    std::string text =
        "# stan_version_major = 2\n"
        "# stan_version_minor = 31\n"
        "# stan_version_patch = 0\n"
        "# model = " +
        one_line(h.model) +
        "\n"
        "# method = sample (Default)\n"
        "#   sample\n"
        "#     num_samples = " +
        to_text(h.draws * h.thin) + "\n#     num_warmup = " + to_text(h.warmup) +
        "\n#     save_warmup = " + (h.save_warmup ? "1" : "0") + "\n#     thin = " + to_text(h.thin) + "\n" +
        algorithm_text(h.facts) + "# id = " + to_text(h.chain) + "\n# init = " + to_text(h.radius) +
        "\n# random\n#   seed = " + std::to_string(h.seed) + "\n# output\n#   file = " + one_line(h.file) + "\n";
    if (h.facts.hamiltonian && !h.facts.fresh_momentum) text += "# fresh_momentum = 0\n";
    if (!h.sampler.empty()) text += "# sampler = " + one_line(h.sampler) + "\n";
    std::string columns;
    for (const detail::StatisticColumn& column : detail::statistic_columns)
        if (is_written(h.facts, column.which)) columns += (columns.empty() ? "" : ",") + std::string(column.stan);
    text += columns;
    std::set<std::string> names;
    for (const Quantity& q : quantities) {
        const std::string name = column_name("stan_csv", q.name);
        if (!names.insert(name).second) throw ValueError("stan_csv: two quantities would have the columns " + name);
        each_element(q.shape,
                     [&](std::int64_t, const std::string& index) { (text += ',').append(name).append(index); });
    }
    return text + '\n';
}

std::string adaptation_text(double step_size, std::span<const double> inverse_metric, std::int64_t size) {
    std::string text = "# Adaptation terminated\n# Step size = ";
    append_number(text, step_size);
    text += '\n';
    const auto row = [&](std::span<const double> numbers) {
        text += "# ";
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            if (k) text += ", ";
            append_number(text, numbers[k]);
        }
        text += '\n';
    };
    const auto n = static_cast<std::size_t>(size);
    if (inverse_metric.empty()) {
        text += "# No free parameters for unit metric\n";
    } else if (inverse_metric.size() == n) {
        text += "# Diagonal elements of inverse mass matrix:\n";
        row(inverse_metric);
    } else {
        text += "# Elements of inverse mass matrix:\n";
        const std::size_t width = n > 0 && inverse_metric.size() % n == 0 ? n : inverse_metric.size();
        for (std::size_t k = 0; k < inverse_metric.size(); k += width) row(inverse_metric.subspan(k, width));
    }
    return text;
}

// Readers take the number from character 17 of its line on.
std::string footer_text(double warmup_seconds, double sampling_seconds) {
    return "# \n#  Elapsed Time: " + seconds_text(warmup_seconds) + " seconds (Warm-up)\n#                " +
           seconds_text(sampling_seconds) + " seconds (Sampling)\n#                " +
           seconds_text(warmup_seconds + sampling_seconds) + " seconds (Total)\n# \n";
}

std::vector<std::int64_t> order_of(const std::vector<Quantity>& quantities) {
    std::vector<std::int64_t> order;
    bool same = true;
    for (const Quantity& q : quantities) {
        each_element(q.shape, [&](std::int64_t element, const std::string&) {
            same &= q.offset + element == std::ssize(order);
            order.push_back(q.offset + element);
        });
    }
    if (same) order = {};
    return order;
}

constexpr const char* who = "stan_csv";

}  // namespace

std::string stan_csv_header(const StanCsvHeader& header, const std::vector<Quantity>& quantities) {
    return detail::with_errors_at(who, [&] { return header_text(header, quantities); });
}

std::string stan_csv_adaptation(double step_size, std::span<const double> inverse_metric, std::int64_t size) {
    return detail::with_errors_at(who, [&] { return adaptation_text(step_size, inverse_metric, size); });
}

std::string stan_csv_footer(double warmup_seconds, double sampling_seconds) {
    return detail::with_errors_at(who, [&] { return footer_text(warmup_seconds, sampling_seconds); });
}

StanCsvRows::StanCsvRows(const std::vector<Quantity>& quantities)
    : order_(detail::with_errors_at(who, [&] { return order_of(quantities); })) {}

void StanCsvRows::append(std::string& text, const ChainFacts& facts, const StepStatistics& s, double weight,
                         std::span<const double> values) const {
    detail::with_errors_at(who, [&] {
        const auto add = [&](auto number) {
            text += ',';
            append_number(text, number);
        };
        append_number(text, -s.energy);  // lp__, the first column
        for (const detail::StatisticColumn& column : std::span(detail::statistic_columns).subspan(1)) {
            if (!is_written(facts, column.which)) continue;
            const double x = detail::value_of(column.which, s, weight);
            if (column.type == detail::StatisticColumn::Type::number)
                add(x);
            else
                add(static_cast<std::int64_t>(x));
        }
        for (std::size_t k = 0; k < values.size(); ++k)
            add(values[order_.empty() ? k : static_cast<std::size_t>(order_[k])]);
        text += '\n';
    });
}

}  // namespace pollen
