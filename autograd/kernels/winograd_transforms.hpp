#pragma once

#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/kernels/rounding.hpp>

// Winograd's algorithms for a line of m results y and r taps g of a kernel, from the m + r - 1 = 6 numbers d below
// them:
//
//     y_i = sum_k d_{i+k} g_k        y = A' [(G g) . (B' d)]        . multiplies number by number
//
// The same three matrices serve the two derivatives, with the matrices transposed:
//
//     dL/dd = B [(G g) . (A dL/dy)]        dL/dg = G' [(B' d) . (A dL/dy)]
//
// They multiply polynomials by their values at some points (Winograd 1980; Lavin and Gray 2016). In two dimensions a
// transform is applied to the columns, then to the rows.
//
// Rounding errors of the products grow by sum_t |a_t|^2 |b_t|^2 |g_t|^2 / (m r), a_t, b_t and g_t the rows of A, B' and
// G of point t: 4.8 (m = 4) and 5.4 (m = 2) for six points, 1.8 and 1.9 for seven.
namespace pollen::kernels {

// Evaluates polynomials of `n` coefficients at +-p: even and odd part first.
template <int n, class V>
POLLEN_INLINE inline void even_and_odd(const V (&c)[n], const V& square, V& even, V& odd) {
    constexpr int last_even = (n - 1) / 2 * 2, last_odd = (n - 2) / 2 * 2 + 1;
    even = c[last_even];
    for (int k = last_even - 2; k >= 0; k -= 2) even = multiply_add(even, square, c[k]);
    odd = c[last_odd];
    for (int k = last_odd - 2; k >= 1; k -= 2) odd = multiply_add(odd, square, c[k]);
}

// The points 0, a, -a, b, -b and infinity with a = 5/8 and b = 3/2: the fewest products, 36 for 6 x 6 numbers. These
// two have nearly the smallest errors of all a and b, and all coefficients of A and B are numbers without rounding.
template <int m>
struct SixPoints {
    static constexpr int points = 6, results = m, taps = 7 - m;
    static constexpr float a = 0.625f, b = 1.5f, a2 = a * a, b2 = b * b;
    static constexpr float at_0 = 1 / (a2 * b2), at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));

    // t = B' d
    template <class V>
    POLLEN_INLINE static void data(const V (&d)[6], V (&t)[6]) {
        const V even_a = subtract_product(V(b2), d[2], d[4]), odd_a = subtract_product(V(b2), d[1], d[3]);
        const V even_b = subtract_product(V(a2), d[2], d[4]), odd_b = subtract_product(V(a2), d[1], d[3]);
        t[0] = multiply_add(V(a2 * b2), d[0], subtract_product(V(a2 + b2), d[2], d[4]));
        t[1] = multiply_add(V(a), odd_a, even_a);
        t[2] = subtract_product(V(a), odd_a, even_a);
        t[3] = multiply_add(V(b), odd_b, even_b);
        t[4] = subtract_product(V(b), odd_b, even_b);
        t[5] = multiply_add(V(a2 * b2), d[1], subtract_product(V(a2 + b2), d[3], d[5]));
    }

    // d = B t
    template <class V>
    POLLEN_INLINE static void data_transposed(const V (&t)[6], V (&d)[6]) {
        const V even_a = t[1] + t[2], odd_a = t[1] - t[2], even_b = t[3] + t[4], odd_b = t[3] - t[4];
        d[0] = V(a2 * b2) * t[0];
        d[1] = subtract_product(V(a * b2), odd_a, subtract_product(V(b * a2), odd_b, V(a2 * b2) * t[5]));
        d[2] = subtract_product(V(b2), even_a, subtract_product(V(a2), even_b, V(-(a2 + b2)) * t[0]));
        d[3] = multiply_add(V(a), odd_a, multiply_add(V(b), odd_b, V(-(a2 + b2)) * t[5]));
        d[4] = (t[0] + even_a) + even_b;
        d[5] = t[5];
    }

    // y = A' t
    template <class V>
    POLLEN_INLINE static void result(const V (&t)[6], V (&y)[m]) {
        const V even_a = t[1] + t[2], odd_a = t[1] - t[2], even_b = t[3] + t[4], odd_b = t[3] - t[4];
        y[0] = (t[0] + even_a) + even_b;
        if constexpr (m == 4) {
            y[1] = multiply_add(V(a), odd_a, V(b) * odd_b);
            y[2] = multiply_add(V(a2), even_a, V(b2) * even_b);
            y[3] = multiply_add(V(a2 * a), odd_a, multiply_add(V(b2 * b), odd_b, t[5]));
        } else {
            y[1] = multiply_add(V(a), odd_a, multiply_add(V(b), odd_b, t[5]));
        }
    }

    // t = A y
    template <class V>
    POLLEN_INLINE static void result_transposed(const V (&y)[m], V (&t)[6]) {
        values(y, t);
    }

    // t = G g
    template <class V>
    POLLEN_INLINE static void kernel(const V (&g)[taps], V (&t)[6]) {
        values(g, t);
        t[0] = t[0] * V(at_0);
        t[1] = t[1] * V(at_a);
        t[2] = t[2] * V(at_a);
        t[3] = t[3] * V(at_b);
        t[4] = t[4] * V(at_b);
    }

    // g = G' t
    template <class V>
    POLLEN_INLINE static void kernel_transposed(const V (&t)[6], V (&g)[taps]) {
        V even_a = (t[1] + t[2]) * V(at_a), odd_a = (t[1] - t[2]) * V(at_a * a);
        V even_b = (t[3] + t[4]) * V(at_b), odd_b = (t[3] - t[4]) * V(at_b * b);
        g[0] = multiply_add(V(at_0), t[0], even_a + even_b);
        for (int k = 1; k < taps; ++k) {
            if (k % 2 == 1) {
                g[k] = odd_a + odd_b;
                odd_a = odd_a * V(a2);
                odd_b = odd_b * V(b2);
            } else {
                even_a = even_a * V(a2);
                even_b = even_b * V(b2);
                g[k] = even_a + even_b;
            }
        }
        g[taps - 1] = g[taps - 1] + t[5];
    }

  private:
    template <int n, class V>
    POLLEN_INLINE static void values(const V (&c)[n], V (&t)[6]) {
        V even, odd;
        t[0] = c[0];
        even_and_odd(c, V(a2), even, odd);
        t[1] = multiply_add(V(a), odd, even);
        t[2] = subtract_product(V(a), odd, even);
        even_and_odd(c, V(b2), even, odd);
        t[3] = multiply_add(V(b), odd, even);
        t[4] = subtract_product(V(b), odd, even);
        t[5] = c[n - 1];
    }
};

// The points 0, 1, -1, i and infinity. A product of the complex values at i takes three products of real numbers, so
// there are seven, 49 for 6 x 6 numbers. Everything but G is made of sums alone, and the errors are far smaller.
template <int m>
struct SevenPoints {
    static constexpr int points = 7, results = m, taps = 7 - m;

    // t = B' d
    template <class V>
    POLLEN_INLINE static void data(const V (&d)[6], V (&t)[7]) {
        const V even = d[2] + d[4], odd = d[1] + d[3], real = d[4] - d[2], imaginary = d[1] - d[3];
        t[0] = d[0] - d[4];
        t[1] = even + odd;
        t[2] = even - odd;
        t[3] = real - imaginary;
        t[4] = real + imaginary;
        t[5] = imaginary;
        t[6] = d[5] - d[1];
    }

    // d = B t
    template <class V>
    POLLEN_INLINE static void data_transposed(const V (&t)[7], V (&d)[6]) {
        const V even = t[1] + t[2], odd = t[1] - t[2], real = t[3] + t[4], imaginary = (t[4] - t[3]) + t[5];
        d[0] = t[0];
        d[1] = (odd + imaginary) - t[6];
        d[2] = even - real;
        d[3] = odd - imaginary;
        d[4] = (even + real) - t[0];
        d[5] = t[6];
    }

    // y = A' t
    template <class V>
    POLLEN_INLINE static void result(const V (&t)[7], V (&y)[m]) {
        const V even = t[1] + t[2], odd = t[1] - t[2], real = t[3] + t[5], imaginary = t[4] + t[5];
        y[0] = (t[0] + even) + real;
        if constexpr (m == 4) {
            y[1] = odd + imaginary;
            y[2] = even - real;
            y[3] = (odd - imaginary) + t[6];
        } else {
            y[1] = (odd + imaginary) + t[6];
        }
    }

    // t = A y
    template <class V>
    POLLEN_INLINE static void result_transposed(const V (&y)[m], V (&t)[7]) {
        values(y, t);
    }

    // t = G g. The fourth product has the other sign, which saves one in B.
    template <class V>
    POLLEN_INLINE static void kernel(const V (&g)[taps], V (&t)[7]) {
        values(g, t);
        t[1] = t[1] * V(0.25f);
        t[2] = t[2] * V(0.25f);
        t[3] = t[3] * V(0.5f);
        t[4] = t[4] * V(-0.5f);
        t[5] = t[5] * V(0.5f);
    }

    // g = G' t
    template <class V>
    POLLEN_INLINE static void kernel_transposed(const V (&t)[7], V (&g)[taps]) {
        const V even = (t[1] + t[2]) * V(0.25f), odd = (t[1] - t[2]) * V(0.25f);
        const V real = (t[3] + t[5]) * V(0.5f), imaginary = (t[5] - t[4]) * V(0.5f);
        g[0] = (t[0] + even) + real;
        g[1] = odd + imaginary;
        g[2] = even - real;
        if constexpr (taps == 5) {
            g[3] = odd - imaginary;
            g[4] = even + real;
        }
        g[taps - 1] = g[taps - 1] + t[6];
    }

  private:
    template <int n, class V>
    POLLEN_INLINE static void values(const V (&c)[n], V (&t)[7]) {
        V even, odd, real, imaginary;
        even_and_odd(c, V(1.0f), even, odd);
        even_and_odd(c, V(-1.0f), real, imaginary);
        t[0] = c[0];
        t[1] = even + odd;
        t[2] = even - odd;
        t[3] = real;
        t[4] = imaginary;
        t[5] = real + imaginary;
        t[6] = c[n - 1];
    }
};

}  // namespace pollen::kernels
