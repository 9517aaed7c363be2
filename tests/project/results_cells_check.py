#!/usr/bin/env python3
"""Ten cells of every committed table, computed again from the runs beside it by a few plain lines.

    results_cells_check.py RESULTS

A table is a Markdown table of results/NAME.md whose cells are "mean ± deviation"; the runs are NAME-runs.csv, or for
earlier results NAME.csv. Cells are drawn by a fixed seed. Nothing of the program or of scripts/ is used.
"""
import csv
import os
import random
import re
import statistics
import sys

RESULTS = sys.argv[1]
CELLS = 10
VALUE = re.compile(r"^(\d+\.\d)(?: ± (\d+\.\d))?$")


def without_draw(dataset):
    return re.sub(r"/\d+$", "", dataset)


def read_runs(stem):
    """[(dataset column, method, variant, run, {domain: score})]"""
    path = f"{RESULTS}/{stem}-runs.csv"
    if os.path.exists(path):
        with open(path, newline="", encoding="utf-8") as file:
            return [(without_draw(r["dataset"]), r["method"], r["variant"], (r["dataset"], r["seed"]),
                     {p.rsplit(" ", 1)[0]: float(p.rsplit(" ", 1)[1]) for p in r["domains"].split("; ")})
                    for r in csv.DictReader(file)]
    found = {}
    with open(f"{RESULTS}/{stem}.csv", newline="", encoding="utf-8") as file:
        for r in csv.DictReader(file):
            key = (without_draw(r["dataset"]), r["method"], r["variant"], (r["dataset"], r["seed"]))
            found.setdefault(key, {})[r["domain"]] = float(r["score"])
    return [(*key, scores) for key, scores in found.items()]


def number_of(runs, draws, what):
    """The values of runs whose mean and deviation a cell shows; Min looks for the worst domain in each draw of the data."""
    domains = [d for d in runs[0] if all(d in run for run in runs)]
    if what == "Avg":
        return [statistics.fmean(run[d] for d in domains) for run in runs]
    if what == "Min":
        values = []
        for draw in dict.fromkeys(draws):
            own = [run for run, of in zip(runs, draws) if of == draw]
            worst = min(domains, key=lambda d: statistics.fmean(r[d] for r in own))
            values += [run[worst] for run in own]
        return values
    return [run[what] for run in runs]


def tables_of(path):
    """(title above, header cells, rows)"""
    title, table = "", []
    with open(path, encoding="utf-8") as file:
        for line in [*file, ""]:
            if line.startswith("#"):
                title = line.strip("# \n")
            if line.startswith("|"):
                table.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            elif table:
                yield title, table[0], table[2:]
                table = []


def method_and_variant(label, title, block_of_variants, table_name):
    if table_name.startswith(("best-ablation", "best-graph-ablation", "fig-ablation")):
        return None, label
    block = re.search(r"Block (\w+)", title)
    if " + " in label:
        return label.split(" + ")[0], label.split(" + ")[1]
    if block:
        return label, block[1]
    return label, "plain" if "plain" in block_of_variants else None


def candidates(name, runs):
    """(method, variant, dataset, what, text) of every cell with a value of ours."""
    variants = {run[2] for run in runs}
    datasets = sorted({run[0] for run in runs}, key=len, reverse=True)
    methods = {run[1] for run in runs} | variants
    for title, head, rows in tables_of(f"{RESULTS}/{name}.md"):
        if head[0] != "method":
            continue
        titled = next((d for d in datasets if title.startswith((d + ",", d + " under"))), None)
        columns, current = [], None
        for cell in head[1:]:
            own = next((d for d in datasets if cell == d or re.fullmatch(re.escape(d) + r"(, [\w-]+| Min| Avg)", cell)), None)
            if own:
                current = own
                columns.append((own, "Min" if cell.endswith(" Min") else "Avg"))
            elif cell in ("Avg", "Min"):
                columns.append((current or titled, cell))
            elif re.fullmatch(r"r=[\d.]+", cell):
                columns.append((titled, cell))
            elif titled and any(cell in run[4] for run in runs):
                columns.append((titled, cell))
            else:
                columns.append((None, None))
        for row in rows:
            method, variant = method_and_variant(row[0], title, variants, name)
            if (method or variant) not in methods:
                continue
            for (dataset, what), cell in zip(columns, row[1:]):
                text = re.sub(r"[*▲▼†]", "", cell).strip()
                text, _, behind = text.partition(" (")
                if what and what.startswith("r="):
                    yield method, what, dataset, "Avg", text
                elif dataset and VALUE.match(text):
                    yield method, variant, dataset, what, text
                    if re.fullmatch(r"\d+\.\d\)", behind) and not titled:
                        yield method, variant, dataset, "Min", behind[:-1]


def check(name, stem):
    runs = read_runs(stem)
    cells = [cell for cell in candidates(name, runs) if VALUE.match(cell[4])]
    chosen = random.Random(name).sample(cells, min(CELLS, len(cells)))
    wrong = 0
    for method, variant, dataset, what, text in chosen:
        own = [run for run in sorted(runs, key=lambda run: run[3])
               if run[0] == dataset and method in (None, run[1]) and variant in (None, run[2])]
        values = number_of([run[4] for run in own], [run[3][0] for run in own], what) if own else []
        shown = VALUE.match(text)
        right = bool(values) and abs(statistics.fmean(values) - float(shown[1])) <= 0.0501
        if right and shown[2]:
            right = len(values) > 1 and abs(statistics.stdev(values) - float(shown[2])) <= 0.0501
        if not right:
            wrong += 1
            print(f"{name}.md: {method} {variant} on {dataset}, {what}: printed {text}, the runs give {values}")
    print(f"{name}: {len(chosen)} of {len(cells)} cells")
    return wrong == 0 and len(chosen) >= min(CELLS, 1 if not cells else CELLS, len(cells)) and bool(cells)


def main():
    good, seen = True, 0
    for file in sorted(os.listdir(RESULTS)):
        name, ending = os.path.splitext(file)
        stem = {"appendix": "table1"}.get(name, name)
        if ending != ".md" or not (os.path.exists(f"{RESULTS}/{stem}-runs.csv") or os.path.exists(f"{RESULTS}/{stem}.csv")):
            continue
        seen += 1
        good = check(name, stem) and good
    if seen < 10:
        good = False
        print(f"only {seen} tables with runs were found")
    sys.exit(0 if good else 1)


main()
