#include "elementwise_checks.hpp"

#include <cstring>
#include <sstream>

namespace pollen::test {

namespace {

// The distance between neighbouring numbers of T about y.
template <class T>
long double unit_of(long double y) {
    int exponent = 0;
    std::frexp(y, &exponent);
    const int smallest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    return std::ldexp(1.0L, y == 0 ? smallest : std::max(exponent - std::numeric_limits<T>::digits, smallest));
}

template <class T>
bool close(T got, long double exact, double ulps, double scale) {
    const T rounded = static_cast<T>(exact);
    if (got == rounded || (std::isnan(got) && std::isnan(rounded))) return true;
    // Next to the largest number an error of one unit may be the step to infinity.
    if (std::isinf(got)) exact = std::nextafter(rounded, got) == got ? got : exact;
    const long double unit = unit_of<T>(std::max(std::abs(exact), static_cast<long double>(scale)));
    return std::abs(static_cast<long double>(got) - exact) <= ulps * unit;
}

template <class T>
bool same(T a, T b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
std::vector<T> points(const Range& range, int count) {
    std::vector<T> x;
    const bool geometric = range.low * range.high > 0;
    for (int i = 0; i < count; ++i) {
        const long double t = (i + 0.0L) / (count - 1);
        const long double v = geometric
                                  ? range.low * std::pow(std::abs(range.high / static_cast<long double>(range.low)), t)
                                  : range.low + (range.high - static_cast<long double>(range.low)) * t;
        if (std::abs(v) <= std::numeric_limits<T>::max()) x.push_back(static_cast<T>(v));
    }
    return x;
}

template <class T>
Tensor<T> vector_of(const std::vector<T>& x) {
    return Tensor<T>(Shape{static_cast<std::int64_t>(x.size())}, x);
}

// Values and derivatives of a function of k inputs of one shape.
template <class T>
struct Result {
    Tensor<T> value;
    std::vector<Tensor<T>> slopes;
};
template <class T, class F>
Result<T> run_on(const F& f, const std::vector<Tensor<T>>& inputs) {
    Tape<T> tape;
    std::vector<Var<T>> x;
    for (const Tensor<T>& input : inputs) x.push_back(tape.variable(input));
    const Var<T> y = f(x);
    tape.backward(y, Tensor<T>::ones(y.shape()));
    Result<T> result{y.value(), {}};
    for (const Var<T>& input : x) result.slopes.push_back(input.grad());
    return result;
}
template <class T>
Result<T> run(const UnaryOp& op, const Tensor<T>& x) {
    return run_on<T>([&](const std::vector<Var<T>>& in) { return op(in[0]); }, {x});
}
template <class T>
Result<T> run(const BinaryOp& op, const Tensor<T>& x, const Tensor<T>& y) {
    return run_on<T>([&](const std::vector<Var<T>>& in) { return op(in[0], in[1]); }, {x, y});
}

template <class T, class... Numbers>
std::string complain(const char* what, T got, long double expected, Numbers... at) {
    std::ostringstream text;
    text.precision(std::numeric_limits<T>::max_digits10);
    text << (sizeof(T) == 4 ? "float: " : "double: ") << what << " at";
    ((text << ' ' << at), ...);
    text << " is " << got << ", not " << static_cast<T>(expected);
    if (std::isfinite(got)) text << ", off by " << std::abs(got - expected) / unit_of<T>(expected) << " ulp";
    return text.str();
}

// Each number alone, and then in place i of arrays of n: the bits must be the same.
template <class T, class F>
std::string find_place_error(const F& f, const std::vector<std::vector<T>>& columns) {
    const std::size_t count = columns[0].size();
    std::vector<T> alone;
    std::vector<std::vector<T>> slopes(columns.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<Tensor<T>> at;
        for (const auto& column : columns) at.push_back(Tensor<T>::scalar(column[i]));
        const Result<T> one = run_on<T>(f, at);
        alone.push_back(one.value.item());
        for (std::size_t k = 0; k < columns.size(); ++k) slopes[k].push_back(one.slopes[k].item());
    }
    std::vector<std::size_t> sizes{0, 70001};
    for (std::size_t n = 1; n <= 40; ++n) sizes.push_back(n);
    for (const std::size_t n : sizes) {
        std::vector<Tensor<T>> in;
        for (const auto& column : columns) {
            std::vector<T> part;
            for (std::size_t i = 0; i < n; ++i) part.push_back(column[(i * 7 + n) % count]);
            in.push_back(vector_of(part));
        }
        const Result<T> all = run_on<T>(f, in);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t j = (i * 7 + n) % count;
            if (!same(all.value.data()[i], alone[j]))
                return complain("place and size: the value", all.value.data()[i], alone[j], i, n, columns[0][j]);
            for (std::size_t k = 0; k < columns.size(); ++k) {
                if (!same(all.slopes[k].data()[i], slopes[k][j]))
                    return complain("place and size: the slope", all.slopes[k].data()[i], slopes[k][j], i, n,
                                    columns[0][j]);
            }
        }
    }
    for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}}) {
        const Result<T> none = run_on<T>(f, std::vector<Tensor<T>>(columns.size(), Tensor<T>::zeros(shape)));
        if (!(none.value.shape() == shape) || !(none.slopes[0].shape() == shape))
            return "no elements: shape " + to_string(none.value.shape()) + " from " + to_string(shape);
    }
    return "";
}

template <class T>
std::string find_error_in(const UnaryTable& table) {
    std::vector<T> mixed;  // ordinary and special numbers side by side
    for (const Range& range : table.ranges) {
        const std::vector<T> x = points<T>(range, 2000);
        const Result<T> got = run<T>(table.op, vector_of(x));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const T value = got.value.data()[i], slope = got.slopes[0].data()[i];
            const long double exact = table.reference(x[i]);
            if (!close(value, exact, table.ulps, range.scale)) return complain("the value", value, exact, x[i]);
            if (!table.derivative) continue;
            const long double exact_slope = table.derivative(x[i]);
            if (!close(slope, exact_slope, table.derivative_ulps, std::max(1.0, range.scale)))
                return complain("the slope", slope, exact_slope, x[i]);
        }
        for (std::size_t i = 0; i < x.size(); i += 331) mixed.push_back(x[i]);
    }
    for (const Exact& e : table.values) {
        const T got = run<T>(table.op, Tensor<T>::scalar(static_cast<T>(e.x))).value.item();
        if (!same(got, static_cast<T>(e.y))) return complain("the exact value", got, e.y, e.x);
        mixed.push_back(static_cast<T>(e.x));
    }
    for (const Exact& e : table.slopes) {
        const T got = run<T>(table.op, Tensor<T>::scalar(static_cast<T>(e.x))).slopes[0].item();
        if (!(got == static_cast<T>(e.y) || (std::isnan(got) && std::isnan(e.y))))
            return complain("the exact slope", got, e.y, e.x);
    }
    return find_place_error<T>([&](const std::vector<Var<T>>& x) { return table.op(x[0]); }, {mixed});
}

// The element of a tensor of shape `shape` that lands at `at` of the shape `out`.
std::int64_t source(std::int64_t at, const Shape& shape, const Shape& out) {
    std::int64_t offset = 0, stride = 1;
    for (int back = 0; back < out.rank(); ++back) {
        const std::int64_t index = at % out[out.rank() - 1 - back];
        at /= out[out.rank() - 1 - back];
        if (back >= shape.rank()) continue;
        const std::int64_t size = shape[shape.rank() - 1 - back];
        offset += (size == 1 ? 0 : index) * stride;
        stride *= size;
    }
    return offset;
}

const std::vector<std::pair<Shape, Shape>> broadcast_forms{{{3, 4}, {4}},
                                                           {{4}, {3, 4}},
                                                           {{3, 4}, {3, 1}},
                                                           {{3, 1}, {1, 4}},
                                                           {{}, {3, 4}},
                                                           {{3, 4}, {}},
                                                           {{1}, {5}},
                                                           {{2, 3, 4}, {3, 1}},
                                                           {{2, 1, 4}, {3, 1}},
                                                           {{2, 3}, {2, 1}},
                                                           {{1, 1}, {}},
                                                           {{}, {}},
                                                           {{2, 1, 2, 1, 2, 1}, {3, 1, 2, 1, 2}},
                                                           {{0, 3}, {3}},
                                                           {{0}, {1}},
                                                           {{2, 0}, {2, 1}},
                                                           {{9, 17}, {17}}};

template <class T>
std::string find_error_in(const BinaryTable& table) {
    std::vector<T> mixed_x, mixed_y;
    for (const auto& [range_x, range_y] : table.ranges) {
        const std::vector<T> xs = points<T>(range_x, 61), ys = points<T>(range_y, 59);
        std::vector<T> x, y;
        for (const T u : xs) {
            for (const T v : ys) x.push_back(u), y.push_back(v);
        }
        const Tensor<T> got = run<T>(table.op, vector_of(x), vector_of(y)).value;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const long double exact = table.reference(x[i], y[i]);
            if (!close(got.data()[i], exact, table.ulps, 0))
                return complain("the value", got.data()[i], exact, x[i], y[i]);
        }
        for (std::size_t i = 0; i < x.size(); i += 331) mixed_x.push_back(x[i]), mixed_y.push_back(y[i]);
    }
    for (const ExactPair& e : table.values) {
        const T x = static_cast<T>(e.x), y = static_cast<T>(e.y);
        const T got = run<T>(table.op, Tensor<T>::scalar(x), Tensor<T>::scalar(y)).value.item();
        if (!same(got, static_cast<T>(e.z))) return complain("the exact value", got, e.z, e.x, e.y);
        mixed_x.push_back(x), mixed_y.push_back(y);
    }
    for (const ExactSlopes& e : table.slopes) {
        const Result<T> got =
            run<T>(table.op, Tensor<T>::scalar(static_cast<T>(e.x)), Tensor<T>::scalar(static_cast<T>(e.y)));
        const T slopes[] = {got.slopes[0].item(), got.slopes[1].item()},
                expected[] = {static_cast<T>(e.dx), static_cast<T>(e.dy)};
        for (int k = 0; k < 2; ++k) {
            if (!(slopes[k] == expected[k] || (std::isnan(slopes[k]) && std::isnan(expected[k]))))
                return complain(k ? "the exact slope in y" : "the exact slope in x", slopes[k], expected[k], e.x, e.y);
        }
    }
    for (const auto& [from_x, from_y] : broadcast_forms) {
        const Tensor<T> x = cast<T>(uniforms(from_x, table.smooth.first.low, table.smooth.first.high));
        const Tensor<T> y = cast<T>(uniforms(from_y, table.smooth.second.low, table.smooth.second.high, 2));
        const Shape out = broadcast("test", from_x, from_y);
        const Tensor<T> got = run<T>(table.op, x, y).value;
        if (!(got.shape() == out)) return "broadcasting " + to_string(from_x) + " and " + to_string(from_y);
        for (std::int64_t i = 0; i < out.size(); ++i) {
            const T u = x.data()[source(i, from_x, out)], v = y.data()[source(i, from_y, out)];
            const T alone = run<T>(table.op, Tensor<T>::scalar(u), Tensor<T>::scalar(v)).value.item();
            if (!same(got.data()[i], alone)) return complain("broadcasting: the value", got.data()[i], alone, u, v, i);
        }
    }
    const std::string message = error_of<ShapeError>([&] {
        run<T>(table.op, Tensor<T>::zeros({2, 3}), Tensor<T>::zeros({4, 3}));
    });
    const std::string expected =
        std::string(table.name) +
        ": shapes (2, 3) and (4, 3) do not broadcast: axis 0 is 2 and 4; sizes must be equal or 1";
    if (message != expected) return "the error for bad shapes is `" + message + "`, not `" + expected + "`";
    return find_place_error<T>([&](const std::vector<Var<T>>& x) { return table.op(x[0], x[1]); }, {mixed_x, mixed_y});
}

}  // namespace

std::string find_error(const UnaryTable& table) {
    const std::string error = find_error_in<float>(table);
    return error.empty() ? find_error_in<double>(table) : error;
}

std::string find_error(const BinaryTable& table) {
    const std::string error = find_error_in<float>(table);
    return error.empty() ? find_error_in<double>(table) : error;
}

void check(const UnaryTable& table) {
    const std::string error = find_error(table);
    BOOST_TEST(error.empty(), error);
    for (const Range& range : table.smooth) {
        check_gradients(table.op, uniforms({3, 7}, range.low, range.high));
        check_gradients(table.op, uniforms({}, range.low, range.high));
    }
}

void check(const BinaryTable& table) {
    const std::string error = find_error(table);
    BOOST_TEST(error.empty(), error);
    const auto& [x, y] = table.smooth;
    check_gradients(table.op, uniforms({3, 7}, x.low, x.high), uniforms({3, 7}, y.low, y.high, 2));
    for (const auto& [from_x, from_y] : broadcast_forms) {
        check_gradients(table.op, uniforms(from_x, x.low, x.high), uniforms(from_y, y.low, y.high, 2));
    }
}

BOOST_AUTO_TEST_SUITE(elementwise_checks)

const UnaryTable cube{.op = [](auto x) { return x * x * x; },
                      .reference = [](long double x) { return x * x * x; },
                      .derivative = [](long double x) { return 3 * x * x; },
                      .ranges = {{-2, 2}},
                      .ulps = 1.5,
                      .derivative_ulps = 3,
                      .values = {{2, 8}, {nan, nan}, {-inf, -inf}},
                      .slopes = {{2, 12}}};

BOOST_AUTO_TEST_CASE(finds_what_is_wrong) {
    BOOST_TEST(find_error(cube) == "");

    UnaryTable wrong = cube;
    wrong.op = [](auto x) { return x * x * x * 1.0000003; };
    BOOST_TEST(find_error(wrong).starts_with("float: the value at"));
    wrong.op = UnaryOp([](auto x) { return x * x * x; });
    wrong.op.in_double = [](Var<double> x) { return x * x * x * (1 + 4e-16); };
    BOOST_TEST(find_error(wrong).starts_with("double: the value at"));
    wrong.op = [](auto x) { return x * x * x.detach(); };
    BOOST_TEST(find_error(wrong).starts_with("float: the slope at"));

    wrong = cube;
    wrong.values = {{2, 9}};
    BOOST_TEST(find_error(wrong).starts_with("float: the exact value at 2"));
    wrong.values = {{-0.0, 0.0}};
    BOOST_TEST(find_error(wrong).starts_with("float: the exact value at -0"));
    wrong = cube;
    wrong.slopes = {{2, 11}};
    BOOST_TEST(find_error(wrong).starts_with("float: the exact slope at 2"));
}

// A number that depends on where it stands.
BOOST_AUTO_TEST_CASE(finds_wrong_places) {
    UnaryTable wrong = cube;
    wrong.op = [](auto x) {
        auto y = x * x * x;
        return y.size() == 37 ? y + 1 : y;
    };
    BOOST_TEST(find_error(wrong).starts_with("float: place and size: the value at"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
