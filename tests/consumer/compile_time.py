#!/usr/bin/env python3
"""compile_time.py COMPILER INCLUDE_DIR

A program that includes <pollen/pollen.hpp> and trains a linear model compiles in at most 1.8 times the CPU time of one
that includes eleven headers of the standard library, which pollen's interface needs, and does nothing. The fastest of
nine times each, in turn, so that a slow machine or a slow moment counts for both.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

MOST = 1.8
HEADERS = "algorithm functional iostream map memory random span stop_token string unordered_map vector".split()
STANDARD = "".join(f"#include <{header}>\n" for header in HEADERS) + "int main() {}\n"


def cpu_seconds(compiler, include, source):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [compiler, "-std=c++20", "-O2", "-I", include, "-x", "c++", "-c", "-o", os.devnull, "-"]
    subprocess.run(command, input=source, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    compiler, include = sys.argv[1:]
    program = (Path(__file__).parent / "main.cpp").read_text()
    times = [[cpu_seconds(compiler, include, source) for source in (STANDARD, program)] for _ in range(9)]
    standard, ours = (min(column) for column in zip(*times))
    print(f"standard headers {standard:.2f} s, pollen.hpp {ours:.2f} s: {ours / standard:.2f} times, at most {MOST}")
    return 0 if ours <= MOST * standard else 1


if __name__ == "__main__":
    sys.exit(main())
