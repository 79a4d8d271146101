#include "../support.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>

namespace pollen::test {

namespace {

using Wide = long double;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// |got - exact| in units of the last place of the exact number, rounded to T.
template <class T>
double ulps(T got, Wide exact) {
    const T nearest = static_cast<T>(exact);
    if (got == nearest || (std::isnan(got) && std::isnan(nearest))) return 0;
    if (!std::isfinite(got) || !std::isfinite(nearest)) return infinity;
    int exponent = 0;
    std::frexp(nearest, &exponent);
    exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
    const Wide unit = std::ldexp(Wide{1}, exponent - std::numeric_limits<T>::digits);
    return static_cast<double>(std::abs(static_cast<Wide>(got) - exact) / unit);
}

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b));
}

struct Function {
    const char* name;
    std::function<float(float)> in_float;
    std::function<double(double)> in_double;
    std::function<Wide(Wide)> exact;
    double bound;
    std::vector<std::pair<double, double>> ranges;
    std::function<Var<float>(Var<float>)> op_float = {};
    std::function<Var<double>(Var<double>)> op_double = {};
};

template <class T, class F>
void check_range(const Function& f, const F& function, double low, double high) {
    Random random(5);
    double worst = 0, at = 0;
    for (int i = 0; i < 4000; ++i) {
        const double u = random.uniform<double>();
        const bool one_sign = low > 0 || high < 0;
        const T x = static_cast<T>(one_sign ? low * std::pow(high / low, u) : low + u * (high - low));
        if (!std::isfinite(x)) continue;
        const double error = ulps<T>(function(x), f.exact(static_cast<Wide>(x)));
        if (error > worst) worst = error, at = static_cast<double>(x);
    }
    BOOST_TEST(worst <= f.bound, f.name << " in " << (sizeof(T) == 4 ? "float" : "double") << ": off by " << worst
                                        << " ulp at " << at << "; the header promises " << f.bound);
}

// The op makes of each number, in a tensor of others, what the function makes of it alone.
template <class T, class F, class Op>
void check_op(const Function& f, const F& function, const Op& op) {
    std::vector<T> numbers{0,
                           T(-0.0),
                           T(infinity),
                           T(-infinity),
                           T(not_a_number),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           1,
                           -1,
                           2,
                           T(-2.5)};
    Random random(6);
    for (int i = 0; i < 500; ++i) numbers.push_back(static_cast<T>(random.normal<double>() * std::pow(10, i % 12 - 3)));
    Tape<T> tape;
    const Tensor<T> y = op(tape.variable(Tensor<T>(Shape{std::ssize(numbers)}, numbers))).value();
    for (std::size_t i = 0; i < numbers.size(); ++i)
        BOOST_TEST(same_bits(function(numbers[i]), y.data()[i]),
                   f.name << "(" << numbers[i] << ") is " << function(numbers[i]) << ", the op's is " << y.data()[i]);
}

void check(const Function& f) {
    for (const auto& [low, high] : f.ranges) {
        check_range<double>(f, f.in_double, low, high);
        check_range<float>(f, f.in_float, low, high);
    }
    if (!f.op_double) return;
    check_op<double>(f, f.in_double, f.op_double);
    check_op<float>(f, f.in_float, f.op_float);
}

#define POLLEN_FUNCTION(name) \
#name, [](float x) { return pollen::math::name(x); }, [](double x) { return pollen::math::name(x); }
#define POLLEN_OP(name) [](Var<float> x) { return pollen::name(x); }, [](Var<double> x) { return pollen::name(x); }
#define POLLEN_EXACT(name) [](Wide x) { return std::name(x); }

// f(x) and f(x, y) exactly: NaN for NaN, and zeros with their sign.
struct Exact {
    double x, f;
};
struct ExactOfTwo {
    double x, y, f;
};
void check_values(const char* name, double (*f)(double), const std::vector<Exact>& values) {
    for (const auto& [x, expected] : values)
        BOOST_TEST(same_bits(f(x), expected), name << "(" << x << ") is " << f(x) << ", expected " << expected);
}
void check_pairs(const char* name, double (*f)(double, double), const std::vector<ExactOfTwo>& values) {
    for (const auto& [x, y, expected] : values)
        BOOST_TEST(same_bits(f(x, y), expected),
                   name << "(" << x << ", " << y << ") is " << f(x, y) << ", expected " << expected);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(math)

// The reference is the C library in long double, which has 11 more bits.
BOOST_AUTO_TEST_CASE(errors_and_the_bits_of_the_ops) {
    check({POLLEN_FUNCTION(exp), POLLEN_EXACT(exp), 1.1, {{-5, 5}, {-745, 709}, {-103, 88}}, POLLEN_OP(exp)});
    check({POLLEN_FUNCTION(expm1), POLLEN_EXACT(expm1), 1.5, {{-1, 1}, {-40, 700}, {1e-30, 1}}, POLLEN_OP(expm1)});
    check({POLLEN_FUNCTION(log), POLLEN_EXACT(log), 0.9, {{0.5, 2}, {1e-320, 1e308}, {1e-40, 1e38}}, POLLEN_OP(log)});
    check({POLLEN_FUNCTION(log1p), POLLEN_EXACT(log1p), 1.5, {{-0.99, 1}, {1e-30, 1}, {1, 1e300}}, POLLEN_OP(log1p)});
    check({POLLEN_FUNCTION(sin),
           POLLEN_EXACT(sin),
           2.4,
           {{-4, 4}, {1, 1e7}, {1e6, 1e38}, {1e30, 1e308}},
           POLLEN_OP(sin)});
    check({POLLEN_FUNCTION(cos),
           POLLEN_EXACT(cos),
           2.4,
           {{-4, 4}, {1, 1e7}, {1e6, 1e38}, {1e30, 1e308}},
           POLLEN_OP(cos)});
    check({POLLEN_FUNCTION(tanh), POLLEN_EXACT(tanh), 1.5, {{-3, 3}, {1e-300, 1}, {1, 20}}, POLLEN_OP(tanh)});
    check({POLLEN_FUNCTION(erf), POLLEN_EXACT(erf), 1.8, {{-3, 3}, {1e-300, 1}, {1, 6}}, POLLEN_OP(erf)});
    check({POLLEN_FUNCTION(lgamma),
           POLLEN_EXACT(lgamma),
           6,
           {{0.01, 3}, {3, 100}, {1e-300, 1}, {1, 1e300}},
           POLLEN_OP(lgamma)});
    check({POLLEN_FUNCTION(digamma), {}, 0, {}, POLLEN_OP(digamma)});
    check({POLLEN_FUNCTION(sigmoid),
           [](Wide x) { return 1 / (1 + std::exp(-x)); },
           2.4,
           {{-5, 5}, {-740, 40}},
           POLLEN_OP(sigmoid)});
    check({POLLEN_FUNCTION(softplus),
           [](Wide x) { return std::log1p(std::exp(x)); },
           2,
           {{-5, 5}, {-740, 40}},
           POLLEN_OP(softplus)});
}

BOOST_AUTO_TEST_CASE(errors_of_what_is_no_op) {
    check({POLLEN_FUNCTION(exp2), POLLEN_EXACT(exp2), 1.2, {{-1, 1}, {-1074, 1024}, {-149, 128}}});
    check({POLLEN_FUNCTION(log2), POLLEN_EXACT(log2), 0.6, {{0.5, 2}, {0.99, 1.01}, {1e-320, 1e308}, {1e-40, 1e38}}});
    check({POLLEN_FUNCTION(log10), POLLEN_EXACT(log10), 0.6, {{0.5, 2}, {0.99, 1.01}, {1e-320, 1e308}, {1e-40, 1e38}}});
    check({POLLEN_FUNCTION(sinh), POLLEN_EXACT(sinh), 2.5, {{-3, 3}, {1e-300, 1}, {1, 710.4}, {19, 21}}});
    check({POLLEN_FUNCTION(cosh), POLLEN_EXACT(cosh), 1.5, {{-3, 3}, {1, 710.4}, {19, 21}}});
    check(
        {POLLEN_FUNCTION(atan), POLLEN_EXACT(atan), 0.9, {{-3, 3}, {1e-300, 1}, {1, 1e300}, {0.4, 0.43}, {2.3, 2.5}}});
    check(
        {POLLEN_FUNCTION(erfc), POLLEN_EXACT(erfc), 7, {{-6, 0}, {0, 1}, {0.46, 0.48}, {0.5, 5}, {5, 26}, {26, 27.5}}});
}

template <class T>
void check_two() {
    Random random(7);
    double pow_error = 0, atan2_error = 0, hypot_error = 0;
    for (int i = 0; i < 20000; ++i) {
        T x = static_cast<T>(random.normal<double>()), y = static_cast<T>(random.normal<double>());
        const T base = static_cast<T>(std::exp(3 * random.normal<double>())), power = y * (sizeof(T) == 4 ? 10 : 50);
        pow_error = std::max(pow_error, ulps<T>(pollen::math::pow(base, power), std::pow(Wide{base}, Wide{power})));
        const int last = std::numeric_limits<T>::max_exponent - 6;
        if (i % 3 == 0) x = std::ldexp(x, i % last);
        if (i % 3 == 1) x = std::ldexp(x, last), y = std::ldexp(y, last);
        if (i % 7 == 1) x = std::ldexp(x, -2 * last), y = std::ldexp(y, -2 * last);  // denormal some of them
        atan2_error = std::max(atan2_error, ulps<T>(pollen::math::atan2(y, x), std::atan2(Wide{y}, Wide{x})));
        hypot_error = std::max(hypot_error, ulps<T>(pollen::math::hypot(x, y), std::hypot(Wide{x}, Wide{y})));
    }
    BOOST_TEST(pow_error <= 1.2);
    BOOST_TEST(atan2_error <= 0.9);
    BOOST_TEST(hypot_error <= 0.6);
}

BOOST_AUTO_TEST_CASE(errors_of_functions_of_two_numbers) {
    check_two<float>();
    check_two<double>();
    // pow alone and in a tensor
    const Tensor<double> x{0.3, 2, -2, 0, -0.0, 1e300, infinity}, y{-1.7, 0.5, 3, -1, 3, 2, 0};
    const Tensor<double> powers = value<double>([](auto u, auto v) { return pow(u, v); }, x, y);
    for (std::int64_t i = 0; i < x.size(); ++i)
        BOOST_TEST(same_bits(pollen::math::pow(x(i), y(i)), powers(i)), "pow at element " << i);
}

// Literals from mpmath. Of all doubles `worst` is the one nearest to a multiple of pi / 2.
BOOST_AUTO_TEST_CASE(literals) {
    const double worst = 6381956970095103 * 0x1p797;
    BOOST_TEST(ulps(pollen::math::sin(1e22), -0.852200849767188801772706L) <= 2.4);
    BOOST_TEST(ulps(pollen::math::cos(1e22), 0.523214785395138945497594L) <= 2.4);
    BOOST_TEST(pollen::math::sin(worst) == 1);
    BOOST_TEST(ulps(pollen::math::cos(worst), -4.68716592425462761112e-19L) <= 2.4);
    BOOST_TEST(ulps(pollen::math::sin(1.7976931348623157e308), 0.00496195478918406179050267L) <= 2.4);
    BOOST_TEST(ulps(pollen::math::sin(3.4028234663852886e38f), -0.521876523333658540551505L) <= 2.4);
    BOOST_TEST(ulps(pollen::math::erfc(10.0), 2.08848758376254475700e-45L) <= 7);
    BOOST_TEST(ulps(pollen::math::erfc(26.5), 2.21090766426373427592924e-307L) <= 7);
    BOOST_TEST(ulps(pollen::math::atan(0.5), 0.463647609000806116214L) <= 0.9);
}

BOOST_AUTO_TEST_CASE(powers_are_exact) {
    for (int k = -1074; k < 1024; ++k) {
        BOOST_TEST(pollen::math::log2(std::ldexp(1.0, k)) == k);
        BOOST_TEST(pollen::math::exp2(static_cast<double>(k)) == std::ldexp(1.0, k));
    }
    double ten = 1;
    for (int k = 0; k <= 22; ++k, ten *= 10) BOOST_TEST(pollen::math::log10(ten) == k);
}

BOOST_AUTO_TEST_CASE(special_values) {
    const double pi = std::numbers::pi, tiny = std::numeric_limits<double>::denorm_min();
    const double inf = infinity, nan = not_a_number;
    check_values("exp", pollen::math::exp<double>,
                 {{0.0, 1}, {-0.0, 1}, {inf, inf}, {-inf, 0}, {710, inf}, {-746, 0}, {nan, nan}});
    check_values("exp2", pollen::math::exp2<double>,
                 {{0, 1}, {-0.0, 1}, {inf, inf}, {-inf, 0}, {1024, inf}, {-1076, 0}, {nan, nan}});
    check_values("expm1", pollen::math::expm1<double>,
                 {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -1}, {tiny, tiny}, {nan, nan}});
    for (const auto log : {pollen::math::log<double>, pollen::math::log2<double>, pollen::math::log10<double>})
        check_values("log", log, {{0, -inf}, {-0.0, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-inf, nan}, {nan, nan}});
    check_values("log1p", pollen::math::log1p<double>,
                 {{0, 0}, {-0.0, -0.0}, {-1, -inf}, {inf, inf}, {-2, nan}, {tiny, tiny}, {nan, nan}});
    for (const auto odd : {pollen::math::sin<double>, pollen::math::atan<double>, pollen::math::sinh<double>,
                           pollen::math::tanh<double>, pollen::math::erf<double>})
        check_values("odd", odd, {{0, 0}, {-0.0, -0.0}, {tiny, tiny}, {-tiny, -tiny}, {nan, nan}});
    check_values("sin", pollen::math::sin<double>, {{inf, nan}, {-inf, nan}});
    check_values("cos", pollen::math::cos<double>, {{0, 1}, {-0.0, 1}, {inf, nan}, {-inf, nan}, {nan, nan}});
    check_values("atan", pollen::math::atan<double>, {{inf, pi / 2}, {-inf, -pi / 2}, {1, pi / 4}, {-1, -pi / 4}});
    check_values("sinh", pollen::math::sinh<double>, {{inf, inf}, {-inf, -inf}, {711, inf}});
    check_values("cosh", pollen::math::cosh<double>, {{0, 1}, {inf, inf}, {-inf, inf}, {-711, inf}, {nan, nan}});
    check_values("tanh", pollen::math::tanh<double>, {{inf, 1}, {-inf, -1}});
    check_values("erf", pollen::math::erf<double>, {{inf, 1}, {-inf, -1}});
    check_values("erfc", pollen::math::erfc<double>, {{0, 1}, {-0.0, 1}, {inf, 0}, {-inf, 2}, {28, 0}, {nan, nan}});
    check_values("lgamma", pollen::math::lgamma<double>, {{0, inf}, {1, 0}, {2, 0}, {-1, inf}, {inf, inf}, {nan, nan}});
    check_values("sigmoid", pollen::math::sigmoid<double>, {{0, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}});
    check_values("softplus", pollen::math::softplus<double>, {{inf, inf}, {-inf, 0}, {nan, nan}});
    check_pairs("hypot", pollen::math::hypot<double>,
                {{0, -0.0, 0},
                 {3, -4, 5},
                 {inf, nan, inf},
                 {nan, -inf, inf},
                 {nan, 1, nan},
                 {tiny, 0, tiny},
                 {1e308, 1e308, 1.4142135623730951e308},
                 {1.7e308, 1.7e308, inf}});
    check_pairs("atan2", pollen::math::atan2<double>,
                {{0, 0, 0},
                 {-0.0, 0, -0.0},
                 {0, -0.0, pi},
                 {-0.0, -0.0, -pi},
                 {0, -1, pi},
                 {-0.0, -1, -pi},
                 {0, 1, 0},
                 {1, 0, pi / 2},
                 {-1, -0.0, -pi / 2},
                 {inf, inf, pi / 4},
                 {inf, -inf, 3 * (pi / 4)},
                 {-inf, -inf, -3 * (pi / 4)},
                 {1, inf, 0},
                 {-1, -inf, -pi},
                 {inf, 1, pi / 2},
                 {-inf, -1, -pi / 2},
                 {nan, 1, nan},
                 {1, nan, nan}});
    check_pairs("pow", pollen::math::pow<double>,
                {{2, 10, 1024},
                 {-2, 3, -8},
                 {-2, 0.5, nan},
                 {0, 0, 1},
                 {nan, 0, 1},
                 {1, nan, 1},
                 {0, -1, inf},
                 {-0.0, -1, -inf},
                 {0.5, inf, 0},
                 {2, -inf, 0},
                 {-1, inf, 1},
                 {inf, -1, 0}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
