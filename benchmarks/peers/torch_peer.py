#!/usr/bin/env python3
"""The same work done by PyTorch. Prints one line a workload: its name and the milliseconds of the fastest repetition.

usage: torch_peer.py THREADS NAME...
"""
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)

WORK = {
    "normals_2_4m": lambda: torch.randn(2_400_000),
}

for name in sys.argv[2:]:
    if name not in WORK:
        continue
    work, fastest = WORK[name], float("inf")
    for repetition in range(30):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    print(name, fastest * 1e3)
