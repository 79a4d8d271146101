#pragma once

#include "../../support.hpp"

#include <functional>
#include <limits>

// The tests of the elementwise ops are tables: the op, a reference in long double, where to compare them and how
// closely, and what must come out exactly. test_elementwise_checks.cpp goes through them, and shows that wrong ops are
// caught.
namespace pollen::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// An op in both types, made from a generic lambda.
struct UnaryOp {
    std::function<Var<float>(Var<float>)> in_float;
    std::function<Var<double>(Var<double>)> in_double;
    template <class F>
    UnaryOp(F f) : in_float(f), in_double(f) {}
    Var<float> operator()(Var<float> x) const { return in_float(x); }
    Var<double> operator()(Var<double> x) const { return in_double(x); }
};

struct BinaryOp {
    std::function<Var<float>(Var<float>, Var<float>)> in_float;
    std::function<Var<double>(Var<double>, Var<double>)> in_double;
    template <class F>
    BinaryOp(F f) : in_float(f), in_double(f) {}
    Var<float> operator()(Var<float> x, Var<float> y) const { return in_float(x, y); }
    Var<double> operator()(Var<double> x, Var<double> y) const { return in_double(x, y); }
};

// Points from low to high, in geometric steps where both have one sign, else in even ones. An error is counted in units
// of the last place of the exact number, or of `scale` where that is larger.
struct Range {
    double low, high;
    double scale = 0;
};

// f(x) must be exactly y: NaN for NaN, and zeros with their sign.
struct Exact {
    double x, y;
};
struct ExactPair {
    double x, y, z;
};
struct ExactSlopes {
    double x, y, dx, dy;
};

struct UnaryTable {
    UnaryOp op;
    std::function<long double(long double)> reference = {}, derivative = {};
    std::vector<Range> ranges = {};
    double ulps = 0;             // of the values
    double derivative_ulps = 0;  // of the derivatives, counted in units of the last place of numbers of at least 1
    std::vector<Exact> values = {}, slopes = {};
    std::vector<Range> smooth = {};  // where derivatives are held against differences
};

struct BinaryTable {
    const char* name;
    BinaryOp op;
    std::function<long double(long double, long double)> reference = {};
    std::vector<std::pair<Range, Range>> ranges = {};  // every x with every y
    double ulps = 0;
    std::vector<ExactPair> values = {};
    std::vector<ExactSlopes> slopes = {};
    std::pair<Range, Range> smooth = {};
};

// What is wrong, in words; empty if nothing is. In both types: the reference, exact values and slopes; the same bits
// alone, in every place of short arrays with all kinds of neighbours, and in an array that is cut for several threads;
// no elements at all.
std::string find_error(const UnaryTable& table);
// The same, and every form of broadcasting with its gradients, one input twice, and the error for shapes that do not
// broadcast.
std::string find_error(const BinaryTable& table);

// Runs a table, and holds the gradients against differences.
void check(const UnaryTable& table);
void check(const BinaryTable& table);

}  // namespace pollen::test
