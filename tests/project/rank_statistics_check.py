#!/usr/bin/env python3
"""scripts/rank_statistics.py and rank_figure.py against published and hand-made values."""
import os
import random
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import rank_figure  # noqa: E402
import rank_statistics as rs  # noqa: E402


def near(a, b, tolerance):
    assert abs(a - b) <= tolerance, f"{a} is not {b} within {tolerance}"


# Demsar 2006, table 5 (a): q at 5 % and 10 % for 2 to 10 methods.
for level, printed in ((0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
                       (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920])):
    for k, value in enumerate(printed, 2):
        near(rs.nemenyi_q(k, level), value, 1.6e-3)
# The example there: four methods on 14 datasets, mean ranks and statistics as printed.
chi, f, p = rs.friedman([3.143, 2.000, 2.893, 1.964], 14)
near(chi, 9.28, 0.01)
near(f, 3.69, 0.01)
near(rs.critical_difference(4, 14), 1.25, 0.005)
near(rs.critical_difference(4, 14, 0.10), 1.12, 0.005)
assert 0.01 < p < 0.05, p  # F(3, 39) is 2.85 at 5 % and 4.33 at 1 %

# Student's t at 5 % two-sided for 4 and 9 degrees of freedom: 2.776 and 2.262 (any printed table).
for freedom, t in ((4, 2.776), (9, 2.262)):
    near(rs.incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)), 0.05, 2e-4)
# Differences 1, 2, 3, 4, 5: mean 3, deviation 1.5811, t = 4.2426 on 4 degrees: p = 0.0132.
near(rs.paired_p([(i, 0) for i in range(1, 6)]), 0.0132, 1e-4)
assert rs.paired_p([(1, 1), (2, 2)]) == 1 and rs.paired_p([(2, 1), (3, 2)]) == 0 and rs.paired_p([(1, 2)]) is None

# Holm by hand: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 raised to the one before it.
for got, value in zip(rs.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]):
    near(got, value, 1e-12)
assert rs.holm([0.9, 0.8]) == [1.0, 1.0] and rs.holm([]) == []

# Ranks with ties share the mean of their places; the naive form sorts and averages.
assert rs.ranks([3, 1, 3, 2]) == [1.5, 4, 1.5, 3]
source = random.Random(7)
for _ in range(50):
    scores = [source.randint(0, 4) for _ in range(6)]
    places = sorted(scores, reverse=True)
    naive = [sum(i + 1 for i, s in enumerate(places) if s == own) / places.count(own) for own in scores]
    assert all(abs(a - b) < 1e-12 for a, b in zip(rs.ranks(scores), naive))
assert rs.mean_ranks([[1, 2], [5, 3]]) == [1.5, 1.5]

# Bars: every pair below the difference lies under one, no pair above it does.
for _ in range(50):
    mean = [source.uniform(1, 8) for _ in range(8)]
    difference = source.uniform(0.1, 5)
    groups = rs.cliques(mean, difference)
    for i in range(8):
        for j in range(i):
            joined = any(i in group and j in group for group in groups)
            assert joined == (abs(mean[i] - mean[j]) < difference), (mean, difference)
    assert all(not set(a) < set(b) for a in groups for b in groups), "a bar inside another"

names = ["a<b", "second", "third"]
drawn = xml.etree.ElementTree.fromstring(rank_figure.rank_figure(names, [1.5, 2.0, 2.5], 0.8, "Ranks & more"))
words = [node.text for node in drawn.iter() if node.tag.endswith("text")]
for name in names:
    assert any(word.startswith(name) for word in words), words
