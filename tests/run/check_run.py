#!/usr/bin/env python3
"""check_run.py ROOT

What ./run says of a wrong command, from anywhere, and where packages cannot be installed. Nothing is built.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def call(command, arguments, **options):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


def mistakes(root):
    examples = " ".join(sorted(path.stem for path in (root / "examples").glob("*.cpp")))
    formats = " ".join(sorted(path.stem.removeprefix("fuzz_") for path in (root / "tests/fuzz").glob("fuzz_*.cpp")))
    usage = call(root / "run", ["help"])[1]
    seconds = "run: fuzz needs SECONDS, a whole number from 1 to 999999, not:"
    return {
        "nonsense": f"run: there is no command nonsense.\n\n{usage}",
        "test --everything": "run: test takes no argument but --all or --arm, not: --everything\n",
        "test --all --arm": "run: test takes no argument but --all or --arm, not: --all --arm\n",
        "examples --fast": "run: examples takes no argument but --quick, not: --fast\n",
        "example": f"run: example needs a NAME, one of: {examples}\n",
        "mpi": "run: mpi needs N, the number of processes, a whole number from 1 to 9999, not: nothing\n",
        "mpi 0 mpi_bnn": "run: mpi needs N, the number of processes, a whole number from 1 to 9999, not: 0\n",
        "mpi 2": "run: mpi needs an EXAMPLE, one of: mpi_bnn mpi_chains\n",
        "mpi 2 demo": "run: there is no example demo that can be spread over processes. There are: mpi_bnn mpi_chains\n",
        "example none": f"run: there is no example none. There are: {examples}\n",
        "example common/figure": f"run: there is no example common/figure. There are: {examples}\n",
        "fingerprint --ech": "run: fingerprint takes no argument but --each, not: --ech\n",
        "check --all": "run: check takes no argument, not: --all\n",
        "fuzz": f"{seconds} nothing\n",
        "fuzz 0": f"{seconds} 0\n",
        "fuzz 1e9": f"{seconds} 1e9\n",
        "fuzz -5": f"{seconds} -5\n",
        "fuzz 99999999999999999999": f"{seconds} 99999999999999999999\n",
        "fuzz 5 csv pdf": f"run: there is no format pdf to fuzz. There are: {formats}\n",
    }


def faults_of(run, expected, **options):
    for words, says in expected.items():
        code, out, err = call(run, words.split(), **options)
        if (code, out, err) != (2, "", says):
            yield f"{run} {words}: exit code {code}, {out!r}, {err!r} instead of {says!r}"


# From another directory, through a link, and for a checkout whose path has spaces.
def faults_elsewhere(root, expected):
    with tempfile.TemporaryDirectory() as parent:
        link = Path(parent, "run it")
        link.symlink_to(root / "run")
        yield from faults_of(link, {"example none": expected["example none"]}, cwd=parent)
        checkout = Path(parent, "a  copy 'of' $pollen")
        (checkout / "tests").mkdir(parents=True)
        shutil.copy(root / "run", checkout)
        shutil.copytree(root / "examples", checkout / "examples")
        shutil.copytree(root / "tests/fuzz", checkout / "tests/fuzz", ignore=shutil.ignore_patterns("corpus"))
        yield from faults_of(checkout / "run", expected, cwd=parent)
        searched = os.environ | {"CDPATH": f"{checkout}:{parent}"}
        relative = Path(checkout.name, "run")
        yield from faults_of(relative, {"example none": expected["example none"]}, cwd=parent, env=searched)


# No package is there, and apt-get finds no network; then there is nobody who may install anything.
def faults_without_network(root):
    with tempfile.TemporaryDirectory() as parent:
        tools, checkout = Path(parent, "tools"), Path(parent, "checkout")
        for folder in (tools, checkout / "examples"):
            folder.mkdir(parents=True)
        shutil.copy(root / "run", checkout)

        def tool(name, commands):
            path = tools / name
            path.write_text(f"#!/bin/sh\n{commands}\n")
            path.chmod(0o755)

        installed = "g++ cmake"
        tool("dpkg-query", f'case " {installed} " in *" $4 "*) printf installed ;; *) exit 1 ;; esac')
        tool("apt-get", "echo 'Temporary failure resolving deb.debian.org' >&2; exit 100")
        tool("id", "echo 0")
        tool("sudo", "exit 1")
        without = {key: value for key, value in os.environ.items() if key != "POLLEN_EXTRA_PACKAGES"}
        with_tools = without | {"PATH": f"{tools}:{os.environ['PATH']}"}
        code, out, err = call(checkout / "run", ["bench"], env=with_tools)
        missing = out.removeprefix("Installing ").rstrip("\n")
        if not missing.startswith("ninja-build ccache ") or "\n" in missing:
            yield f"without a network it says {out!r}"
        says = (
            "Temporary failure resolving deb.debian.org\n"
            "run: apt-get could not install them; its messages are above. It needs a network, and a system whose packages\n"
            f"have these names. Without a network, install them by hand: {missing}\n"
        )
        if (code, err) != (1, says):
            yield f"without a network: exit code {code}, {err!r} instead of {says!r}"
        tool("id", "echo 1000")
        code, out, err = call(checkout / "run", ["bench"], env=with_tools)
        says = (
            "run: some packages are missing. As root, run:\n"
            f"apt-get update && apt-get install --yes --no-install-recommends {missing}\n"
        )
        if (code, out, err) != (1, "", says):
            yield f"without root: exit code {code}, {out!r}, {err!r} instead of {says!r}"


def main():
    root = Path(sys.argv[1]).resolve()
    expected = mistakes(root)
    faults = list(faults_of(root / "run", expected, cwd="/"))
    faults += faults_elsewhere(root, expected)
    faults += faults_without_network(root)
    print("\n".join(faults) or f"{len(expected)} commands")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
