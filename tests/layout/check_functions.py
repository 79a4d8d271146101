#!/usr/bin/env python3
"""No source calls a function whose bits belong to someone else.

    tests/layout/check_functions.py ROOT [PROGRAM OR LIBRARY...]

Results of the library and of the examples have the same bits on every machine. So their sources call pollen::math or
an op, not the functions of <cmath> that each C library rounds in its own way, and they have no long double, which is
another type on each CPU. What is exact everywhere stays: std::sqrt, std::fma, std::floor, std::ldexp and so on.

A call without std:: looks like a call of an op. It is found in the libraries, as a symbol that they need.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ["autograd", "data", "examples", "nn", "samplers"]

# What <pollen/autograd/math.hpp> has, and what it has not.
OURS = """atan atan2 cos cosh digamma erf erfc exp exp2 expm1 hypot lgamma log log10 log1p log2 pow sin sinh tanh""".split()
MISSING = """acos acosh asin asinh atanh cbrt tan tgamma
    assoc_laguerre assoc_legendre beta comp_ellint_1 comp_ellint_2 comp_ellint_3 cyl_bessel_i cyl_bessel_j cyl_bessel_k
    cyl_neumann ellint_1 ellint_2 ellint_3 expint hermite laguerre legendre riemann_zeta sph_bessel sph_legendre
    sph_neumann lerp polar""".split()
# Names that are not the C library's without std::, :: or a suffix: ops, members and locals of ours.
QUALIFIED = re.compile(r"(?<![\w:>])(?:std::|::)(%s)[fl]?\b(?=\s*[(,;)])" % "|".join(OURS + MISSING))
SUFFIXED = re.compile(r"(?<![\w:.>])(%s)[fl]\s*\(" % "|".join(OURS + MISSING))
BUILTIN = re.compile(r"\b__builtin_(%s)[fl]?\b" % "|".join(OURS + MISSING))
VECTOR = re.compile(r"\b(?:xsimd|xt)::(%s)\s*[(<]" % "|".join(OURS + MISSING + ["sincos", "rsqrt", "reciprocal"]))
OTHERS = {
    r"\blong double\b": "long double is another type on each CPU; use double, or two of them",
    r"\bstd::\w+_distribution\b": "each C++ library has its own bits; use pollen::Random",
    r"\bstd::(?:reduce|transform_reduce)\b": "the order of the sum is not defined; use std::accumulate or a kernel",
    r"\bstd::complex\b": "its products and absolute values differ between C++ libraries; use two doubles",
    r"\bstd::execution\b": "the order is not defined; use pollen::parallel_for",
}


def without_comments(text):
    """The text with comments and strings blanked, line by line the same."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def advice(name):
    return f"use pollen::math::{name}" if name in OURS else f"pollen::math has no {name}; write it there"


def check(root):
    errors = []
    for source in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.[ch]pp")):
        for number, line in enumerate(without_comments(source.read_text()).split("\n"), 1):
            at = f"{source.relative_to(root)}:{number}"
            found = {}
            for pattern in (QUALIFIED, SUFFIXED, BUILTIN, VECTOR):
                for match in pattern.finditer(line):
                    found[match.start()] = (match.group().rstrip(" (,;)<"), match.group(1))
            errors += [f"{at}: {text}: the bits are not ours; {advice(name)}" for _, (text, name) in sorted(found.items())]
            for pattern, why in OTHERS.items():
                errors += [f"{at}: {match}: {why}" for match in re.findall(pattern, line)]
    return errors


def check_symbols(binary):
    """What the binary needs of the C library, with the object that needs it if the binary is an archive."""
    names = "|".join(OURS + MISSING + ["sincos"])
    lines = subprocess.run(["nm", "-A", "-u", binary], capture_output=True, text=True, check=True).stdout.split("\n")
    errors = []
    for line in lines:
        match = re.search(r"(?:^|/)([^/]*?): +U ((%s)[fl]?)(?:@.*)?$" % names, line)
        if match:
            errors.append(f"{match[1]}: {match[2]}: the bits are not ours; {advice(match[3])}")
    return errors


if __name__ == "__main__":
    faults = check(Path(sys.argv[1]))
    for binary in sys.argv[2:]:
        faults += check_symbols(binary)
    print("\n".join(faults) or "all functions are ours")
    sys.exit(1 if faults else 0)
