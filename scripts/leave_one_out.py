#!/usr/bin/env python3
"""leave_one_out.py RUNS.csv METHOD: which variant of a method would be chosen over several datasets, by validation alone.

RUNS.csv is `grm study export STUDY --format runs`. METHOD is as in the study (grm:best, erm); --only PREFIX and --without TEXT choose
among its variants by name. The rule: on each dataset variants are ranked by their mean validation score over seeds (ties share a
rank); the smallest mean rank over datasets wins, of equal ones the variant that the study names first. Leaving one dataset out each
time, the choice is made on the others and looked at on the one left out. Test scores choose nothing.
"""

import argparse
import csv
import statistics


def read_runs(path, method, only, without):
    """{dataset: {variant: [(validation, avg), ...]}}, variants in the order of the file."""
    scores = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = row["variant"]
            if row["method"] != method or not name.startswith(only) or any(text in name for text in without):
                continue
            scores.setdefault(row["dataset"], {}).setdefault(name, []).append((float(row["validation"]), float(row["avg"])))
    return scores


def ranks(values):
    """Rank of each value, 1 for the largest; equal values share the mean of their places."""
    return [sum(other > value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def mean_ranks(scores, variants, datasets):
    sums = [0.0] * len(variants)
    for dataset in datasets:
        means = [round(statistics.mean(v for v, _ in scores[dataset][name]), 9) for name in variants]
        sums = [total + rank for total, rank in zip(sums, ranks(means))]
    return [total / len(datasets) for total in sums]


def chosen(scores, variants, datasets):
    found = mean_ranks(scores, variants, datasets)
    return variants[found.index(min(found))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs")
    parser.add_argument("method")
    parser.add_argument("--only", default="", help="variants whose name begins so")
    parser.add_argument("--without", action="append", default=[], help="leave out variants whose name contains this")
    parser.add_argument("--default", help="the variant that stands for the present default (the first)")
    options = parser.parse_args()
    scores = read_runs(options.runs, options.method, options.only, options.without)
    datasets = list(scores)
    whole = [set(scores[dataset]) for dataset in datasets]
    variants = [name for name in scores[datasets[0]] if all(name in names for names in whole)]
    dropped = set().union(*whole) - set(variants)
    default = options.default or variants[0]
    over_all = mean_ranks(scores, variants, datasets)

    print(f"| {options.method}, mean rank by validation | " + " | ".join(datasets) + " | mean rank |")
    print("|---|" + "---|" * (len(datasets) + 1))
    for name, rank in sorted(zip(variants, over_all), key=lambda pair: pair[1]):
        cells = [f"{statistics.mean(v for v, _ in scores[d][name]):.2f}" for d in datasets]
        print(f"| {name} | " + " | ".join(cells) + f" | {rank:.2f} |")
    if dropped:
        print("\nNot on every dataset, so left out: " + ", ".join(sorted(dropped)) + ".")
    print(f"\nOver all datasets: **{chosen(scores, variants, datasets)}**.\n")
    print("| left out | chosen on the others | its test Avg there | that of the default | difference |")
    print("|---|---|---|---|---|")
    for dataset in datasets:
        name = chosen(scores, variants, [other for other in datasets if other != dataset])
        test = [statistics.mean(t for _, t in scores[dataset][which]) for which in (name, default)]
        print(f"| {dataset} | {name} | {test[0]:.2f} | {test[1]:.2f} | {test[0] - test[1]:+.2f} |")


if __name__ == "__main__":
    main()
