#include "random_values.hpp"

#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace pollen;
using namespace pollen::kernels;
using pollen::test::random_values;

namespace {

using Int = std::int64_t;
using Types = std::tuple<float, double>;

struct Size {
    Int m, n, k;
};

std::ostream& operator<<(std::ostream& out, const Size& s) {
    return out << "m = " << s.m << ", n = " << s.n << ", k = " << s.k;
}

// A matrix with room behind its rows, filled with a sentinel that must survive.
template <class T>
constexpr T sentinel = T(12345);

template <class T>
struct Matrix {
    Int rows, columns, ld;
    std::vector<T> values;

    Matrix(Int r, Int c, Int padding, unsigned seed) : rows(r), columns(c), ld(c + padding) {
        values.assign(static_cast<std::size_t>(r * ld), sentinel<T>);
        const std::vector<T> inner = random_values<T>(r * c, seed);
        for (Int i = 0; i < r; ++i)
            for (Int j = 0; j < c; ++j) at(i, j) = inner[static_cast<std::size_t>(i * c + j)];
    }
    T& at(Int i, Int j) { return values[static_cast<std::size_t>(i * ld + j)]; }
    T at(Int i, Int j) const { return values[static_cast<std::size_t>(i * ld + j)]; }
};

// Three loops in long double. Every element of the result must be within the rounding error that any order of summation
// keeps to: (k + 2) eps alpha sum |a b| + 2 eps |beta c|. Of a large result one element in `step` is checked.
template <class T>
void check_gemm(Size s, bool trans_a, bool trans_b, T alpha, T beta, Int padding = 0) {
    const Matrix<T> a(trans_a ? s.k : s.m, trans_a ? s.m : s.k, padding, 1);
    const Matrix<T> b(trans_b ? s.n : s.k, trans_b ? s.k : s.n, 2 * padding, 2);
    const Matrix<T> before(s.m, s.n, 3 * padding, 3);
    Matrix<T> c = before;
    if (beta == T(0))
        for (Int i = 0; i < s.m; ++i)
            for (Int j = 0; j < s.n; ++j) c.at(i, j) = std::numeric_limits<T>::quiet_NaN();
    gemm(trans_a, trans_b, s.m, s.n, s.k, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, c.values.data(),
         c.ld);
    const Int step = s.m * s.n * s.k / 1000000 * 2 + 1;
    bool close = true, kept = true;
    for (Int i = 0; i < s.m; ++i) {
        for (Int j = 0; j < s.n; ++j) {
            if ((i * s.n + j) % step != 0) continue;
            long double sum = 0, size = 0;
            for (Int p = 0; p < s.k; ++p) {
                const long double term = static_cast<long double>(trans_a ? a.at(p, i) : a.at(i, p)) *
                                         static_cast<long double>(trans_b ? b.at(j, p) : b.at(p, j));
                sum += term;
                size += std::abs(term);
            }
            const long double old = static_cast<long double>(beta) * static_cast<long double>(before.at(i, j));
            const long double expected = static_cast<long double>(alpha) * sum + old;
            const long double bound =
                static_cast<long double>(std::numeric_limits<T>::epsilon()) *
                (static_cast<long double>(s.k + 2) * std::abs(static_cast<long double>(alpha)) * size +
                 2 * std::abs(old));
            if (!(std::abs(static_cast<long double>(c.at(i, j)) - expected) <= bound)) close = false;
        }
        for (Int j = s.n; j < c.ld; ++j)
            if (c.at(i, j) != sentinel<T>) kept = false;
    }
    BOOST_TEST(close, s << ", transposes " << trans_a << trans_b << ", alpha " << alpha << ", beta " << beta);
    BOOST_TEST(kept, s << ": written behind a row of C");
}

template <class T>
std::vector<T> product(Size s, bool trans_a, bool trans_b, const std::vector<T>& a, const std::vector<T>& b) {
    std::vector<T> c(static_cast<std::size_t>(s.m * s.n), std::numeric_limits<T>::quiet_NaN());
    gemm(trans_a, trans_b, s.m, s.n, s.k, T(1), a.data(), b.data(), T(0), c.data());
    return c;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// Shapes for each way a product is computed: directly, as a matrix and a vector, in panels; and shared by threads along
// rows, columns and the inner dimension.
const std::vector<Size> large{{300, 290, 310}, {64, 700, 4100}, {32, 25, 9000}, {128, 1200, 200}, {1200, 300, 70},
                              {11, 900, 500},  {900, 7, 600},   {700, 500, 12}, {1, 9000, 33},    {9000, 1, 33},
                              {3, 1, 90000},   {1, 24, 20000},  {1, 1, 300000}};

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_kernel)

BOOST_AUTO_TEST_CASE_TEMPLATE(small_shapes_and_all_transposes, T, Types) {
    const std::array<Int, 12> sizes{0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 24, 31};
    for (const Int m : sizes)
        for (const Int n : sizes)
            for (const Int k : sizes)
                for (const int trans : {0, 1, 2, 3}) check_gemm<T>({m, n, k}, trans & 1, trans & 2, T(1), T(0));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(middle_shapes, T, Types) {
    for (const Size s : {Size{37, 53, 61},
                         {64, 64, 64},
                         {97, 5, 101},
                         {5, 97, 101},
                         {101, 97, 5},
                         {61, 2, 300},
                         {2, 300, 61},
                         {13, 70, 600},
                         {70, 26, 90},
                         {45, 45, 46}})
        for (const int trans : {0, 1, 2, 3}) check_gemm<T>(s, trans & 1, trans & 2, T(-1.5), T(0.5));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(large_shapes, T, Types) {
    for (const Size s : large)
        for (const int trans : {0, 1, 2, 3}) check_gemm<T>(s, trans & 1, trans & 2, T(1), T(0));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(alpha_and_beta, T, Types) {
    for (const T alpha : {T(0), T(1), T(-2.5)})
        for (const T beta : {T(0), T(1), T(0.75)})
            for (const Size s : {Size{10, 10, 10},
                                 {10, 10, 0},
                                 {1, 20, 30},
                                 {20, 1, 30},
                                 {3, 4, 70000},
                                 {60, 70, 80},
                                 {33, 30, 5000},
                                 {200, 200, 200}})
                for (const int trans : {0, 1, 2, 3}) check_gemm<T>(s, trans & 1, trans & 2, alpha, beta);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(rows_further_apart_than_they_are_long, T, Types) {
    for (const Size s :
         {Size{6, 7, 8}, {1, 7, 8}, {6, 1, 8}, {1, 1, 8}, {6, 7, 1}, {60, 70, 80}, {30, 30, 5000}, {300, 200, 100}})
        for (const int trans : {0, 1, 2, 3}) check_gemm<T>(s, trans & 1, trans & 2, T(2), T(-1), 3);
}

// 0 * infinity is NaN: no kernel may skip a zero.
BOOST_AUTO_TEST_CASE_TEMPLATE(nan_and_infinity_go_through, T, Types) {
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const Size s : {Size{5, 9, 6}, {1, 9, 6}, {5, 1, 6}, {70, 80, 90}, {30, 30, 5000}})
        for (const int trans : {0, 1, 2, 3})
            for (const T special : {inf, nan}) {
                std::vector<T> a(static_cast<std::size_t>(s.m * s.k), T(0)),
                    b(static_cast<std::size_t>(s.k * s.n), T(1));
                b[0] = special;  // In the first column of op(B): element (0, 0).
                const std::vector<T> c = product<T>(s, trans & 1, trans & 2, a, b);
                for (Int i = 0; i < s.m; ++i)
                    for (Int j = 0; j < s.n; ++j)
                        BOOST_REQUIRE_EQUAL(std::isnan(c[static_cast<std::size_t>(i * s.n + j)]), j == 0);
                std::fill(a.begin(), a.end(), T(1));
                const std::vector<T> d = product<T>(s, trans & 1, trans & 2, a, b);
                BOOST_TEST((special == inf ? d[0] == inf : std::isnan(d[0])));
            }
}

// The definition in gemm.hpp, by three loops: every product has its bits.
template <class T>
void check_bits(Size s, bool trans_a, bool trans_b, T alpha, T beta, Int padding) {
    const Matrix<T> a(trans_a ? s.k : s.m, trans_a ? s.m : s.k, padding, 1);
    const Matrix<T> b(trans_b ? s.n : s.k, trans_b ? s.k : s.n, padding, 2);
    Matrix<T> c(s.m, s.n, padding, 3), expected = c;
    gemm(trans_a, trans_b, s.m, s.n, s.k, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, c.values.data(),
         c.ld);
    for (Int i = 0; i < s.m; ++i)
        for (Int j = 0; j < s.n; ++j)
            for (Int first = 0; first < s.k; first += 256) {
                T sum = 0;
                for (Int p = first; p < std::min(s.k, first + 256); ++p)
                    sum = std::fma(trans_a ? a.at(p, i) : a.at(i, p), trans_b ? b.at(j, p) : b.at(p, j), sum);
                const T old = first == 0 ? beta : T(1), scaled = alpha * sum;
                T& to = expected.at(i, j);
                to = old == T(0) ? scaled : std::fma(old, to, scaled);
            }
    BOOST_TEST(same_bits(c.values, expected.values), s << ", transposes " << trans_a << trans_b);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_bits_of_the_definition, T, Types) {
    for (const Size s : {Size{1, 1, 1},
                         {1, 1, 1000},
                         {1, 10, 1200},
                         {1, 40, 700},
                         {1, 700, 300},
                         {1, 3000, 20},
                         {3000, 1, 20},
                         {16, 1, 900},
                         {5, 7, 300},
                         {20, 16, 16},
                         {128, 10, 600},
                         {10, 300, 128},
                         {60, 70, 80},
                         {64, 64, 513},
                         {100, 90, 70},
                         {129, 131, 260},
                         {16, 16, 12165},
                         {3, 2, 30000}})
        for (const int trans : {0, 1, 2, 3})
            for (const Int padding : {0, 3}) {
                check_bits<T>(s, trans & 1, trans & 2, T(1), T(0), padding);
                if (s.m * s.n * s.k < 1000000) check_bits<T>(s, trans & 1, trans & 2, T(-1.3), T(0.7), padding);
            }
}

BOOST_AUTO_TEST_CASE(the_bits_of_the_definition_of_more_rows_and_columns_than_are_packed_at_once) {
    for (const Size s : {Size{20000, 26, 17}, {26, 20000, 17}})
        for (const int trans : {0, 3}) check_bits<float>(s, trans & 1, trans & 2, 1, 0, 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_same_bits_at_any_number_of_threads, T, Types) {
    std::vector<Size> sizes = large;
    sizes.insert(sizes.end(), {{1000, 600, 300}, {128, 784, 1200}, {500, 20, 20}});
    for (const Size s : sizes)
        for (const int trans : {0, 1, 2, 3}) {
            const std::vector<T> a = random_values<T>(s.m * s.k, 4), b = random_values<T>(s.k * s.n, 5);
            std::vector<T> one, many;
            with_threads(1, [&] { one = product(s, trans & 1, trans & 2, a, b); });
            for (const int threads : {2, 4, 8}) {
                with_threads(threads, [&] { many = product(s, trans & 1, trans & 2, a, b); });
                BOOST_TEST(same_bits(one, many), s << " differs at " << threads << " threads");
            }
        }
}

BOOST_AUTO_TEST_CASE(many_threads_multiply_at_once) {
    const Size s{56, 56, 56};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&wrong, s, t] {
            const std::vector<float> a = random_values<float>(s.m * s.k, t),
                                     b = random_values<float>(s.k * s.n, 50 + t);
            const std::vector<float> first = product(s, false, true, a, b);
            for (int i = 0; i < 300; ++i)
                if (!same_bits(first, product(s, false, true, a, b))) ++wrong;
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](Int m, Int n, Int k, Int lda, Int ldb, Int ldc) -> std::string {
        try {
            gemm<float>(false, false, m, n, k, 1, nullptr, lda, nullptr, ldb, 0, nullptr, ldc);
        } catch (const ValueError& e) {
            return e.what();
        }
        return "";
    };
    BOOST_TEST(error(-1, 2, 3, 3, 2, 2) == "gemm: m = -1, n = 2, k = 3; no size may be negative");
    BOOST_TEST(error(1, 2, 3, 2, 2, 2) == "gemm: lda = 2; rows of 3 elements need 3 to 2147483647");
    BOOST_TEST(error(2, 2, 2, 2, 2, Int{1} << 31) == "gemm: ldc = 2147483648; rows of 2 elements need 2 to 2147483647");
}

BOOST_AUTO_TEST_SUITE_END()
