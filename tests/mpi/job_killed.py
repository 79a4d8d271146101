#!/usr/bin/env python3
"""job_killed.py MOMENTS COMMAND...

Runs `check_chains kill` with a rank that is killed at a random evaluation of its model, MOMENTS times. The word RANKS in the
command is the number of ranks. Each job ends with an error. Then `check_chains same` goes on with the files
that are there, with another number of ranks, and compares the result with a run that was never interrupted.
"""

import random
import subprocess
import sys
import tempfile

moments, command = int(sys.argv[1]), sys.argv[2:]
random.seed(7)


def run(ranks, *arguments):
    return subprocess.run([str(ranks) if word == "RANKS" else word for word in command] + list(arguments),
                          capture_output=True, text=True, timeout=60)


for moment in range(moments):
    with tempfile.TemporaryDirectory() as directory:
        killed, again = random.choice([2, 3, 4]), random.choice([1, 2, 3])
        rank, evaluation = random.randrange(killed), random.randrange(400)
        job = run(killed, "kill", directory + "/run", str(rank), str(evaluation))
        print(f"rank {rank} of {killed} is killed at evaluation {evaluation}: the job returns {job.returncode}")
        if job.returncode == 0:
            sys.exit(job.stdout + job.stderr)
        job = run(again, "same", directory + "/run")
        if job.returncode != 0 or job.stdout != f"all is well on {again} ranks\n":
            sys.exit(f"{again} ranks: returns {job.returncode}\n{job.stdout}{job.stderr}")
