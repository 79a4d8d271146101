#!/usr/bin/env python3
"""example_on_ranks.py RANKS PROGRAM EXACT OUT MPIEXEC...

An example that is spread over processes writes the tables of EXACT, to the last digit, as it does in one process.
"""

import shutil
import subprocess
import sys
from pathlib import Path

def main():
    ranks, program, exact, out, *mpiexec = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    command = [*mpiexec, "-n", ranks, program, "--quick", "--out", out]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100)
    faults = [] if run.returncode == 0 else [f"exit code {run.returncode}"]
    tables = sorted(Path(exact).glob("*.csv"))
    for table in tables:
        found = Path(out, table.name)
        if not found.is_file() or found.read_bytes() != table.read_bytes():
            faults.append(f"{found} is not {table}")
    if not tables:
        faults.append(f"{exact} has no tables")
    if run.stdout.count("Results are in") != 1:
        faults.append("one process should print the results, and no other")
    if faults:
        sys.exit("\n".join([*faults, run.stdout, run.stderr]))


main()
