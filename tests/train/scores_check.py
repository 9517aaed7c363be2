"""Recomputes every score of a JSON file with scikit-learn and numpy: python3 scores_check.py CASES.

Each case has labels, predictions, the scores of each class, our values and, where they were computed,
intervals with the resamples that they come from. Prints what differs by more than 1e-9; exit code 1 then.
"""

import json
import sys
import warnings

import numpy as np
from sklearn import metrics

warnings.filterwarnings("ignore")
KINDS = ["accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "average_precision", "matthews"]
failures = 0


def compare(what, ours, expected):
    global failures
    if (ours is None) != (expected is None) or (ours is not None and abs(ours - expected) > 1e-9):
        failures += 1
        print(f"{what}: ours {ours}, scikit-learn {expected}")


def auc(y, score):
    return metrics.roc_auc_score(y, score) if 0 < y.sum() < len(y) else None


def precision(y, score):
    return metrics.average_precision_score(y, score) if y.sum() > 0 else None


def mean(values):
    values = [v for v in values if v is not None]
    return float(np.mean(values)) if values else None


def values_of(y, predicted, scores):
    classes = range(scores.shape[1])
    ranked = [1] if len(classes) == 2 else classes
    return [
        metrics.accuracy_score(y, predicted),
        metrics.balanced_accuracy_score(y, predicted),
        metrics.f1_score(y, predicted, average="macro"),
        mean([auc((y == c).astype(int), scores[:, c]) for c in ranked]),
        mean([precision((y == c).astype(int), scores[:, c]) for c in ranked]),
        metrics.matthews_corrcoef(y, predicted),
    ]


def scale(kind, value):
    return value if value is None or kind == "matthews" else value / 100


def check_curves(name, case, y, scores):
    for c, curve in enumerate(case["curves"]):
        truth = (y == c).astype(int)
        if 0 < truth.sum() < len(truth):
            fpr, tpr, at = metrics.roc_curve(truth, scores[:, c], drop_intermediate=False)
            compare(f"{name} curve {c} points", len(curve), len(at) - 1)
            for point, f, t, threshold in zip(curve, fpr[1:], tpr[1:], at[1:]):
                compare(f"{name} curve {c}", point[0], float(threshold))
                compare(f"{name} curve {c}", point[1] / truth.sum(), float(t))
                compare(f"{name} curve {c}", point[2] / (len(truth) - truth.sum()), float(f))


def check_threshold(name, case, y, scores):
    """The best threshold by trying all of them."""
    truth = y == case["positive"]
    score = scores[:, case["positive"]]
    for wanted in case["thresholds"]:
        options = []
        for at in sorted(set(score), reverse=True):
            called = score >= at
            p, r = truth[called].mean(), called[truth].mean()
            bound, gain = (p, r) if wanted["wanted"] == "precision" else (r, p)
            reached = bound >= wanted["value"] - 1e-11
            options.append(((reached, gain, bound) if reached else (reached, bound, gain), at, p, r))
        best = max(options, key=lambda option: (option[0], option[1]))
        compare(f"{name} {wanted['wanted']} reached", wanted["reached"], int(best[0][0]))
        compare(f"{name} {wanted['wanted']} threshold", wanted["threshold"], float(best[1]))
        compare(f"{name} {wanted['wanted']} precision", wanted["precision"] / 100, float(best[2]))
        compare(f"{name} {wanted['wanted']} recall", wanted["recall"] / 100, float(best[3]))


cases = json.load(open(sys.argv[1]))
for number, case in enumerate(cases):
    name = f"case {number}"
    y, predicted = np.array(case["y"]), np.array(case["predicted"])
    scores = np.array(case["scores"])
    for kind, ours, expected in zip(KINDS, case["values"], values_of(y, predicted, scores)):
        compare(f"{name} {kind}", scale(kind, ours), expected)
    labels = list(range(scores.shape[1]))
    p, r, f, support = metrics.precision_recall_fscore_support(y, predicted, labels=labels)
    confusion = metrics.confusion_matrix(y, predicted, labels=labels)
    compare(f"{name} confusion", int(np.abs(confusion - np.array(case["confusion"])).sum()), 0)
    for c, ours in enumerate(case["classes"]):
        called = (predicted == c).sum()
        expected = [p[c] if called else None, r[c] if support[c] else None,
                    f[c] if called + support[c] else None,
                    auc((y == c).astype(int), scores[:, c]), precision((y == c).astype(int), scores[:, c])]
        for word, mine, its in zip(["precision", "recall", "f1", "roc_auc", "average_precision"], ours, expected):
            compare(f"{name} class {c} {word}", scale(word, mine), its)
    check_curves(name, case, y, scores)
    if case.get("thresholds"):
        check_threshold(name, case, y, scores)
    if case.get("resamples"):
        found = [values_of(y[rows], predicted[rows], scores[rows]) for rows in map(np.array, case["resamples"])]
        for k, kind in enumerate(KINDS):
            defined = [values[k] for values in found if values[k] is not None]
            low, high, count = case["intervals"][k]
            compare(f"{name} {kind} resamples", count, len(defined))
            tail = (100 - case["level"]) / 2
            compare(f"{name} {kind} low", scale(kind, low), np.percentile(defined, tail) if defined else None)
            compare(f"{name} {kind} high", scale(kind, high), np.percentile(defined, 100 - tail) if defined else None)
print(f"{len(cases)} cases compared, {failures} differences")
sys.exit(failures > 0)
