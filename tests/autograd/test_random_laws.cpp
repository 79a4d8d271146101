#include <pollen/autograd/kernels/box_muller.hpp>
#include <pollen/autograd/random.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

// How the numbers are distributed. Each test statistic would exceed its limit once in a million seeds if the numbers
// were truly random; the seeds are fixed. Next to each test stands a generator with a small defect that has to fail it.

namespace {

using namespace pollen;

constexpr double normal_limit = 4.892;      // P(|z| > 4.892) = 1e-6
constexpr double kolmogorov_limit = 2.694;  // 2 exp(-2 x^2) = 1e-6

// P(chi^2 > limit) = 1e-6, by Wilson and Hilferty's cube root.
double chi_squared_limit(double degrees) {
    const double v = 2 / (9 * degrees);
    return degrees * std::pow(1 - v + 4.753 * std::sqrt(v), 3);
}

double chi_squared(const std::vector<double>& counts) {
    const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
    double sum = 0;
    for (const double c : counts) sum += (c - expected) * (c - expected) / expected;
    return sum;
}

bool evenly_spread(const std::vector<double>& counts) {
    return chi_squared(counts) < chi_squared_limit(static_cast<double>(counts.size() - 1));
}

// sqrt(n) times the largest distance between the empirical and the true distribution function.
template <class T, class F>
double kolmogorov(std::vector<T> x, const F& distribution) {
    std::sort(x.begin(), x.end());
    const double n = static_cast<double>(x.size());
    double distance = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double p = distribution(static_cast<double>(x[i])), k = static_cast<double>(i);
        distance = std::max({distance, p - k / n, (k + 1) / n - p});
    }
    return std::sqrt(n) * distance;
}

double normal_cdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

// The first test that standard normals fail, or nothing.
template <class T>
std::string normal_defect(const std::vector<T>& z) {
    const double n = static_cast<double>(z.size());
    double sum[5] = {};
    for (const T x : z) {
        double power = 1;
        for (int k = 1; k <= 4; ++k) sum[k] += power *= static_cast<double>(x);
    }
    // E z^k = 0, 1, 0, 3 and Var z^k = 1, 2, 15, 96
    const double mean[5] = {0, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
    for (int k = 1; k <= 4; ++k)
        if (std::abs(sum[k] - n * mean[k]) > normal_limit * std::sqrt(n * variance[k]))
            return "moment " + std::to_string(k);
    if (kolmogorov(z, normal_cdf) > kolmogorov_limit) return "distribution function";
    for (const double t : {3.0, 4.0}) {
        const double p = std::erfc(t / std::sqrt(2.0));
        const auto beyond =
            std::count_if(z.begin(), z.end(), [&](T x) { return std::abs(static_cast<double>(x)) > t; });
        if (std::abs(static_cast<double>(beyond) - n * p) > normal_limit * std::sqrt(n * p)) return "tails";
    }
    // Numbers 16 apart come from the same two uniforms, those 1, 32 and 64 apart do not.
    for (const std::size_t lag : {1, 16, 32, 64}) {
        double product = 0, squares = 0;
        for (std::size_t i = lag; i < z.size(); ++i) {
            const double a = static_cast<double>(z[i - lag]), b = static_cast<double>(z[i]);
            product += a * b;
            squares += (a * a - 1) * (b * b - 1);
        }
        if (std::abs(product) > normal_limit * std::sqrt(n)) return "correlation at " + std::to_string(lag);
        if (std::abs(squares) > normal_limit * std::sqrt(4 * n))
            return "correlation of squares at " + std::to_string(lag);
    }
    return "";
}

// The pairs that Box and Muller made, z_i and z_{i + distance}: radius and angle, 16 x 16 equally likely cells.
template <class T>
std::vector<double> polar_counts(const std::vector<T>& z, std::size_t distance) {
    std::vector<double> counts(256);
    for (std::size_t i = 0; i + distance < z.size(); ++i) {
        if (i / distance % 2 == 1) continue;
        const double a = static_cast<double>(z[i]), b = static_cast<double>(z[i + distance]);
        const double u = std::exp(-(a * a + b * b) / 2), v = std::atan2(b, a) / (2 * std::acos(-1.0)) + 0.5;
        counts[std::min<std::size_t>(15, static_cast<std::size_t>(16 * u)) * 16 +
               std::min<std::size_t>(15, static_cast<std::size_t>(16 * v))] += 1;
    }
    return counts;
}

template <class T>
std::string uniform_defect(const std::vector<T>& u) {
    if (kolmogorov(u, [](double x) { return x; }) > kolmogorov_limit) return "distribution function";
    std::vector<double> cells(4096), pairs(4096), last(256);
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double x = static_cast<double>(u[i]);
        if (!(x >= 0 && x < 1)) return "range";
        cells[static_cast<std::size_t>(4096 * x)] += 1;
        const double digits = std::ldexp(x, std::numeric_limits<T>::digits);  // a whole number
        if (digits != std::floor(digits)) return "grid";
        last[static_cast<std::size_t>(std::fmod(digits, 256))] += 1;
        if (i % 2 == 1)
            pairs[static_cast<std::size_t>(64 * static_cast<double>(u[i - 1])) * 64 +
                  static_cast<std::size_t>(64 * x)] += 1;
    }
    if (!evenly_spread(cells)) return "cells";
    if (!evenly_spread(pairs)) return "pairs";
    if (!evenly_spread(last)) return "last digits";
    return "";
}

template <class T>
std::vector<T> normals(std::size_t n, const RandomKey& key) {
    std::vector<T> z(n);
    fill_normal(key, 0, z);
    return z;
}

template <class T>
std::vector<T> uniforms(std::size_t n, const RandomKey& key) {
    std::vector<T> u(n);
    fill_uniform(key, 0, u);
    return u;
}

template <class T, class F>
std::vector<T> mapped(std::vector<T> x, const F& f) {
    for (T& e : x) e = static_cast<T>(f(e));
    return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_laws)

BOOST_AUTO_TEST_CASE(normals_are_normal) {
    const std::size_t n = 1 << 20;
    for (const RandomKey& key : {RandomKey{1, 2, 3}, RandomKey{0, 0, 0}}) {
        BOOST_TEST(normal_defect(normals<float>(n, key)) == "");
        BOOST_TEST(normal_defect(normals<double>(n, key)) == "");
        BOOST_TEST(evenly_spread(polar_counts(normals<float>(n, key), 16)));
        BOOST_TEST(evenly_spread(polar_counts(normals<double>(n, key), 16)));
    }
    const std::vector<double> z = normals<double>(n, {1, 2, 3});
    BOOST_TEST(normal_defect(mapped(z, [](double x) { return 1.01 * x; })) == "moment 2");
    BOOST_TEST(normal_defect(mapped(z, [](double x) { return x + 0.01; })) == "moment 1");
    BOOST_TEST(normal_defect(mapped(z, [](double x) { return std::clamp(x, -3.5, 3.5); })) == "tails");
    std::vector<double> repeated = z;
    for (std::size_t i = 100; i < n; i += 100) repeated[i] = repeated[i - 1];
    BOOST_TEST(normal_defect(repeated) == "correlation at 1");
}

// Box and Muller at the ends of their ranges: the largest and smallest radius a word can give, and the axes.
BOOST_AUTO_TEST_CASE(normals_at_the_ends) {
    const auto check = []<class T>(T smallest, double largest_radius, double least_radius) {
        using Batch = xsimd::batch<T, xsimd::default_arch>;
        using Ints = xsimd::batch<typename kernels::BoxMullerConstants<T>::Int, xsimd::default_arch>;
        const auto pair = [](T radius, T angle, int quarter) {
            std::array<Batch, 1> r{Batch(radius)}, a{Batch(angle)};
            kernels::box_muller<T, xsimd::default_arch, 1>(r, a, {Ints(quarter)});
            return std::pair<double, double>(r[0].get(0), a[0].get(0));
        };
        const double tolerance = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
        const double r = largest_radius, s = std::sqrt(0.5), t = tolerance * r;
        BOOST_TEST(std::abs(pair(smallest, 0, 0).first - r) < t);
        BOOST_TEST(pair(smallest, 0, 0).second == 0);
        BOOST_TEST(std::abs(pair(-smallest, 0, 0).first / least_radius - 1) < tolerance);
        BOOST_TEST(std::abs(pair(smallest, 0, 1).second - r) < t);  // the four quarters
        BOOST_TEST(std::abs(pair(smallest, 0, 2).first + r) < t);
        BOOST_TEST(std::abs(pair(smallest, 0, 3).second + r) < t);
        BOOST_TEST(std::abs(pair(smallest, T(0.5), 0).first - r * s) < t);  // and their corners
        BOOST_TEST(std::abs(pair(smallest, T(-0.5), 0).second + r * s) < t);
        const double half = std::sqrt(2 * std::log(2.0));
        BOOST_TEST(std::abs(pair(T(0.5), 0, 0).first / half - 1) < tolerance);  // u = 1/2 from either side
        BOOST_TEST(std::abs(pair(T(-0.5), 0, 0).first / half - 1) < tolerance);
    };
    check(0x1p-32f, std::sqrt(64 * std::log(2.0)), std::sqrt(2 * 0x1p-32));
    check(0x1p-64, std::sqrt(128 * std::log(2.0)), std::sqrt(2 * 0x1p-64));
}

BOOST_AUTO_TEST_CASE(uniforms_are_uniform) {
    const std::size_t n = 1 << 20;
    for (const RandomKey& key : {RandomKey{1, 2, 3}, RandomKey{0, 0, 0}}) {
        BOOST_TEST(uniform_defect(uniforms<float>(n, key)) == "");
        BOOST_TEST(uniform_defect(uniforms<double>(n, key)) == "");
    }
    const std::vector<double> u = uniforms<double>(n, {1, 2, 3});
    BOOST_TEST(uniform_defect(mapped(u, [](double x) { return std::pow(x, 1.02); })) == "distribution function");
    BOOST_TEST(uniform_defect(mapped(u, [](double x) { return std::floor(x * 0x1p32) * 0x1p-32; })) == "last digits");
}

// Streams and steps that follow each other, number by number: as good as one stream.
BOOST_AUTO_TEST_CASE(neighbouring_streams_are_independent) {
    std::vector<float> by_stream, by_step, by_seed;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        by_stream.push_back(normal_at<float>({9, i, 0}, 0));
        by_step.push_back(normal_at<float>({9, 0, i}, 0));
        by_seed.push_back(normal_at<float>({i, 0, 0}, 0));
    }
    BOOST_TEST(normal_defect(by_stream) == "");
    BOOST_TEST(normal_defect(by_step) == "");
    BOOST_TEST(normal_defect(by_seed) == "");
}

// 3 * 2^30 values share 2^32 words: without refusing some of these every third value is twice as likely.
BOOST_AUTO_TEST_CASE(numbers_below_n_are_equally_likely) {
    const std::uint64_t n = std::uint64_t{3} << 30;
    Random random(21);
    std::vector<double> thirds(3), twin(3), dice(6), all(256);
    for (int i = 0; i < 60000; ++i) {
        thirds[random.below(n) % 3] += 1;
        twin[random.bits() * n / (std::uint64_t{1} << 32) % 3] += 1;
        dice[random.below(6)] += 1;
        all[random.below(std::uint64_t{1} << 32) >> 24] += 1;
    }
    BOOST_TEST(evenly_spread(thirds));
    BOOST_TEST(!evenly_spread(twin));
    BOOST_TEST(evenly_spread(dice));
    BOOST_TEST(evenly_spread(all));
    BOOST_TEST(random.below(1) == 0u);
}

// All 120 orders of five things; the twin lets each place swap with any other.
BOOST_AUTO_TEST_CASE(all_orders_are_equally_likely) {
    const auto order_number = [](const std::vector<int>& x) {
        std::size_t number = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto smaller =
                std::count_if(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), [&](int e) { return e < x[i]; });
            number = number * (x.size() - i) + static_cast<std::size_t>(smaller);
        }
        return number;
    };
    Random random(31);
    std::vector<double> counts(120), twin(120);
    for (int i = 0; i < 60000; ++i) {
        std::vector<int> x{0, 1, 2, 3, 4}, y = x;
        random.shuffle(x);
        counts[order_number(x)] += 1;
        for (int& e : y) std::swap(e, y[random.below(5)]);
        twin[order_number(y)] += 1;
    }
    BOOST_TEST(evenly_spread(counts));
    BOOST_TEST(!evenly_spread(twin));
}

BOOST_AUTO_TEST_SUITE_END()
