#!/usr/bin/python3
"""Writes reference.inc: log densities, their partial derivatives and distribution functions over wide grids.

All numbers come from mpmath with 50 digits; where SciPy has the same distribution its value is held against them.
Packages: python3-mpmath, python3-scipy. Run as: ./reference.py > reference.inc
"""
import itertools
import sys

import scipy.stats as st
from mpmath import mp, mpf

mp.dps = 50
half_log_2pi = mp.log(2 * mp.pi) / 2


def normal_cdf(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def summed(first, ratio):
    """first (1 + ratio(1) (1 + ratio(2) (...))), all terms positive."""
    total = term = first
    n = 0
    while term > total * mpf(10) ** -45:
        n += 1
        term *= ratio(n)
        total += term
    return total


def lower_gamma(a, x):
    return summed(mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)), lambda n: x / (a + n))


def poisson_cdf(x, r):
    if r <= x:
        return 1 - lower_gamma(x + 1, r)
    return summed(mp.exp(x * mp.log(r) - r - mp.loggamma(x + 1)), lambda n: max(0, x - n + 1) / r)


def lower_beta(a, b, x, y):
    """Abramowitz and Stegun 26.5.8, evaluated from its far end."""
    if x * (b + 1) > y * (a + 1):
        return 1 - lower_beta(b, a, y, x)
    first = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)) / a
    old, terms = None, 64
    while True:
        f = mpf(1)
        for m in range(terms, 0, -1):
            f = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / f
            f = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / f
        f = 1 - (a + b) * x / (a + 1) / f
        if old is not None and abs(f / old - 1) < mpf(10) ** -40:
            return first / f
        old, terms = f, 2 * terms


def student_cdf(x, n, m, s):
    a2 = ((x - m) / s) ** 2 / n
    tail = lower_beta(n / 2, mpf(1) / 2, 1 / (1 + a2), a2 / (1 + a2)) / 2
    return tail if x < m else 1 - tail


laws = {
    "normal": dict(
        f=lambda x, m, s: -((x - m) / s) ** 2 / 2 - mp.log(s) - half_log_2pi,
        cdf=lambda x, m, s: normal_cdf((x - m) / s),
        scipy=lambda x, m, s: st.norm(m, s).logpdf(x),
        x=[-40.0, -3.25, -0.1, 0.0, 1e-8, 0.7, 8.0, 30.0, 1e5],
        p=[[0.0, -2.5, 1e3], [1.0, 0.01, 37.5, 1e-3]]),
    "half_normal": dict(
        f=lambda x, s: -(x / s) ** 2 / 2 - mp.log(s) + mp.log(2 / mp.pi) / 2,
        cdf=lambda x, s: mp.erf(x / s / mp.sqrt(2)),
        scipy=lambda x, s: st.halfnorm(scale=s).logpdf(x),
        x=[1e-12, 0.003, 0.5, 1.0, 6.0, 35.0, 1e4], p=[[1.0, 0.02, 50.0]]),
    "half_cauchy": dict(
        f=lambda x, s: mp.log(2 / mp.pi) - mp.log(s) - mp.log(1 + (x / s) ** 2),
        cdf=lambda x, s: 2 / mp.pi * mp.atan(x / s),
        scipy=lambda x, s: st.halfcauchy(scale=s).logpdf(x),
        x=[1e-12, 0.003, 0.5, 1.0, 6.0, 35.0, 1e4, 1e20, 1e200], p=[[1.0, 0.02, 25.0]]),
    "exponential": dict(
        f=lambda x, r: mp.log(r) - r * x,
        cdf=lambda x, r: -mp.expm1(-r * x),
        scipy=lambda x, r: st.expon(scale=1 / r).logpdf(x),
        x=[1e-15, 0.01, 0.4, 1.0, 3.5, 200.0, 1e5], p=[[1.0, 0.003, 40.0]]),
    "student_t": dict(
        f=lambda x, n, m, s: mp.loggamma((n + 1) / 2) - mp.loggamma(n / 2) - mp.log(n * mp.pi) / 2 - mp.log(s)
        - (n + 1) / 2 * mp.log(1 + ((x - m) / s) ** 2 / n),
        cdf=student_cdf,
        scipy_cdf=lambda x, n, m, s: st.t(n, m, s).cdf(x),
        scipy=lambda x, n, m, s: st.t(n, m, s).logpdf(x),
        x=[-1e8, -50.0, -2.0, 0.3, 1.0, 7.0, 1e4, 1e40],
        p=[[0.3, 1.0, 4.0, 11.5, 45.0, 1e3, 1e6], [0.0, 0.75], [1.0, 0.05]]),
    "cauchy": dict(
        f=lambda x, m, s: -mp.log(mp.pi) - mp.log(s) - mp.log(1 + ((x - m) / s) ** 2),
        cdf=lambda x, m, s: mp.atan2(1, (m - x) / s) / mp.pi,
        scipy=lambda x, m, s: st.cauchy(m, s).logpdf(x),
        x=[-1e200, -1e8, -50.0, -2.0, 0.3, 1.0, 7.0, 1e4, 1e40], p=[[0.0, 0.75], [1.0, 0.05, 300.0]]),
    "log_normal": dict(
        f=lambda x, m, s: -((mp.log(x) - m) / s) ** 2 / 2 - mp.log(x) - mp.log(s) - half_log_2pi,
        cdf=lambda x, m, s: normal_cdf((mp.log(x) - m) / s),
        scipy=lambda x, m, s: st.lognorm(s, scale=float(mp.exp(m))).logpdf(x),
        x=[1e-200, 1e-6, 0.2, 1.0, 1.5, 40.0, 1e9], p=[[0.0, -3.0, 2.5], [1.0, 0.25, 8.0]]),
    "laplace": dict(
        f=lambda x, m, s: -abs(x - m) / s - mp.log(2 * s),
        cdf=lambda x, m, s: mp.exp((x - m) / s) / 2 if x < m else 1 - mp.exp((m - x) / s) / 2,
        scipy=lambda x, m, s: st.laplace(m, s).logpdf(x),
        x=[-400.0, -3.0, -0.1, 1e-9, 0.9, 12.0, 1e6], p=[[0.0, 0.75], [1.0, 0.6, 40.0]]),
    "gamma": dict(
        f=lambda x, a, b: a * mp.log(b) - mp.loggamma(a) + (a - 1) * mp.log(x) - b * x,
        cdf=lambda x, a, b: lower_gamma(a, b * x),
        scipy_cdf=lambda x, a, b: st.gamma(a, scale=1 / b).cdf(x),
        scipy=lambda x, a, b: st.gamma(a, scale=1 / b).logpdf(x),
        x=[1e-20, 1e-3, 0.2, 1.0, 4.5, 9.0, 60.0, 1e3],
        p=[[1e-3, 0.3, 1.0, 2.5, 8.9, 9.1, 80.0, 1e3, 1e5], [1.0, 0.04, 30.0]]),
    "beta": dict(
        f=lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.log(mp.beta(a, b)),
        cdf=lambda x, a, b: lower_beta(a, b, x, 1 - x),
        scipy_cdf=lambda x, a, b: st.beta(a, b).cdf(x),
        scipy=lambda x, a, b: st.beta(a, b).logpdf(x),
        x=[1e-30, 1e-3, 0.2, 0.5, 0.77, 0.999],
        p=[[0.02, 0.5, 1.0, 3.0, 9.5, 70.0, 2e4], [0.02, 0.5, 1.0, 4.0, 9.5, 300.0]]),
    "uniform": dict(
        f=lambda x, l, h: -mp.log(h - l) + 0 * x, cdf=lambda x, l, h: (x - l) / (h - l),
        scipy=lambda x, l, h: st.uniform(l, h - l).logpdf(x),
        x=[0.1, 0.25, 0.9], p=[[0.0, -300.0, -1e-3], [1.0, 1e10]]),
    "bernoulli": dict(
        f=lambda x, l: x * l - mp.log(1 + mp.exp(l)), cdf=lambda x, l: 1 / (1 + mp.exp(l)) if x < 1 else mpf(1),
        scipy=lambda x, l: st.bernoulli(float(1 / (1 + mp.exp(-l)))).logpmf(x),
        x=[0.0, 1.0], p=[[-700.0, -30.0, -1.5, 0.0, 1e-9, 2.0, 40.0, 500.0]], discrete=True),
    "poisson": dict(
        f=lambda x, r: x * mp.log(r) - r - mp.loggamma(x + 1), cdf=poisson_cdf,
        scipy_cdf=lambda x, r: st.poisson(r).cdf(x),
        scipy=lambda x, r: st.poisson(r).logpmf(x),
        x=[0.0, 1.0, 2.0, 8.0, 9.0, 15.0, 100.0, 1234.0, 1e5], p=[[1e-8, 0.7, 5.0, 12.5, 300.0, 1e5]], discrete=True),
}


def slope(f, at, k):
    """df/d(argument k); along a factor 1 + t of the argument, so that tiny ones keep their sign."""
    scale = at[k] or mpf(1)
    return mp.diff(lambda t: f(*at[:k], at[k] + t * scale, *at[k + 1:]), 0) / scale


def text(v):
    return "0" if abs(v) < mpf(10) ** -307 else mp.nstr(v, 17, min_fixed=0, max_fixed=0)


def main():
    print("// Written by reference.py: {x, {parameters}, log p, {dlog p/dx, dlog p/dparameters}, cdf}")
    for name, law in laws.items():
        n = len(law["p"])
        print(f"inline constexpr Row {name}_rows[] = {{")
        for point in itertools.product(law["x"], *law["p"]):
            at = [mpf(v) for v in point]
            f = law["f"]
            value = f(*at)
            slopes = [slope(f, at, k) for k in range(n + 1)]
            if law.get("discrete"):
                slopes[0] = mpf(0)
            check = float(law["scipy"](*[float(v) for v in point]))
            if not abs(check - value) <= 1e-6 * abs(value) + 1e-6 and mp.isfinite(check):
                sys.stderr.write(f"{name}{point}: scipy {check}, mpmath {mp.nstr(value, 17)}\n")
            cdf = law["cdf"](*at)
            if "scipy_cdf" in law and abs(float(law["scipy_cdf"](*point)) - cdf) > 1e-9:
                sys.stderr.write(f"{name}{point}: scipy's cdf differs from {mp.nstr(cdf, 17)}\n")
            parameters = ", ".join(repr(v) for v in point[1:])
            print(f"    {{{point[0]!r}, {{{parameters}}}, {text(value)}, {{{', '.join(text(s) for s in slopes)}}}, {text(cdf)}}},")
        print("};")


main()
