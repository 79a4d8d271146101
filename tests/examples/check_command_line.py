#!/usr/bin/env python3
"""check_command_line.py PROGRAM...

What every example has in common: --help lists its options with their defaults, and what is wrong with a command is said
in one line that names the way out, with exit code 2. Without gnuplot the numbers of a figure stay, and what a stopped
run keeps is not used with other data. A signal stops an example, which says how it goes on.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

def wrong_number(option, text, least, most):
    return ([option, text], f"{option} is {text or 'empty'}; it must be a whole number from {least} to {most}")


# Arguments, and what the program says after its own name.
MISTAKES = [
    (["--nonsense"], "The following argument was not expected: --nonsense; --help lists the options"),
    *(
        wrong_number("--seed", text, 0, 2**64 - 1)
        for text in ["-1", "one", str(2**64), "99999999999999999999", "1e9", "1.5", "7x", "0x10", " 7", "nan", "inf", ""]
    ),
    (["--out", "/dev/null/x"], "Not a directory: /dev/null/x; --out takes a directory that can be written"),
    (
        ["--out", "/dev/null/a\nb\x1b"],
        r"--out is /dev/null/a\nb\x1b; it must be a path without control characters",
    ),
    # U+009B, which begins a command to a terminal.
    (["--out", "/dev/null/\x9b31m"], r"--out is /dev/null/\xc2\x9b31m; it must be a path without control characters"),
    (["--a\nb\x9b31m"], r"The following argument was not expected: --a\nb\xc2\x9b31m; --help lists the options"),
    (["--seed", "\x1b[31m1"], r"--seed is \x1b[31m1; it must be a whole number from 0 to 18446744073709551615"),
    (["--out", ""], "--out is empty; it must be a path"),
]
NO_FILE = (["nowhere.data"], "FILE: there is no file nowhere.data; --help lists the options")
LONG_FILE = (["x" * 5000], f"FILE: there is no file {'x' * 5000}; --help lists the options")
BILLION = 10**9


def too_small(option, least):
    return wrong_number(option, str(least - 1), least, BILLION)


MISTAKES_OF = {
    "bayesian_linear_regression": [too_small("--draws", 100), too_small("--epochs", 1)],
    "constant_sgd": [too_small("--draws", 100)],
    "custom_posterior": [too_small("--epochs", 3)],
    "demo": [
        too_small("--epochs", 1),
        too_small("--bayes-epochs", 1),
        too_small("--steps", 100),
        too_small("--width", 1),
        too_small("--large-epochs", 1),
    ],
    "eight_schools": [
        too_small("--draws", 100),
        *(
            wrong_number("--draws", text, 100, BILLION)
            for text in ["1000000001", "99999999999999999999", "1e9", "200 ", "0x100", "nan", "inf", "many", ""]
        ),
    ],
    "hmc_bnn": [
        (["--network", "wide"], "--network is wide; it takes dense or convolutional"),
        (["--digits", "5001"], "--digits is 5001; it must be 5000 at most"),
        too_small("--digits", 50),
        too_small("--hidden", 1),
        too_small("--draws", 20),
        too_small("--steps", 1000),
        too_small("--updates", 5),
        too_small("--members", 1),
    ],
    "hmc_by_hand": [too_small("--draws", 4), too_small("--warm-up", 0)],
    "hmc_tour": [too_small("--draws", 100)],
    "linear_regression": [too_small("--points", 3), too_small("--epochs", 1)],
    "logistic_boundary": [too_small("--draws", 100)],
    "mnist_bayes_by_backprop": [too_small("--hidden", 1), too_small("--epochs", 1), too_small("--seeds", 1)],
    "mnist_cnn": [too_small("--epochs", 1)],
    "mnist_mlp": [too_small("--epochs", 1), too_small("--hidden", 1)],
    "mnist_ood": [
        (["--network", "large"], "--network is large; it takes small or published"),
        (["--strangers", "cats"], "--strangers is cats; it takes fashion-mnist, notmnist or both"),
        (["--draws", "4001"], "--sampler-steps is 8000; it must be at least 20, and twice --draws"),
        too_small("--seeds", 1),
        too_small("--point-steps", 1),
        too_small("--draws", 1),
    ],
    "mnist_sampler_race": [too_small("--seeds", 1), too_small("--rounds", 1), too_small("--burn-in", 0)],
    "mushroom_bandit": [
        too_small("--mushrooms", 100),
        too_small("--updates", 0),
        too_small("--runs", 2),
        too_small("--rates", 1),
    ],
    "regression_bands": [too_small("--epochs", 1), too_small("--draws", 2)],
    "sghmc_double_well": [
        too_small("--draws", 400),
        too_small("--walk", 400),
        (["--steps", "299"], "--steps is 299; paths of a multiple of 300 are drawn"),
    ],
    "stochastic_volatility": [too_small("--days", 10), too_small("--seeds", 2), too_small("--sgld-steps", 20)],
    "uci_table": [
        too_small("--splits", 1),
        too_small("--updates", 10),
        too_small("--members", 1),
        too_small("--draws", 2),
        too_small("--hmc", 15),
        (["--only", "wine"], "--only is wine; the sets are yacht, energy, concrete, red wine"),
        (["--from", "nowhere"], "nowhere: has neither kin8nm.txt nor kin8nm.txt.gz, which --from needs"),
    ],
    "uci_regression": [NO_FILE, LONG_FILE, too_small("--rows", 20), too_small("--splits", 1), too_small("--epochs", 1)],
}


def faults_of(program):
    name = Path(program).name
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
    if help_text.returncode != 0:
        yield f"--help: exit code {help_text.returncode}"
    for option in ("--quick", "--seed", "--out", "--new", "--help"):
        if option not in help_text.stdout:
            yield f"--help does not list {option}"
    for option, rest in re.findall(r"^  (--[a-z-]+) (?:INT|FLOAT|TEXT|UINT)((?:.|\n(?!  -))*)", help_text.stdout, re.M):
        if "[" not in rest:
            yield f"--help does not say what {option} is by default"
    for arguments, expected in MISTAKES + MISTAKES_OF.get(name, []):
        with tempfile.TemporaryDirectory() as out:
            where = [] if "--out" in arguments else ["--out", out]
            run = subprocess.run([program, *arguments, *where], capture_output=True, text=True, timeout=60)
        if run.returncode != 2 or run.stderr != f"{name}: {expected}\n":
            yield f"{' '.join(arguments)}: exit code {run.returncode}, {run.stderr!r} instead of {expected!r}"


# The name of a directory is never read as a command or as the end of a text, neither by a shell nor by gnuplot.
def faults_with_a_strange_name(program):
    name = Path(program).name
    with tempfile.TemporaryDirectory() as parent:
        out = Path(parent, "a 'b' \"c\" $(touch d) `touch e` ; touch f # %s \\ 'g'\"")
        run = subprocess.run([Path(program).resolve(), "--quick", "--out", out], capture_output=True, text=True, timeout=60, cwd=parent)
        drawn = {path.name for path in out.glob(f"{name}.*")} if out.is_dir() else set()
        if run.returncode != 0 or drawn not in ({f"{name}.{x}" for x in ("csv", "png", "svg")}, {f"{name}.csv"}):
            yield f"with --out {out}: exit code {run.returncode}, figures {sorted(drawn)}, {run.stderr!r}"
        others = [path.name for path in Path(parent).iterdir() if path != out]
        if others:
            yield f"with --out {out} it also makes {others}"
        if shutil.which("gnuplot") and len(drawn) != 3:
            yield f"with --out {out} gnuplot draws nothing"


def faults_without_gnuplot(program):
    name = Path(program).name
    with tempfile.TemporaryDirectory() as out:
        command, nowhere = [program, "--quick", "--out", out], os.environ | {"PATH": out}
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=nowhere)
        expected = f"figure: {out}/{name}.csv; with gnuplot (package gnuplot-nox) it would be drawn, too\n"
        if run.returncode != 0 or expected not in run.stdout:
            yield f"without gnuplot: exit code {run.returncode}, and it does not say {expected!r}"
        figures = sorted(path.name for path in Path(out).glob(f"{name}.*"))
        if figures != [f"{name}.csv"]:
            yield f"without gnuplot it leaves {figures}"


# What is kept is used again with the same data, and removed, in so many words, where they come from elsewhere or an
# option differs.
def faults_with_other_data(program):
    sizes = "--epochs 1 --hidden 2".split()
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as elsewhere:
        command, marker = [program, *sizes, "--out", out], Path(out, "kept", "marker")
        subprocess.run(command, capture_output=True, timeout=120, check=True)
        marker.touch()
        subprocess.run(command, capture_output=True, timeout=120, check=True)
        if not marker.exists():
            yield "what was kept is removed though nothing changed"
        for path in re.findall(r"^data (.*) \d+$", Path(out, "kept", "settings").read_text(), re.M):
            shutil.copytree(path, Path(elsewhere, Path(path).name))
        environment = os.environ | {"POLLEN_DATA": elsewhere}
        run = subprocess.run(command, capture_output=True, timeout=120, check=True, env=environment, text=True)
        if marker.exists():
            yield "what was kept of other data is used"
        if f"{out}/kept holds results of an earlier run (data " not in run.stderr:
            yield f"what was kept of other data is removed without a word: {run.stderr!r}"
        command[command.index("2")] = "3"
        run = subprocess.run(command, capture_output=True, timeout=120, check=True, env=environment, text=True)
        expected = (f"{out}/kept holds results of an earlier run (--hidden 2, now 3). "
                    "They are removed, and this run begins anew.\n")
        if expected not in run.stderr:
            yield f"with another option it says {run.stderr!r}, not {expected!r}"


# A file in the cache that is damaged is an error where it is used, and not before.
def faults_with_a_damaged_cache(program):
    name = Path(program).name
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as out:
        digits = Path(cache, "mnist")
        digits.mkdir()
        for file in (f"{part}-{what}.idx.gz" for part in ("train", "test") for what in ("images", "labels")):
            (digits / file).touch()
        environment = os.environ | {"POLLEN_CACHE": cache}
        expected = (f"{name}: {digits}/train-images.idx.gz: holds 0 bytes instead of 47040016; remove it and run "
                    "`./run data mnist` in pollen's source\n")
        for arguments, code, says in [(["--help"], 0, ""), ([], 2, expected)]:
            command = [program, *arguments, "--out", out]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
            if run.returncode != code or run.stderr != says:
                yield f"with a damaged cache, {arguments}: exit code {run.returncode}, {run.stderr!r}, not {says!r}"


# The example would run for ever. The signal comes when it has said what it is.
def faults_after_a_signal(program):
    name = Path(program).name
    for number in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory() as out:
            command = [program, "--epochs", str(BILLION), "--hidden", "2", "--out", out]
            with subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # who starts the tests may ignore it
            ) as run:
                run.stdout.readline()
                run.send_signal(number)
                try:
                    errors = run.communicate(timeout=60)[1]
                finally:
                    run.kill()
            expected = f"\n{name}: stopped. The same command goes on from here, with --new it begins anew.\n"
            if run.returncode != 130 or not errors.endswith(expected):
                yield f"after signal {number}: exit code {run.returncode}, {errors!r} instead of {expected!r}"


# The published network learns all of MNIST, and letters do not come with pollen. What is missing is said before
# anything is computed.
def faults_without_data(program):
    name = Path(program).name
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as out:
        for arguments, data in [
            (["--network", "published"], "mnist/train-images"),
            (["--network", "published", "--quick"], "mnist/train-images"),
            (["--strangers", "notmnist"], "notmnist/test-images"),
            (["--strangers", "both"], "notmnist/test-images"),
        ]:
            command, environment = [program, *arguments, "--out", out], os.environ | {"POLLEN_CACHE": cache}
            run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
            expected = (f"{name}: {cache}/{data}.idx.gz: is not there; `./run data {data.split('/')[0]}` in pollen's "
                        "source brings the full set\n")
            if run.returncode != 2 or run.stderr != expected:
                yield f"without data, {arguments}: exit code {run.returncode}, {run.stderr!r}, not {expected!r}"


def main():
    programs = sys.argv[1:]
    faults = [f"{program}: {fault}" for program in programs for fault in faults_of(program)]
    for program in programs:
        further = {
            "linear_regression": [faults_with_a_strange_name, faults_without_gnuplot],
            "mnist_mlp": [faults_with_other_data, faults_after_a_signal],
            "mnist_bayes_by_backprop": [faults_with_a_damaged_cache],
            "mnist_ood": [faults_with_a_damaged_cache, faults_without_data],
            "mnist_sampler_race": [faults_with_a_damaged_cache],
        }
        for check in further.get(Path(program).name, []):
            faults += [f"{program}: {fault}" for fault in check(program)]
    print("\n".join(faults) or f"{len(programs)} programs")
    return 1 if faults or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
