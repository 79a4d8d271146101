#!/usr/bin/env python3
"""Checks the layout of the library: which folder may include which, and what is public.

    tests/layout/check_layout.py ROOT

ARROWS lists, for each folder with sources, the folders that it may include. detail/ and kernels/ belong to the folder
that they are in. Headers outside of them are public: they are installed and may include public headers alone.
"""

import re
import sys
from pathlib import Path

AUTOGRAD = ["autograd", "autograd/support"]

ARROWS = {
    "autograd/support": [],
    "autograd": ["autograd/support"],
    "autograd/ops": AUTOGRAD,
    # A library of its own, the component mpi. Nothing else may include it.
    "autograd/mpi": AUTOGRAD,
    "data/io": AUTOGRAD,
    "data/formats": AUTOGRAD + ["data/io"],
    "data/sets": AUTOGRAD + ["data/io", "data/formats"],
    # Lists of what the rooms have: layers.hpp, likelihoods.hpp, ...
    "nn": ["nn/distributions", "nn/layers", "nn/likelihoods", "nn/module", "nn/priors"],
    "nn/distributions": AUTOGRAD,
    "nn/module": AUTOGRAD + ["data/formats", "nn/priors"],
    "nn/layers": AUTOGRAD + ["data/io", "data/formats", "nn/module"],
    "nn/priors": AUTOGRAD + ["nn/distributions"],
    "nn/likelihoods": AUTOGRAD + ["data/sets", "nn/module", "nn/priors", "nn/distributions"],
    "nn/variational": AUTOGRAD + ["data/sets", "nn/module", "nn/layers", "nn/priors", "nn/distributions",
                                  "nn/likelihoods"],
    "nn/potentials": AUTOGRAD + ["data/io", "data/sets", "nn/module", "nn/distributions", "nn/priors", "nn/likelihoods",
                                 "nn/variational"],
    "nn/training": AUTOGRAD + ["data/io", "data/formats", "data/sets", "nn/module", "nn/priors", "nn/likelihoods",
                               "nn/variational"],
    "nn/prediction": AUTOGRAD + ["nn/module", "nn/likelihoods"],
    "nn/pruning": AUTOGRAD + ["data/io", "data/formats", "nn/module", "nn/layers", "nn/variational"],
    # What a sampler is: chains, starts, and how options are checked.
    "samplers": AUTOGRAD + ["data/io", "nn/potentials"],
    "samplers/adaptation": AUTOGRAD + ["samplers"],
    "samplers/full_batch": AUTOGRAD + ["samplers", "samplers/adaptation"],
    "samplers/minibatch": AUTOGRAD + ["data/sets", "nn/distributions", "nn/potentials", "nn/training", "samplers",
                                      "samplers/adaptation"],
    "samplers/diagnostics": AUTOGRAD + ["samplers"],
    "samplers/draws": AUTOGRAD + ["data/io", "data/formats", "nn/potentials", "nn/prediction", "samplers",
                                  "samplers/diagnostics"],
    "samplers/run": AUTOGRAD + ["data/io", "data/formats", "nn/potentials", "samplers", "samplers/diagnostics",
                                "samplers/draws"],
    "samplers/calibration": AUTOGRAD + ["nn/distributions", "nn/potentials", "samplers", "samplers/diagnostics",
                                        "samplers/draws", "samplers/run"],
}

# Headers of one name that are one idea: a layer and its kernel, a distribution and the likelihood made of it.
SAME_IDEA = {"bernoulli.hpp", "categorical.hpp", "conv2d.hpp", "poisson.hpp", "student_t.hpp"}
# Public headers that <pollen/pollen.hpp> leaves out.
OPT_IN = {"autograd/xt.hpp", "autograd/mpi/run_mpi.hpp"}
PRIVATE = {"detail", "kernels"}


def room(path):
    return "/".join(part for part in Path(path).parent.parts if part not in PRIVATE)


def private(path):
    return bool(PRIVATE & set(Path(path).parts))


def check(root):
    tops = sorted({arrow.split("/")[0] for arrow in ARROWS})
    sources = sorted(str(p.relative_to(root)) for top in tops for p in (root / top).rglob("*.[ch]pp"))
    headers = [s for s in sources if s.endswith(".hpp")]
    includes = {s: re.findall(r"#include <pollen/([^>]+)>", (root / s).read_text()) for s in sources}
    includes["pollen.hpp"] = re.findall(r"#include <pollen/([^>]+)>", (root / "pollen.hpp").read_text())
    errors = []

    for source in sources:
        here = room(source)
        if here not in ARROWS:
            errors.append(f"{source}: {here}/ is not in the list of folders of {Path(__file__).name}")
            continue
        for included in includes[source]:
            there = room(included)
            if not (root / included).exists():
                errors.append(f"{source}: there is no {included}")
            elif there != here and there not in ARROWS[here]:
                errors.append(f"{source}: {here}/ may not include {there}/ ({included})")
            if source in headers and not private(source) and private(included):
                errors.append(f"{source}: a public header may not include the private {included}")

    by_name = {}
    for header in headers:
        by_name.setdefault(Path(header).name, []).append(header)
    for name, paths in by_name.items():
        if len(paths) > 1 and name not in SAME_IDEA:
            errors.append(f"two headers have one name: {' and '.join(paths)}")
    for name in SAME_IDEA:
        if len(by_name.get(name, [])) < 2:
            errors.append(f"{Path(__file__).name}: there are no two headers {name} any more")

    reached, new = set(), ["pollen.hpp"]
    while new:
        source = new.pop()
        if source not in reached:
            reached.add(source)
            new += includes.get(source, [])
    for header in headers:
        if not private(header) and header not in reached | OPT_IN:
            errors.append(f"pollen.hpp does not include {header}")

    # No two folders may need each other, not even by way of others.
    def reaches(start):
        seen, left = set(), list(ARROWS[start])
        while left:
            folder = left.pop()
            if folder not in seen:
                seen.add(folder)
                left += ARROWS[folder]
        return seen

    errors += [f"{folder}/ may include itself by way of other folders" for folder in ARROWS if folder in reaches(folder)]
    return errors


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "the layout is as it should be")
    sys.exit(1 if found else 0)
