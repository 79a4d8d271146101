#!/usr/bin/env python3
"""Makes metrics_reference.inc: what scikit-learn and SciPy compute for a small fixed case.

    /usr/bin/python3 metrics_reference.py        # needs python3-sklearn; writes metrics_reference.inc beside this file

Probabilities and scores are multiples of 1/64, so that they are the same numbers in float and in double, and so that
there are ties.
"""
import os

import numpy
import scipy
import sklearn
from scipy import special, stats
from sklearn import calibration, metrics

generator = numpy.random.default_rng(20240229)
n, classes = 40, 4

p = (1 + generator.multinomial(64 - classes, [0.1, 0.6, 0.2, 0.1], size=n)) / 64
for row in p:
    generator.shuffle(row)
labels = numpy.where(generator.random(n) < 0.6, p.argmax(1), generator.integers(classes, size=n))
inside = generator.integers(-64, 64, size=50) / 64
outside = generator.integers(-40, 88, size=30) / 64

truth = numpy.concatenate([numpy.zeros(len(inside)), numpy.ones(len(outside))])
scores = numpy.concatenate([inside, outside])
right, confidence = p.argmax(1) == labels, p.max(1)
fraction, mean = calibration.calibration_curve(right, confidence, n_bins=10, strategy="uniform")

draws, items, width = 3, 5, 2
means = generator.integers(-128, 128, size=(draws, items, width)) / 64
sds = generator.integers(16, 96, size=(draws, items, width)) / 64
targets = generator.integers(-128, 128, size=(items, width)) / 64
log_prob = stats.norm.logpdf(targets, means, sds).sum(-1)

lines = [f"// Made by metrics_reference.py with scikit-learn {sklearn.__version__} and SciPy {scipy.__version__}. "
         "Not to be edited by hand."]


def array(name, values, kind="double"):
    lines.append(f"const std::vector<{kind}> {name} = {{" + ", ".join(repr(v) for v in numpy.ravel(values).tolist()) + "};")


def number(name, value):
    lines.append(f"constexpr double {name} = {float(value)!r};")


array("probabilities", p)
array("labels", labels, "std::int32_t")
array("inside", inside)
array("outside", outside)
array("bin_accuracies", fraction)
array("bin_confidences", mean)
array("means", means)
array("sds", sds)
array("targets", targets)
array("entropies", stats.entropy(p, axis=1))
number("accuracy_expected", metrics.accuracy_score(labels, p.argmax(1)))
number("nll_expected", metrics.log_loss(labels, p, labels=range(classes)))
number("brier_expected", sum(metrics.brier_score_loss(labels == c, p[:, c]) for c in range(classes)))
number("auroc_expected", metrics.roc_auc_score(truth, scores))
number("aupr_expected", metrics.average_precision_score(truth, scores))
number("rmse_expected", numpy.sqrt(metrics.mean_squared_error(targets.ravel(), means[0].ravel())))
number("mean_absolute_error_expected", metrics.mean_absolute_error(targets.ravel(), means[0].ravel()))
number("mixture_expected", (special.logsumexp(log_prob, axis=0) - numpy.log(draws)).mean())

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics_reference.inc"), "w") as file:
    file.write("\n".join(lines) + "\n")
