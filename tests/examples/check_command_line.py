#!/usr/bin/env python3
"""check_command_line.py PROGRAM...

What every example has in common: --help lists its options with their defaults, and what is wrong with a command is said
in one line that names the way out, with exit code 2.
"""

import re
import subprocess
import sys
from pathlib import Path

# Arguments, and what the program says after its own name.
MISTAKES = [
    (["--nonsense"], "The following argument was not expected: --nonsense; --help lists the options"),
    (["--seed", "-1"], "--seed: it must not be negative; --help lists the options"),
    (["--seed", "one"], "Could not convert: --seed = one; --help lists the options"),
    (["--out", "/dev/null/x"], "Not a directory: /dev/null/x; --out takes a directory that can be written"),
]
MISTAKES_OF = {
    "mushroom_bandit": [(["nowhere.data"], "FILE: there is no file nowhere.data; --help lists the options")],
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
        run = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
        if run.returncode != 2 or run.stderr != f"{name}: {expected}\n":
            yield f"{' '.join(arguments)}: exit code {run.returncode}, {run.stderr!r} instead of {expected!r}"


def main():
    programs = sys.argv[1:]
    faults = [f"{program}: {fault}" for program in programs for fault in faults_of(program)]
    print("\n".join(faults) or f"{len(programs)} programs")
    return 1 if faults or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
