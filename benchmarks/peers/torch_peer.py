#!/usr/bin/env python3
"""The same work done by PyTorch. Prints one line a workload: its name and the milliseconds of the fastest repetition.

usage: torch_peer.py THREADS NAME...
"""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
images, labels = torch.rand(128, 1, 28, 28), torch.randint(0, 10, (128,))
colour_images = torch.rand(64, 3, 32, 32)


def mlp(hidden):
    return nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 10))


def vgg():
    layers, inputs = [], 3
    for stage in [(64, 64), (128, 128), (256,)]:
        for outputs in stage:
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4096, 10))


class FilterResponseNorm(nn.Module):
    """Without the threshold of pollen's layer, which would cost PyTorch a sixth more."""

    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.shift = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x):
        spread = torch.rsqrt(x.square().mean((2, 3), keepdim=True) + 1e-6)
        return torch.addcmul(self.shift, x, spread * self.scale)


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        stride = 1 if inputs == outputs else 2
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1), FilterResponseNorm(outputs), nn.SiLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1), FilterResponseNorm(outputs))
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


def resnet20():
    layers, inputs = [nn.Conv2d(3, 16, 3, 1, 1), FilterResponseNorm(16), nn.SiLU()], 16
    for outputs in [16] * 3 + [32] * 3 + [64] * 3:
        layers += [Residual(inputs, outputs), nn.SiLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10))


def mobile():
    layers, inputs = [nn.Conv2d(3, 32, 3, 1, 1), nn.ReLU()], 32
    for outputs in [64, 128, 128, 256, 256]:
        stride = 2 if 32 < inputs < outputs else 1
        layers += [nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs), nn.ReLU(),
                   nn.Conv2d(inputs, outputs, 1), nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.AvgPool2d(8), nn.Flatten(), nn.Linear(256, 10))


def train(net, make_optimiser, inputs):
    optimiser = make_optimiser(net.parameters())

    def step():
        optimiser.zero_grad()
        F.cross_entropy(net(inputs), labels[:len(inputs)]).backward()
        optimiser.step()

    return step


def sgd(parameters, rate=1e-2):
    return torch.optim.SGD(parameters, lr=rate)


def slow_sgd(parameters):
    return sgd(parameters, 1e-4)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def sample(net, inputs, make_update, items=60000):
    """A step of a sampler whose prior is N(0, 1)."""
    parameters = list(net.parameters())
    update = make_update(parameters)

    def step():
        for p in parameters:
            p.grad = None
        F.cross_entropy(net(inputs), labels, reduction="sum").mul(items / len(inputs)).backward()
        with torch.no_grad():
            update()

    return step


def sgld(parameters, step=1e-6):
    def update():
        for p in parameters:
            p.add_(p.grad + p, alpha=-step / 2).add_(torch.randn_like(p), alpha=math.sqrt(step))

    return update


def sghmc(parameters, step=1e-7, friction=0.1):
    velocities = [torch.zeros_like(p) for p in parameters]

    def update():
        for p, v in zip(parameters, velocities):
            v.mul_(1 - friction).add_(p.grad + p, alpha=-step)
            p.add_(v.add_(torch.randn_like(p), alpha=math.sqrt(2 * friction * step)))

    return update


def gradient(items, smallest_sd=1e-6):
    """-log p(theta) - log p(y | theta) and its gradient: a predicted mean and sd, and a N(0, 1) prior."""
    net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
    parameters = list(net.parameters())
    inputs, targets = torch.randn(items, 5), torch.randn(items)
    constant = 0.5 * math.log(2 * math.pi) * (items + sum(p.numel() for p in parameters))

    def step():
        mean, raw = net(inputs).unbind(1)
        sd = F.softplus(raw) + smallest_sd
        energy = (0.5 * ((targets - mean) / sd) ** 2 + torch.log(sd)).sum() + constant
        energy = energy + 0.5 * sum((p * p).sum() for p in parameters)
        return energy.item(), torch.autograd.grad(energy, parameters)

    return step


def log_normal(w, sd):
    return -0.5 * math.log(2 * math.pi) - math.log(sd) - 0.5 * (w / sd) ** 2


class Bayes(nn.Module):
    """Weights and biases drawn from N(mu, softplus(rho)^2), and log q - log p under the scale mixture prior."""

    def __init__(self, shape):
        super().__init__()
        self.mu = nn.ParameterList([nn.Parameter(torch.empty(shape).normal_(0, 0.1)), nn.Parameter(torch.zeros(shape[0]))])
        self.rho = nn.ParameterList([nn.Parameter(torch.full(shape, -5.0)), nn.Parameter(torch.full(shape[:1], -5.0))])

    def forward(self):
        drawn, cost = [], 0
        for mu, rho in zip(self.mu, self.rho):
            sigma = F.softplus(rho)
            w = mu + sigma * torch.randn_like(mu)
            log_q = log_normal((w - mu) / sigma, 1) - torch.log(sigma)
            log_p = torch.logaddexp(log_normal(w, 1.0) + math.log(0.25), log_normal(w, math.exp(-6)) + math.log(0.75))
            cost = cost + (log_q - log_p).sum()
            drawn.append(w)
        return drawn, cost


def bbb(shapes, evaluate):
    layers = nn.ModuleList([Bayes(shape) for shape in shapes])
    optimiser = torch.optim.SGD(layers.parameters(), lr=1e-2)

    def step():
        optimiser.zero_grad()
        weights, costs = zip(*[layer() for layer in layers])
        (F.cross_entropy(evaluate(weights), labels) + sum(costs) / 60000).backward()
        optimiser.step()

    return step


def dense(weights, inputs=images.view(128, 784)):
    x = inputs
    for k, (w, b) in enumerate(weights):
        x = F.linear(F.relu(x) if k else x, w, b)
    return x


def convolutional(weights):
    x = images
    for k, (w, b) in enumerate(weights):
        x = F.max_pool2d(F.relu(F.conv2d(x, w, b)), 2) if k < 2 else F.linear(F.relu(x.flatten(1)) if k > 2 else x.flatten(1), w, b)
    return x


def predict(hidden):
    layers = nn.ModuleList([Bayes(shape) for shape in mlp_shapes(hidden)])
    inputs = torch.rand(1000, 784)

    def step():
        with torch.no_grad():
            total = 0
            for _ in range(10):
                weights = [[mu + F.softplus(rho) * torch.randn_like(mu) for mu, rho in zip(l.mu, l.rho)] for l in layers]
                total = total + F.softmax(dense(weights, inputs), 1)

    return step


def mlp_shapes(hidden):
    return [(hidden, 784), (hidden, hidden), (10, hidden)]


LENET_SHAPES = [(32, 1, 5, 5), (64, 32, 5, 5), (256, 1024), (10, 256)]

WORK = {
    "normals_2_4m": lambda: lambda: torch.randn(2_400_000),
    "sgd_mlp_1200": lambda: train(mlp(1200), sgd, images.view(128, 784)),
    "adam_mlp_1200": lambda: train(mlp(1200), adam, images.view(128, 784)),
    "sgd_lenet": lambda: train(lenet(), sgd, images),
    "sgd_vgg": lambda: train(vgg(), slow_sgd, colour_images),
    "sgd_resnet20": lambda: train(resnet20(), slow_sgd, colour_images),
    "sgd_mobile": lambda: train(mobile(), slow_sgd, colour_images),
    "bbb_mlp_1200": lambda: bbb(mlp_shapes(1200), dense),
    "bbb_mlp_400": lambda: bbb(mlp_shapes(400), dense),
    "bbb_lenet": lambda: bbb(LENET_SHAPES, convolutional),
    "sgld_mlp_1200": lambda: sample(mlp(1200), images.view(128, 784), sgld),
    "sghmc_mlp_1200": lambda: sample(mlp(1200), images.view(128, 784), sghmc),
    "sgld_lenet": lambda: sample(lenet(), images, sgld),
    "predict_mlp_1200": lambda: predict(1200),
    "bnn_gradient_100": lambda: gradient(100),
    "bnn_gradient_1052": lambda: gradient(1052),
    "bnn_gradient_12165": lambda: gradient(12165),
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
