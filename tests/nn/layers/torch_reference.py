#!/usr/bin/env python3
"""Makes torch_reference.inc: what PyTorch computes for every layer and likelihood, on small fixed cases.

    python3 torch_reference.py        # needs PyTorch; writes torch_reference.inc beside this file

A case has an input x, parameters (under the names that pollen gives them), the output y, a random seed, and the
gradients of sum(seed * y) with respect to x and every parameter, d.x, d.weight, ... All inputs are multiples of 1/64, so
that they are the same numbers in float and in double; y and the gradients are computed in double. The script computes
them in float as well and stops where the two disagree by more than 1e-5.
"""
import os

import numpy
import torch
import torch.nn.functional as F

entries, numbers = [], []
generator = numpy.random.default_rng(20240229)


def random(*shape, low=-2.0, high=2.0):
    """Multiples of 1/64 between low and high, none of them 0."""
    whole = generator.integers(int(64 * low), int(64 * high), size=shape)
    return numpy.where(whole == 0, 7, whole) / 64


def distinct(*shape):
    """Multiples of 1/64, no two the same: where a maximum must not have ties."""
    n = int(numpy.prod(shape))
    return (generator.permutation(n) - n // 2).reshape(shape) / 64


def keep(case, name, array):
    array = numpy.asarray(array, dtype=numpy.float64)
    entries.append((case, name, array.shape, len(numbers)))
    numbers.extend(array.ravel().tolist())


def run(f, dtype, x, parameters, seed, whole):
    x = torch.tensor(x, dtype=torch.int64 if whole else dtype, requires_grad=not whole)
    p = {name: torch.tensor(value, dtype=dtype, requires_grad=True) for name, value in parameters.items()}
    y = f(x, p)
    if seed is not None:
        (y * torch.tensor(seed(y.shape), dtype=dtype)).sum().backward()
    else:
        y.backward()
    results = {"y": y.detach().numpy()}
    if not whole:
        results["d.x"] = x.grad.numpy()
    results.update({"d." + name: value.grad.numpy() for name, value in p.items()})
    return results


def case(name, f, x, parameters=None, whole=False):
    """A layer. f(x, parameters) -> y"""
    parameters = parameters or {}
    shape = f(torch.tensor(x, dtype=torch.int64 if whole else torch.float64),
              {k: torch.tensor(v) for k, v in parameters.items()}).shape
    seed = random(*shape)
    store(name, f, x, parameters, lambda _: seed, whole)
    keep(name, "seed", seed)


def likelihood(name, f, x, targets, parameters=None):
    """A log likelihood, one number. f(x, parameters) -> log p"""
    store(name, f, x, parameters or {}, None, False)
    keep(name, "targets", targets)


def store(name, f, x, parameters, seed, whole):
    exact = run(f, torch.float64, x, parameters, seed, whole)
    rough = run(f, torch.float32, x, parameters, seed, whole)
    keep(name, "x", x)
    for key, value in parameters.items():
        keep(name, key, value)
    for key, value in exact.items():
        assert numpy.all(numpy.abs(rough[key] - value) <= 1e-5 * numpy.maximum(1, numpy.abs(value))), (name, key)
        keep(name, key, value)


# ---- layers ----------------------------------------------------------------------------------------------------------

case("dense", lambda x, p: F.linear(x, p["weight"], p["bias"]), random(3, 4),
     {"weight": random(5, 4), "bias": random(5)})
case("dense_without_bias", lambda x, p: F.linear(x, p["weight"]), random(3, 4), {"weight": random(2, 4)})


def conv(name, x, weight, bias=True, **options):
    parameters = {"weight": random(*weight)}
    if bias:
        parameters["bias"] = random(weight[0])
    case(name, lambda x, p: F.conv2d(x, p["weight"], p.get("bias"), **options), random(*x), parameters)


conv("conv2d", (2, 2, 5, 4), (3, 2, 3, 2))
conv("conv2d_stride_padding", (1, 2, 6, 5), (2, 2, 3, 3), stride=(2, 1), padding=(1, 2))
conv("conv2d_dilation", (1, 1, 6, 6), (2, 1, 2, 3), dilation=(3, 2), bias=False)
conv("conv2d_groups", (2, 4, 4, 4), (6, 2, 3, 3), padding=1, groups=2)


def conv_transpose(name, x, weight, outputs, bias=True, **options):
    parameters = {"weight": random(*weight)}
    if bias:
        parameters["bias"] = random(outputs)
    case(name, lambda x, p: F.conv_transpose2d(x, p["weight"], p.get("bias"), **options), random(*x), parameters)


conv_transpose("conv_transpose2d", (2, 2, 3, 3), (2, 3, 2, 3), 3)
conv_transpose("conv_transpose2d_stride", (1, 2, 3, 4), (2, 2, 3, 3), 2, stride=(2, 3), padding=(1, 0),
               output_padding=(1, 2))
conv_transpose("conv_transpose2d_groups", (1, 4, 3, 3), (4, 1, 2, 2), 2, groups=2, dilation=2, bias=False)

case("max_pool2d", lambda x, p: F.max_pool2d(x, 2), distinct(2, 2, 4, 6))
case("max_pool2d_stride", lambda x, p: F.max_pool2d(x, (3, 2), stride=(2, 1), padding=(1, 1)), distinct(1, 2, 6, 5))
case("avg_pool2d", lambda x, p: F.avg_pool2d(x, 2), random(2, 2, 4, 6))
case("avg_pool2d_stride", lambda x, p: F.avg_pool2d(x, (3, 2), stride=(2, 1), padding=(1, 1)), random(1, 2, 6, 5))
case("flatten", lambda x, p: x.flatten(1), random(2, 2, 3, 2))

case("layer_norm", lambda x, p: F.layer_norm(x, (6,), p["scale"], p["shift"], 1e-5), random(4, 6),
     {"scale": random(6), "shift": random(6)})
case("layer_norm_images", lambda x, p: F.layer_norm(x, (3,), p["scale"], p["shift"], 1e-3), random(2, 2, 2, 3),
     {"scale": random(3), "shift": random(3)})


def filter_response_norm(x, p):  # Singh & Krishnan 2020, Eqs. 1-3 and the thresholded linear unit
    squares = torch.mean(x * x, dim=(2, 3), keepdim=True)
    y = p["scale"] * (x * torch.rsqrt(squares + 1e-6)) + p["shift"]
    return torch.max(y, p["threshold"])


case("filter_response_norm", filter_response_norm, random(2, 3, 3, 4),
     {"scale": random(3, 1, 1), "shift": random(3, 1, 1), "threshold": random(3, 1, 1, low=-1, high=1)})

case("embedding", lambda x, p: F.embedding(x, p["table"]), generator.integers(0, 5, size=(3, 2)),
     {"table": random(5, 4)}, whole=True)

points = random(3, 11, low=-4, high=4)
for name, f in {
        "relu": F.relu,
        "leaky_relu": F.leaky_relu,
        "leaky_relu_slope": lambda x: F.leaky_relu(x, 0.25),
        "elu": F.elu,
        "elu_alpha": lambda x: F.elu(x, 1.5),
        "gelu": F.gelu,
        "swish": F.silu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "softplus": F.softplus,
        "dropout": lambda x: F.dropout(x, 0.5, training=False),
}.items():
    case(name, lambda x, p, f=f: f(x), points)

case("residual", lambda x, p: x + F.linear(torch.tanh(F.linear(x, p["body.0.weight"], p["body.0.bias"])),
                                           p["body.2.weight"], p["body.2.bias"]), random(3, 4),
     {"body.0.weight": random(5, 4), "body.0.bias": random(5), "body.2.weight": random(4, 5), "body.2.bias": random(4)})
case("residual_shortcut", lambda x, p: F.linear(x, p["shortcut.weight"]) +
     F.relu(F.linear(x, p["body.0.weight"], p["body.0.bias"])), random(3, 4),
     {"body.0.weight": random(2, 4), "body.0.bias": random(2), "shortcut.weight": random(2, 4)})
case("network", lambda x, p: F.linear(F.max_pool2d(torch.tanh(
    F.conv2d(x, p["0.weight"], p["0.bias"], padding=1)), 2).flatten(1), p["4.weight"], p["4.bias"]), random(2, 1, 4, 4),
     {"0.weight": random(2, 1, 3, 3), "0.bias": random(2), "4.weight": random(3, 8), "4.bias": random(3)})

# ---- likelihoods -----------------------------------------------------------------------------------------------------

D = torch.distributions
like = lambda targets, x: torch.tensor(targets, dtype=x.dtype)

labels = [2, 0, 3, 1, 1]
likelihood("categorical", lambda x, p: -F.cross_entropy(x, torch.tensor(labels), reduction="sum"), random(5, 4), labels)
ones = generator.integers(0, 2, size=(4, 3))
likelihood("bernoulli", lambda x, p: -F.binary_cross_entropy_with_logits(x, like(ones, x), reduction="sum"),
           random(4, 3, low=-6, high=6), ones)
targets = random(4, 3)
likelihood("gaussian_known", lambda x, p: -F.gaussian_nll_loss(x, like(targets, x), torch.full_like(x, 0.75**2),
                                                               full=True, eps=1e-9, reduction="sum"),
           random(4, 3), targets)
likelihood("gaussian_learned", lambda x, p: D.Normal(x, torch.exp(p["log_sd"])).log_prob(like(targets, x)).sum(),
           random(4, 3), targets, {"log_sd": numpy.float64(-0.375)})
likelihood("gaussian_predicted", lambda x, p: D.Normal(x[:, :3], F.softplus(x[:, 3:]) + 1e-6)
           .log_prob(like(targets, x)).sum(), random(4, 6), targets)
counts = generator.integers(0, 20, size=(4, 3))
likelihood("poisson", lambda x, p: D.Poisson(torch.exp(x)).log_prob(like(counts, x)).sum(), random(4, 3), counts)
likelihood("student_t_known", lambda x, p: D.StudentT(4.0, x, 0.75).log_prob(like(targets, x)).sum(), random(4, 3),
           targets)
likelihood("student_t_learned", lambda x, p: D.StudentT(2.5, x, torch.exp(p["log_scale"]))
           .log_prob(like(targets, x)).sum(), random(4, 3), targets, {"log_scale": numpy.float64(-0.375)})

# ---- layers that came later: what stands above keeps its random numbers -----------------------------------------------


def conv1d(name, x, weight, bias=True, **options):
    parameters = {"weight": random(*weight)}
    if bias:
        parameters["bias"] = random(weight[0])
    case(name, lambda x, p: F.conv1d(x, p["weight"], p.get("bias"), **options), random(*x), parameters)


conv1d("conv1d", (2, 2, 6), (3, 2, 3))
conv1d("conv1d_stride_padding", (2, 2, 7), (2, 2, 4), stride=3, padding=2)
conv1d("conv1d_dilation", (2, 1, 8), (2, 1, 3), dilation=2, bias=False)
conv1d("conv1d_groups", (2, 4, 5), (6, 2, 3), padding=1, groups=2)
case("max_pool1d", lambda x, p: F.max_pool1d(x, 2), distinct(2, 2, 5))
case("max_pool1d_stride", lambda x, p: F.max_pool1d(x, 3, stride=2, padding=1), distinct(1, 2, 6))
case("avg_pool1d", lambda x, p: F.avg_pool1d(x, 2), random(2, 2, 5))
case("avg_pool1d_stride", lambda x, p: F.avg_pool1d(x, 3, stride=2, padding=1), random(1, 2, 6))

conv("depthwise_conv2d", (2, 3, 4, 4), (3, 1, 3, 3), padding=1, groups=3)
conv("depthwise_conv2d_multiplier", (2, 2, 6, 5), (4, 1, 3, 2), stride=(1, 2), dilation=(2, 1), groups=2, bias=False)

case("global_avg_pool", lambda x, p: F.adaptive_avg_pool2d(x, 1).flatten(1), random(2, 3, 3, 4))
case("global_max_pool", lambda x, p: F.adaptive_max_pool2d(x, 1).flatten(1), distinct(2, 3, 3, 4))
case("global_avg_pool_sequence", lambda x, p: F.adaptive_avg_pool1d(x, 1).flatten(1), random(2, 3, 5))
case("global_avg_pool_steps", lambda x, p: x.mean(1), random(2, 4, 3))
case("global_max_pool_steps", lambda x, p: x.amax(1), distinct(2, 4, 3))


def recurrent(name, kind, inputs, hidden, gates, other_bias, last=False):
    """other_bias(parameters) is the second of PyTorch's two biases."""
    parameters = {"input_weight": random(gates * hidden, inputs), "hidden_weight": random(gates * hidden, hidden),
                  "bias": random(gates * hidden)}
    if kind == "gru":
        parameters["hidden_bias"] = random(hidden)

    def f(x, p):
        first = torch.zeros(1, len(x), hidden, dtype=x.dtype)
        weights = [p["input_weight"], p["hidden_weight"], p["bias"], other_bias(p)]
        if kind == "gru":
            y = torch._VF.gru(x, first, weights, True, 1, 0.0, True, False, True)[0]
        else:
            y = torch._VF.lstm(x, (first, first), weights, True, 1, 0.0, True, False, True)[0]
        return y[:, -1] if last else y

    case(name, f, random(3, 4, inputs), parameters)


gru_biases = lambda p: torch.cat([torch.zeros(2 * len(p["hidden_bias"]), dtype=p["bias"].dtype), p["hidden_bias"]])
lstm_biases = lambda p: torch.zeros_like(p["bias"])
recurrent("gru", "gru", 2, 3, 3, gru_biases)
recurrent("gru_last", "gru", 3, 2, 3, gru_biases, last=True)
recurrent("lstm", "lstm", 2, 3, 4, lstm_biases)
recurrent("lstm_last", "lstm", 3, 2, 4, lstm_biases, last=True)


def attention(name, features, heads, causal=False, bias=True):
    parameters = {"input_weight": random(3 * features, features), "output_weight": random(features, features)}
    if bias:
        parameters.update({"input_bias": random(3 * features), "output_bias": random(features)})

    def f(x, p):
        steps = x.shape[1]
        mask = torch.triu(torch.full((steps, steps), -torch.inf, dtype=x.dtype), 1) if causal else None
        x = x.transpose(0, 1)
        y, _ = F.multi_head_attention_forward(
            x, x, x, features, heads, p["input_weight"], p.get("input_bias"), None, None, False, 0.0,
            p["output_weight"], p.get("output_bias"), training=False, need_weights=False, attn_mask=mask)
        return y.transpose(0, 1)

    case(name, f, random(2, 4, features, low=-1, high=1), parameters)


attention("attention", 6, 2)
attention("attention_causal", 4, 1, causal=True)
attention("attention_without_bias", 4, 4, bias=False)


def batch_norm(name, *shape, training):
    """In training the running statistics after the step are kept as next.running_mean and next.running_variance."""
    features = shape[1]
    parameters = {"scale": random(features), "shift": random(features)}
    statistics = {"running_mean": random(features), "running_variance": random(features, low=0.1)}

    def f(x, p):
        mean, variance = (torch.tensor(statistics[key], dtype=x.dtype) for key in statistics)
        y = F.batch_norm(x, mean, variance, p["scale"], p["shift"], training, 0.1, 1e-5)
        f.next = mean.numpy(), variance.numpy()
        return y

    x = random(*shape)
    case(name, f, x, parameters)
    for key, value in statistics.items():
        keep(name, key, value)
    if training:
        f(torch.tensor(x), {key: torch.tensor(value) for key, value in parameters.items()})
        keep(name, "next.running_mean", f.next[0])
        keep(name, "next.running_variance", f.next[1])


batch_norm("batch_norm", 5, 3, training=True)
batch_norm("batch_norm_sequences", 3, 2, 4, training=True)
batch_norm("batch_norm_images", 2, 3, 3, 2, training=True)
batch_norm("batch_norm_running", 4, 3, training=False)
batch_norm("batch_norm_running_images", 2, 3, 2, 3, training=False)

# ---- the file --------------------------------------------------------------------------------------------------------

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_reference.inc"), "w") as out:
    out.write(f"// Made by torch_reference.py with PyTorch {torch.__version__}. Not to be edited by hand.\n")
    out.write("constexpr TorchArray torch_arrays[] = {\n")
    for name, array, shape, offset in entries:
        sizes = ", ".join(map(str, shape))
        out.write(f'    {{"{name}", "{array}", {len(shape)}, {{{sizes}}}, {offset}}},\n')
    out.write("};\nconstexpr double torch_numbers[] = {\n")
    line = "   "
    for number in numbers:
        text = f" {number!r},"  # the shortest text that is read back as the same number
        if len(line) + len(text) > 120:
            out.write(line + "\n")
            line = "   "
        line += text
    out.write(line + "\n};\n")
