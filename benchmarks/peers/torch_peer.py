#!/usr/bin/env python3
"""The same work done by PyTorch. Prints one line a workload: its name and the milliseconds of the fastest repetition.

usage: torch_peer.py THREADS NAME...
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
images, labels = torch.rand(128, 1, 28, 28), torch.randint(0, 10, (128,))


def mlp(hidden):
    return nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 10))


def train(net, make_optimiser, inputs):
    optimiser = make_optimiser(net.parameters())

    def step():
        optimiser.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimiser.step()

    return step


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-2)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


WORK = {
    "normals_2_4m": lambda: lambda: torch.randn(2_400_000),
    "sgd_mlp_1200": lambda: train(mlp(1200), sgd, images.view(128, 784)),
    "adam_mlp_1200": lambda: train(mlp(1200), adam, images.view(128, 784)),
    "sgd_lenet": lambda: train(lenet(), sgd, images),
}

for name in sys.argv[2:]:
    if name not in WORK:
        continue
    work, times = WORK[name](), []
    for repetition in range(3):
        work()
    end = time.perf_counter() + 2
    while len(times) < 25 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    print(name, min(times) * 1e3)
