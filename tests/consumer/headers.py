#!/usr/bin/env python3
"""headers.py COMPILER INCLUDE_DIR SOURCE

Every header of an installed pollen compiles by itself and reaches nothing but installed headers and the standard
library; the opt-in bridge to xtensor alone may reach xtensor. And every header of the source tree that is not in detail/
or kernels/ is installed; those of the component mpi are if it was built.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OPT_IN = {"pollen/autograd/xt.hpp"}
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
STANDARD = """algorithm any array atomic barrier bit bitset charconv chrono compare complex concepts condition_variable
    coroutine deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios
    iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
    optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span
    sstream stack stdexcept stop_token streambuf string string_view syncstream system_error thread tuple type_traits
    typeindex typeinfo unordered_map unordered_set utility valarray variant vector version cassert cctype cerrno cfenv
    cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar
    cwchar cwctype""".split()


def compile_alone(compiler, include, lines):
    """What the compiler says, and the set of files that it read."""
    with tempfile.TemporaryDirectory() as folder:
        source, depends = Path(folder, "alone.cpp"), Path(folder, "alone.d")
        source.write_text("".join(f"{line}\n" for line in lines))
        command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", "-MD", "-MF", depends, *WARNINGS, source]
        run = subprocess.run(command, capture_output=True, text=True)
        files = depends.read_text().replace("\\\n", " ").split()[2:] if run.returncode == 0 else []
        return run.stderr, {os.path.realpath(file) for file in files}


def installed(root):
    return {str(path.relative_to(root)) for path in (root / "pollen").rglob("*.hpp")}


def public(source):
    paths = [path for top in ("autograd", "data", "nn", "samplers") for path in (source / top).rglob("*.hpp")]
    names = [path.relative_to(source) for path in paths] + [Path("pollen.hpp")]
    return {f"pollen/{name}" for name in names if not {"detail", "kernels"} & set(name.parts)}


def main():
    compiler, include, source = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
    headers = sorted(installed(include))
    faults = [f"{name}: is installed and should not be" for name in installed(include) - public(source)]
    missing = public(source) - installed(include)
    faults += [f"{name}: is not installed" for name in missing if not name.startswith("pollen/autograd/mpi/")]

    said, standard = compile_alone(compiler, include, [f"#if __has_include(<{h}>)\n#include <{h}>\n#endif" for h in STANDARD])
    if said:
        faults.append(said)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: compile_alone(compiler, include, [f"#include <{name}>"]), headers)
    for name, (said, files) in zip(headers, results):
        if said:
            faults.append(f"{name}: does not compile by itself:\n{said}")
        foreign = sorted(file for file in files - standard if not file.startswith(f"{include}/"))
        foreign = [file for file in foreign if not re.search(r"/(gcc|c\+\+|clang)/|/bits/|/alone\.cpp$", file)]
        if foreign and name not in OPT_IN:
            faults.append(f"{name}: reaches {foreign[0]}")
    print("\n".join(faults) or f"{len(headers)} headers")
    return 1 if faults or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
