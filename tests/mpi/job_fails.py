#!/usr/bin/env python3
"""job_fails.py LINE COMMAND...

The job ends with an error and prints the line once to the standard error output. An empty line is not looked for: what is
said is then up to mpirun.
"""

import subprocess
import sys

line, command = sys.argv[1], sys.argv[2:]
job = subprocess.run(command, capture_output=True, text=True)
count = job.stderr.split("\n").count(line)
print(f"returns {job.returncode}; the line is there {count} times\n{job.stdout}\n{job.stderr}")
sys.exit(0 if job.returncode != 0 and (not line or count == 1) else 1)
