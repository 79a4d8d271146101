#include "random_values.hpp"

#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace pollen;
using namespace pollen::kernels;
using pollen::test::random_values;

namespace {

using Int = std::int64_t;
using Types = std::tuple<float, double>;

std::size_t at(Int i, Int j, Int ld) { return static_cast<std::size_t>(i * ld + j); }

// G G^T / n + I, rows ld apart, with NaN above the diagonal and behind the rows.
template <class T>
std::vector<T> positive_definite(Int n, Int ld, unsigned seed) {
    const std::vector<T> g = random_values<T>(n * n, seed);
    std::vector<T> a(static_cast<std::size_t>(n * ld), std::numeric_limits<T>::quiet_NaN());
    for (Int i = 0; i < n; ++i)
        for (Int j = 0; j <= i; ++j) {
            long double sum = i == j ? static_cast<long double>(n) : 0;
            for (Int p = 0; p < n; ++p)
                sum += static_cast<long double>(g[at(i, p, n)]) * static_cast<long double>(g[at(j, p, n)]);
            a[at(i, j, ld)] = static_cast<T>(sum / static_cast<long double>(n));
        }
    return a;
}

template <class T>
void check_all_close(const std::vector<T>& got, const std::vector<double>& expected) {
    BOOST_REQUIRE_EQUAL(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        BOOST_TEST(std::abs(static_cast<double>(got[i]) - expected[i]) <=
                       8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + std::abs(expected[i])),
                   "element " << i << ": " << got[i] << " instead of " << expected[i]);
}

const std::vector<Int> orders{0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 64, 130, 257};

}  // namespace

BOOST_AUTO_TEST_SUITE(triangular)

// Expected numbers by numpy.linalg.cholesky and scipy.linalg.solve_triangular.
BOOST_AUTO_TEST_CASE_TEMPLATE(known_values, T, Types) {
    const std::vector<T> a{4, 2, -2, 1, 2, 10, 1, 0.5, -2, 1, 6.5, -1, 1, 0.5, -1, 3};
    const std::vector<T> b{1, 2, 3, -4, 0.5, 6, -1, 2.5};
    std::vector<T> l = a;
    BOOST_TEST(cholesky<T>(4, l.data(), 4) == 0);
    check_all_close(l, {2, 2, -2, 1, 1, 3, 1, 0.5, -1, 0.6666666666666666, 2.2484562605386733, -1, 0.5, 0,
                        -0.22237479499833038, 1.6433348564883088});  // Above the diagonal still A.

    const auto solve = [&](Triangle triangle, bool trans, bool unit, const std::vector<T>& matrix) {
        std::vector<T> x = b;
        triangular_solve<T>(triangle, trans, unit, 4, 2, matrix.data(), 4, x.data(), 2);
        return x;
    };
    check_all_close(solve(Triangle::lower, false, false, l),
                    {0.5, 1, 0.8333333333333333, -1.6666666666666665, 0.19766648444296037, 3.607413341084026,
                     -0.7339003072211266, 1.7051897798759665});
    check_all_close(solve(Triangle::lower, true, false, l),
                    {0.251246781399086, 3.0090374799597126, 0.9639574163784831, -1.9597678803852725,
                     0.16219162629682568, 2.8189554617337262, -0.6085187057596586, 1.5212967643991466});
    check_all_close(solve(Triangle::lower, false, true, a), {1, 2, 1, -8, 1.5, 18, -1, 22.5});
    check_all_close(solve(Triangle::upper, false, false, a),
                    {0.1891025641025641, 1.090705128205128, 0.3141025641025641, -0.5467948717948719,
                     0.02564102564102564, 1.0512820512820513, -0.3333333333333333, 0.8333333333333333});
    check_all_close(
        solve(Triangle::upper, true, false, a),
        {0.25, 0.5, 0.25, -0.5, 0.11538461538461539, 1.153846153846154, -0.4198717948717948, 1.1346153846153846});
}

// L L^T gives A back to (n + 2) eps |L| |L^T|, and the numbers outside the triangle are neither read nor written.
BOOST_AUTO_TEST_CASE_TEMPLATE(factors_multiply_back, T, Types) {
    for (const Int n : orders)
        for (const Int padding : {Int{0}, Int{3}}) {
            const Int ld = n + padding;
            const std::vector<T> a = positive_definite<T>(n, ld, 1);
            std::vector<T> l = a;
            BOOST_REQUIRE_EQUAL(cholesky<T>(n, l.data(), ld), 0);
            bool close = true, kept = true;
            for (Int i = 0; i < n; ++i) {
                for (Int j = 0; j <= i; ++j) {
                    long double sum = 0, size = 0;
                    for (Int p = 0; p <= j; ++p) {
                        const long double term =
                            static_cast<long double>(l[at(i, p, ld)]) * static_cast<long double>(l[at(j, p, ld)]);
                        sum += term;
                        size += std::abs(term);
                    }
                    const long double bound = static_cast<long double>(n + 2) *
                                              static_cast<long double>(std::numeric_limits<T>::epsilon()) * size;
                    if (!(std::abs(sum - static_cast<long double>(a[at(i, j, ld)])) <= bound)) close = false;
                }
                for (Int j = i + 1; j < ld; ++j)
                    if (!std::isnan(l[at(i, j, ld)])) kept = false;
            }
            BOOST_TEST(close, "n = " << n);
            BOOST_TEST(kept, "n = " << n);
        }
}

// op(A) X gives B back to (n + 2) eps |A| |X|. The other triangle, and a unit diagonal, hold NaN.
BOOST_AUTO_TEST_CASE_TEMPLATE(solutions_multiply_back, T, Types) {
    for (const Int n : orders)
        for (const Int columns : {Int{0}, Int{1}, Int{2}, Int{19}, Int{300}})
            for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
                if (n > 64 && columns == 300 && kind > 1) continue;
                const bool lower = kind & 1, trans = kind & 2, unit = kind & 4;
                const Int lda = n + 2, ldb = columns + 1;
                std::vector<T> a = random_values<T>(n * lda, 2);
                for (Int i = 0; i < n; ++i)
                    for (Int j = 0; j < lda; ++j) {
                        T& x = a[at(i, j, lda)];
                        if (i == j)
                            x = unit ? std::numeric_limits<T>::quiet_NaN() : T(2) + x;
                        else if (j < n && (j < i) == lower)
                            x /= static_cast<T>(n);
                        else
                            x = std::numeric_limits<T>::quiet_NaN();
                    }
                const std::vector<T> b = random_values<T>(n * ldb, 3);
                std::vector<T> x = b;
                triangular_solve(lower ? Triangle::lower : Triangle::upper, trans, unit, n, columns, a.data(), lda,
                                 x.data(), ldb);
                bool close = true, kept = true;
                for (Int i = 0; i < n; ++i) {
                    for (Int j = 0; j < columns; ++j) {
                        long double sum = 0, size = 0;
                        for (Int p = 0; p < n; ++p) {
                            const Int row = trans ? p : i, column = trans ? i : p;
                            if (row != column && (column < row) != lower) continue;
                            const long double factor =
                                row == column && unit ? 1.0L : static_cast<long double>(a[at(row, column, lda)]);
                            const long double term = factor * static_cast<long double>(x[at(p, j, ldb)]);
                            sum += term;
                            size += std::abs(term);
                        }
                        const long double bound = static_cast<long double>(n + 2) *
                                                  static_cast<long double>(std::numeric_limits<T>::epsilon()) * size;
                        if (!(std::abs(sum - static_cast<long double>(b[at(i, j, ldb)])) <= bound)) close = false;
                    }
                    if (x[at(i, columns, ldb)] != b[at(i, columns, ldb)]) kept = false;
                }
                BOOST_TEST(close, "n = " << n << ", columns = " << columns << ", kind " << kind);
                BOOST_TEST(kept, "n = " << n << ", columns = " << columns << ", kind " << kind);
            }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_failing_pivot_is_named, T, Types) {
    for (const Int n : {Int{1}, Int{5}, Int{8}, Int{9}, Int{40}, Int{200}})
        for (const Int bad : {Int{0}, n / 2, n - 1})
            for (const T pivot : {T(0), T(-1)}) {
                std::vector<T> a(static_cast<std::size_t>(n * n), T(0));
                for (Int i = 0; i < n; ++i) a[at(i, i, n)] = i == bad ? pivot : T(4);
                BOOST_TEST(cholesky(n, a.data(), n) == bad + 1);
            }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_goes_through, T, Types) {
    for (const Int n : {Int{1}, Int{3}, Int{40}}) {
        std::vector<T> a = positive_definite<T>(n, n, 4);
        a[at(n - 1, 0, n)] = std::numeric_limits<T>::quiet_NaN();
        BOOST_TEST(cholesky(n, a.data(), n) == 0);
        BOOST_TEST(std::isnan(a[at(n - 1, n - 1, n)]));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_same_bits_at_any_number_of_threads, T, Types) {
    const Int n = 100, columns = 5000;
    std::vector<T> l = positive_definite<T>(n, n, 5);
    BOOST_REQUIRE_EQUAL(cholesky(n, l.data(), n), 0);
    std::vector<T> one;
    for (const int threads : {1, 2, 4, 8}) {
        std::vector<T> x = random_values<T>(n * columns, 6);
        with_threads(threads, [&] {
            triangular_solve(Triangle::lower, false, false, n, columns, l.data(), n, x.data(), columns);
        });
        if (threads == 1) one = x;
        const bool same = std::memcmp(one.data(), x.data(), x.size() * sizeof(T)) == 0;
        BOOST_TEST(same, "differs at " << threads << " threads");
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    const std::string rest =
        "; no size may be negative, and rows are as far apart as they are long or further, up to 2147483647";
    const auto text_is = [&](const std::string& start) {
        return [text = start + rest](const ValueError& e) { return e.what() == text; };
    };
    BOOST_CHECK_EXCEPTION(cholesky<double>(-1, nullptr, 1), ValueError,
                          text_is("cholesky: n = -1, columns = 0, lda = 1, ldb = 0"));
    BOOST_CHECK_EXCEPTION(triangular_solve<double>(Triangle::lower, false, false, 3, 2, nullptr, 2, nullptr, 2),
                          ValueError, text_is("triangular_solve: n = 3, columns = 2, lda = 2, ldb = 2"));
}

BOOST_AUTO_TEST_SUITE_END()
