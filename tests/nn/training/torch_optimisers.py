#!/usr/bin/env python3
"""Prints the reference values of test_optimiser.cpp: PyTorch's optimisers after six steps on f(theta) = sum c theta^2 / 2,
in double. Run it again only if the cases change."""
import torch

C = torch.tensor([0.5, 1.0, 2.0, 4.0, -1.0], dtype=torch.float64)
CASES = {
    "Sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "Sgd with decay": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.25),
    "Momentum classic": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Momentum nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "RmsProp": lambda p: torch.optim.RMSprop(p, lr=0.1, alpha=0.9, eps=1e-8),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-8),
    "Adam with decay": lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-8, weight_decay=0.25),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1, betas=(0.8, 0.95), eps=1e-8, weight_decay=0.125),
}
for name, make in CASES.items():
    theta = torch.tensor([1.0, -2.0, 0.5, 3.0, 0.25], dtype=torch.float64, requires_grad=True)
    optimiser = make([theta])
    for step in range(6):
        optimiser.zero_grad()
        (C * theta * theta / 2).sum().backward()
        optimiser.step()
    print(name, "{" + ", ".join("%.17g" % x for x in theta.tolist()) + "}")
