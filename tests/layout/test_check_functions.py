#!/usr/bin/env python3
"""check_functions.py has to find each kind of fault in a small tree and in a small library, and to name it."""

import subprocess
import sys
import tempfile
from pathlib import Path

import check_functions

OURS = "the bits are not ours; use pollen::math::"
FAULTS = {
    "double f(double x) { return std::exp(x); }": f"std::exp: {OURS}exp",
    "double f(double x) { return ::log1p(x); }": f"::log1p: {OURS}log1p",
    "float f(float x) { return std::sqrt(sinf(x)); }": f"sinf: {OURS}sin",
    "double f(double x) { return __builtin_tanh(x); }": f"__builtin_tanh: {OURS}tanh",
    "using std::pow;": f"std::pow: {OURS}pow",
    "auto f(B x) { return xsimd::exp(x); }": f"xsimd::exp: {OURS}exp",
    "double f(double x) { return std::tan(x); }": "std::tan: the bits are not ours; pollen::math has no tan; write it there",
    "std::transform(a, b, c, (double (*)(double))std::log);": f"std::log: {OURS}log",
    "long double x = 0;": "long double: long double is another type on each CPU; use double, or two of them",
    "std::normal_distribution<double> law;":
        "std::normal_distribution: each C++ library has its own bits; use pollen::Random",
    "const double s = std::reduce(a, b);":
        "std::reduce: the order of the sum is not defined; use std::accumulate or a kernel",
}
FINE = """// std::exp(x) in a comment, and a long double
const char* text = "std::log(x) and long double";
double f(double x) { return math::exp(x) + std::sqrt(x) + std::abs(x) + std::ldexp(x, 2) + std::fma(x, x, x); }
Var<T> g(Var<T> x) { return exp(x) * model.log(x) + Constants<T>::log(x) + kernels::exp(x); }
"""

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name in check_functions.FOLDERS:
        source = root / name / "deep" / "source.cpp"
        source.parent.mkdir(parents=True)
        source.write_text(FINE)
        assert check_functions.check(root) == [], check_functions.check(root)
        for text, error in FAULTS.items():
            source.write_text(FINE + "\n" + text + "\n")
            found = check_functions.check(root)
            line = FINE.count("\n") + 2
            assert found == [f"{name}/deep/source.cpp:{line}: {error}"], (text, found)
        source.unlink()

    # exp(x) of a double, without std::, is what only the symbols show.
    for body, faults in (("exp(x)", [f"source.o: exp: {OURS}exp"]), ("std::sqrt(x)", [])):
        (root / "source.cpp").write_text(f"#include <cmath>\ndouble f(double x) {{ return {body}; }}\n")
        subprocess.run([sys.argv[1], "-O1", "-c", root / "source.cpp", "-o", root / "source.o"], check=True)
        found = check_functions.check_symbols(root / "source.o")
        assert found == faults, found
print("every fault is found")
