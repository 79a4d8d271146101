#!/usr/bin/env python3
"""check_layout.py has to find each kind of fault in a small tree, and to name it."""

import tempfile
from pathlib import Path

import check_layout

FAULTS = {
    "autograd/up.hpp": ("#include <pollen/nn/layers/dense.hpp>",
                        "autograd/up.hpp: autograd/ may not include nn/layers/ (nn/layers/dense.hpp)"),
    "nn/layers/open.hpp": ("#include <pollen/autograd/kernels/map.hpp>",
                           "nn/layers/open.hpp: a public header may not include the private autograd/kernels/map.hpp"),
    "nn/module/lost.cpp": ("#include <pollen/nn/module/gone.hpp>", "nn/module/lost.cpp: there is no nn/module/gone.hpp"),
    "nn/attic/old.cpp": ("", "nn/attic/old.cpp: nn/attic/ is not in the list of folders of check_layout.py"),
    "samplers/run/dense.hpp": ("", "two headers have one name: nn/layers/dense.hpp and samplers/run/dense.hpp"),
}

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)

    def write(path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n")

    write("nn/layers/dense.hpp", "#include <pollen/autograd/tape.hpp>")
    write("autograd/tape.hpp", "")
    write("autograd/kernels/map.hpp", "")
    write("pollen.hpp", "#include <pollen/nn/layers/dense.hpp>")
    check_layout.SAME_IDEA = set()
    assert check_layout.check(root) == [], check_layout.check(root)
    for path, (text, error) in FAULTS.items():
        write(path, text)
        found = check_layout.check(root)
        assert error in found, (error, found)
        (root / path).unlink()
    write("data/io/new.hpp", "")
    assert check_layout.check(root) == ["pollen.hpp does not include data/io/new.hpp"], check_layout.check(root)
print("every fault is found")
