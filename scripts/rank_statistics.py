"""Tests of many methods on several datasets, in plain Python (used by scripts/comparison.py).

Paired t-test, Holm's correction, mean ranks, Friedman's test in the form of Iman and Davenport, and the critical
difference of Nemenyi (J. Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006).
"""
import math
import statistics


def incomplete_beta(a, b, x):
    """The regularised incomplete beta function I_x(a, b), by its continued fraction from the tail."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    tail = 1.0
    for i in range(100 + 20 * int(math.sqrt(a + b)), 0, -1):
        m = i // 2
        if i % 2 == 0:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        tail = 1 + d / tail
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) / (a * tail)


def paired_p(pairs):
    """Two-sided p of a paired t-test; None with fewer than two pairs. Equal differences have no spread: 0 or 1."""
    differences = [a - b for a, b in pairs]
    if len(differences) < 2:
        return None
    if len(set(differences)) == 1:
        return 1.0 if differences[0] == 0 else 0.0
    n = len(differences)
    t = statistics.fmean(differences) / (statistics.stdev(differences) / math.sqrt(n))
    return incomplete_beta((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t))


def holm(values):
    """Holm's adjusted p-values: below 5 % they keep the chance of any false one below 5 %."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted, largest = [0.0] * len(values), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[i]))
        adjusted[i] = largest
    return adjusted


def ranks(scores):
    """Ranks of one dataset, the highest score first; equal scores share the mean of their places."""
    return [1 + sum(other > own for other in scores) + (sum(other == own for other in scores) - 1) / 2
            for own in scores]


def mean_ranks(table):
    """`table` has a row of scores for each dataset."""
    by_dataset = [ranks(row) for row in table]
    return [statistics.fmean(column) for column in zip(*by_dataset)]


def friedman(mean, n):
    """Of mean ranks over n datasets: Friedman's chi-square, and the statistic of Iman and Davenport with its p-value."""
    k = len(mean)
    chi = 12 * n / (k * (k + 1)) * (sum(r * r for r in mean) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi
    if n < 2 or rest <= 1e-12:
        return chi, None, None
    f = (n - 1) * chi / rest
    first, second = k - 1, (k - 1) * (n - 1)
    return chi, f, incomplete_beta(second / 2, first / 2, second / (second + first * f))


def range_probability(k, q):
    """Probability that the range of k standard normal numbers is at most q (Simpson's rule)."""
    def inside(z):
        cut = 0.5 * (math.erf(z / math.sqrt(2)) - math.erf((z - q) / math.sqrt(2)))
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * cut ** (k - 1)

    steps, low, high = 2000, -8.0, 8.0 + q
    width = (high - low) / steps
    total = inside(low) + inside(high)
    for i in range(1, steps):
        total += (4 if i % 2 else 2) * inside(low + i * width)
    return k * total * width / 3


def nemenyi_q(k, level=0.05):
    """Quantile of the studentised range of k means with infinite freedom, divided by the root of 2."""
    low, high = 0.0, 20.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        if range_probability(k, middle) < 1 - level:
            low = middle
        else:
            high = middle
    return (low + high) / 2 / math.sqrt(2)


def critical_difference(k, n, level=0.05):
    """Mean ranks over n datasets of two of k methods differ clearly if they differ by at least this."""
    return nemenyi_q(k, level) * math.sqrt(k * (k + 1) / (6 * n))


def cliques(mean, difference):
    """Longest runs of methods, sorted by mean rank, whose ends differ by less than `difference`."""
    order = sorted(range(len(mean)), key=lambda i: mean[i])
    found, reached = [], 0
    for start in range(len(order)):
        end = start
        while end + 1 < len(order) and mean[order[end + 1]] - mean[order[start]] < difference:
            end += 1
        if end > start and end >= reached + (1 if found else 0):
            found.append(order[start:end + 1])
            reached = end
    return found
