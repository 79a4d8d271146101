#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace pollen::detail {

namespace {

bool less(const PlacedDraw& a, const PlacedDraw& b) { return a.value < b.value; }

// A sum with about twice the digits of a double (Neumaier, 1974): `rest` is what the additions to `high` lost.
struct LongSum {
    double high = 0, rest = 0;

    void add(double x) {
        const double sum = high + x;
        rest += std::abs(high) >= std::abs(x) ? (high - sum) + x : (x - sum) + high;
        high = sum;
    }
    double value() const { return std::isfinite(high) ? high + rest : high; }
};

// The mean of scale x. The second sum makes the mean of equal numbers exactly what they are. The scale is a power of 2;
// it is for numbers whose sum would overflow.
double scaled_mean(std::span<const double> x, double scale) {
    const auto n = static_cast<double>(x.size());
    LongSum total, rest;
    for (const double v : x) total.add(v * scale);
    const double first = total.value() / n;
    if (!std::isfinite(first)) return first;
    for (const double v : x) rest.add(v * scale - first);
    return first + rest.value() / n;
}

}  // namespace

ChainBlock split_chains(std::span<const double> values, std::size_t chains) {
    const std::size_t draws = values.size() / chains, half = draws / 2;
    if (draws == 1) return {chains, 1, {values.begin(), values.end()}};
    ChainBlock block{2 * chains, half, {}};
    block.values.reserve(2 * chains * half);
    for (std::size_t c = 0; c < chains; ++c) {
        const std::span<const double> chain = values.subspan(c * draws, draws);
        const std::span<const double> first = chain.first(half), last = chain.last(half);
        block.values.insert(block.values.end(), first.begin(), first.end());
        block.values.insert(block.values.end(), last.begin(), last.end());
    }
    return block;
}

double mean(std::span<const double> x) {
    const double plain = scaled_mean(x, 1);
    return std::isfinite(plain) ? plain : scaled_mean(x, 0x1p-64) * 0x1p64;
}

double variance(std::span<const double> x) {
    if (x.size() < 2) return nothing;
    const double centre = mean(x);
    LongSum total;
    for (const double v : x) total.add((v - centre) * (v - centre));
    return total.value() / static_cast<double>(x.size() - 1);
}

bool any_nan(std::span<const double> x) {
    return std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}

bool degenerate(std::span<const double> x) {
    if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); })) return true;
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    return *most - *least < std::numeric_limits<double>::epsilon();
}

std::vector<double> sorted(std::span<const double> x) {
    std::vector<double> values(x.begin(), x.end());
    std::sort(values.begin(), values.end());
    return values;
}

double quantile_of_sorted(std::span<const double> sorted, double p) {
    // Every product is rounded for itself, whatever the compiler would rather do: whether a draw is at most its own
    // quantile must not depend on the machine.
    const volatile double steps = static_cast<double>(sorted.size() - 1) * p;
    const double index = 1 + steps, below = std::floor(index), share = index - below;
    const double low = sorted[static_cast<std::size_t>(below) - 1];
    const double high = sorted[static_cast<std::size_t>(std::ceil(index)) - 1];
    if (share == 0 || low == high) return low;
    const volatile double from_low = (1 - share) * low, from_high = share * high;
    return from_low + from_high;
}

double median_of_sorted(std::span<const double> sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : mean(sorted.subspan(half - 1, 2));
}

void check_probability(const char* function, double p) {
    if (!(p >= 0 && p <= 1))
        throw ValueError(std::string(function) + ": p is " + to_text(p) + "; it must be between 0 and 1");
}

std::vector<PlacedDraw> ascending(std::span<const double> x) {
    std::vector<PlacedDraw> order(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) order[i] = {x[i], i};
    std::sort(order.begin(), order.end(), less);
    return order;
}

// Below the median the distances descend, above it they ascend: two sorted runs, once the first is turned round.
void fold(std::vector<PlacedDraw>& order, double median) {
    const auto above =
        std::partition_point(order.begin(), order.end(), [&](const PlacedDraw& draw) { return draw.value < median; });
    for (PlacedDraw& draw : order) draw.value = std::abs(draw.value - median);
    std::reverse(order.begin(), above);
    std::inplace_merge(order.begin(), above, order.end(), less);
}

void normalise_ranks(std::span<const PlacedDraw> order, std::span<double> out) {
    const std::size_t n = order.size();
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && order[end].value == order[begin].value) ++end;
        const double rank = 0.5 * static_cast<double>(begin + 1 + end);
        const double z = normal_quantile((rank - 0.375) / (static_cast<double>(n) + 0.25));
        for (std::size_t i = begin; i < end; ++i) out[order[i].place] = z;
    }
}

}  // namespace pollen::detail
