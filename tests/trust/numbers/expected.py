"""What tables should say, computed from the raw predictions without the program: plain loops, no library."""

import csv
import math


def accuracy(truth, guess):
    return 100 * sum(t == g for t, g in zip(truth, guess)) / len(truth)


def macro_f1(truth, guess):
    total, present = 0.0, sorted(set(truth) | set(guess))
    for c in present:
        hits = sum(t == c and g == c for t, g in zip(truth, guess))
        total += 2 * hits / (truth.count(c) + guess.count(c))
    return 100 * total / len(present)


def roc_auc(truth, score):
    """The share of pairs of a positive and a negative that are in the right order; a tie is half a pair."""
    right = pairs = 0
    for t, s in zip(truth, score):
        for u, z in zip(truth, score):
            if t == 1 and u == 0:
                pairs += 1
                right += 1 if s > z else 0.5 if s == z else 0
    return 100 * right / pairs


def score(data, truth, guess, positive):
    if data.metric == "roc_auc":
        return roc_auc(truth, positive)
    return (accuracy if data.metric == "accuracy" else macro_f1)(truth, guess)


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    if len(values) < 2:
        return 0.0
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def p_value(differences):
    """Of the paired t-test, by the closed forms of one and two degrees of freedom."""
    spread = deviation(differences)
    if spread < 1e-12:
        return 1.0 if abs(mean(differences)) < 1e-12 else 0.0
    t = abs(mean(differences)) / (spread / math.sqrt(len(differences)))
    if len(differences) == 2:
        return 1 - 2 / math.pi * math.atan(t)
    assert len(differences) == 3
    return 1 - t / math.sqrt(2 + t * t)


class Run:
    """Scores of one run by role and group, from its file of predictions."""

    def __init__(self, data, predictions):
        by_domain = {}
        with open(predictions) as file:
            for row in csv.DictReader(file):
                by_domain.setdefault(row["domain"], {})[row["id"]] = row
        self.scores = {}
        for role in ("train", "validation", "test"):
            self.scores[role] = {}
            for group in data.groups_of(role):
                truth, guess, positive = [], [], []
                for domain in data.roles:
                    if data.group(domain) != group:
                        continue
                    for name, label in data.labels(domain).items():
                        row = by_domain[domain][name]
                        p = [float(row[f"p_{c}"]) for c in range(data.classes)]
                        assert p[int(row["class"])] == max(p), row
                        truth.append(label)
                        guess.append(int(row["class"]))
                        # Next to 1 a probability has no digits left to rank items by; the other one has.
                        positive.append(math.log(p[1] or 1e-300) - math.log(p[0] or 1e-300))
                self.scores[role][group] = score(data, truth, guess, positive)
        self.test = self.scores["test"]
        self.avg = mean(list(self.test.values()))
        self.validation = mean(list(self.scores["validation"].values()))


def constants(data, role):
    """{"constant": {group: value}, "constant_own": ...}: of training's most frequent class, and of each group's own."""
    def most(labels):
        return max(range(data.classes), key=lambda c: (labels.count(c), -c))

    train = [y for d, its in data.roles.items() if its == "train" for y in data.labels(d).values()]
    found = {"constant": {}, "constant_own": {}}
    for group in data.groups_of(role):
        truth = [y for d in data.roles if data.group(d) == group for y in data.labels(d).values()]
        for key, answer in (("constant", most(train)), ("constant_own", most(truth))):
            found[key][group] = score(data, truth, [answer] * len(truth), [0.5] * len(truth))
    return found


class Cell:
    """All runs of one method and variant on one dataset, as the tables sum them up."""

    def __init__(self, runs):
        self.runs = runs  # seed -> Run
        order = [runs[seed] for seed in sorted(runs)]
        self.domains = {g: (mean([r.test[g] for r in order]), deviation([r.test[g] for r in order]))
                        for g in order[0].test}
        self.min_domain = min(self.domains, key=lambda g: self.domains[g][0])
        self.min = self.domains[self.min_domain]
        self.avg = (mean([m for m, _ in self.domains.values()]), deviation([r.avg for r in order]))
        lowest = [min(r.test.values()) for r in order]
        self.min_per_run = (mean(lowest), deviation(lowest))
        self.validation = (mean([r.validation for r in order]), deviation([r.validation for r in order]))

    def against(self, other):
        """Mean difference, p and mark, paired by seed."""
        seeds = sorted(set(self.runs) & set(other.runs))
        differences = [self.runs[s].avg - other.runs[s].avg for s in seeds]
        p = p_value(differences)
        mark = 0 if p >= 0.05 else 1 if mean(differences) > 0 else -1
        return mean(differences), p, mark, len(seeds)


def check_with_sklearn():
    """Where scikit-learn is installed, the metrics above are its."""
    try:
        from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
    except ImportError:
        return
    import random
    rng = random.Random(7)
    for _ in range(50):
        truth = [0, 1] + [rng.randrange(3) for _ in range(20)]
        guess = [rng.randrange(3) for _ in truth]
        assert abs(accuracy(truth, guess) - 100 * accuracy_score(truth, guess)) < 1e-9
        assert abs(macro_f1(truth, guess) - 100 * f1_score(truth, guess, average="macro")) < 1e-9
        two = [t % 2 for t in truth]
        ranked = [rng.randrange(6) / 6 for _ in truth]
        assert abs(roc_auc(two, ranked) - 100 * roc_auc_score(two, ranked)) < 1e-9
