#!/usr/bin/env python3
"""Tables of many methods on several datasets, from the runs of a study that are kept in results/.

    scripts/comparison.py collect NAME DATABASE [GRM]   NAME-runs.csv, NAME-trials.csv and NAME-facts.json from a database
    scripts/comparison.py table NAME [OUT]              NAME.md and NAME.svg from these, in OUT (default results/)
    scripts/comparison.py ranks NAME... [--against METHOD] [OUT/]    ranks.md and ranks.svg: mean ranks over all datasets of these

A row's mark compares it with `erm` (or --against): paired t-tests over the runs of one seed, corrected after Holm over all comparisons
of the table. Published values come from results/published-values.csv, each with its source.
"""
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys

import rank_figure
import rank_statistics

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "results")
REFERENCE, LEVEL = "erm", 0.05
VERSIONS = ("grm", "git", "compiler", "torch", "blas", "threads", "device")


def rows_of(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_draw(dataset):
    return re.sub(r"/\d+$", "", dataset)


def method_of(row):
    """What is added to a method is a row of its own, as in the other tables."""
    return row["method"] + (f" + {row['variant']}" if row["variant"] not in ("", "plain") else "")


def domains_of(row):
    return {part.rsplit(" ", 1)[0]: float(part.rsplit(" ", 1)[1]) for part in row["domains"].split("; ")}


def without_preset(method):
    """Also without what was added to it, "erm + mlp"."""
    return method.split(" + ")[0].split(":")[0]


def number(value):
    return f"{value:.1f}"


def spread(values):
    return number(statistics.fmean(values)) + (f" ± {number(statistics.stdev(values))}" if len(values) > 1 else "")


class Comparison:
    """The runs of a study, by dataset and method: (draw and seed, average over test domains, validation, test domains)."""

    def __init__(self, name, against=REFERENCE):
        self.name, self.against, self.facts = name, against, {"constants": {}}
        if os.path.exists(f"{RESULTS}/{name}-facts.json"):
            with open(f"{RESULTS}/{name}-facts.json", encoding="utf-8") as file:
                self.facts = json.load(file)
        self.runs, self.datasets, self.methods, self.metric, self.trial = {}, [], [], {}, {}
        for row in rows_of(f"{RESULTS}/{name}-runs.csv"):
            key = (without_draw(row["dataset"]), method_of(row))
            for known, value in ((self.datasets, key[0]), (self.methods, key[1])):
                if value not in known:
                    known.append(value)
            self.runs.setdefault(key, []).append(
                ((row["dataset"], int(row["seed"])), float(row["avg"]), float(row["validation"]), domains_of(row)))
            self.metric[key[0]] = row["metric"]
            self.trial[key] = row["trial"]
        self.settings = {}
        for row in rows_of(f"{RESULTS}/{name}-trials.csv"):
            key = (without_draw(row["dataset"]), row["method"], row["trial"])
            self.settings[key] = self.settings.get(key) or row["settings"]
        self.p = self.adjusted_p()

    def scores(self, dataset, method, what=1):
        return [run[what] for run in sorted(self.runs.get((dataset, method), []))]

    def worst(self, dataset, method):
        """The worst test domain in each draw of the data, by its mean over seeds; the mean over runs."""
        values, runs = [], self.runs[dataset, method]
        for draw in sorted({run[0][0] for run in runs}):
            own = [run[3] for run in runs if run[0][0] == draw]
            least = min(own[0], key=lambda domain: statistics.fmean(scores[domain] for scores in own))
            values += [scores[least] for scores in own]
        return statistics.fmean(values)

    def pairs(self, dataset, method):
        others = {run[0]: run[1] for run in self.runs.get((dataset, self.reference()), [])}
        return [(run[1], others[run[0]]) for run in sorted(self.runs[dataset, method]) if run[0] in others]

    def reference(self):
        if self.against in self.methods:
            return self.against
        return next((m for m in self.methods if without_preset(m) == self.against), None)

    def adjusted_p(self):
        """Holm's p of every comparison of the table, by dataset and method."""
        found = {}
        for key in self.runs:
            if key[1] != self.reference():
                p = rank_statistics.paired_p(self.pairs(*key))
                if p is not None:
                    found[key] = p
        return dict(zip(found, rank_statistics.holm(list(found.values()))))

    def mark(self, key):
        if self.p.get(key, 1) >= LEVEL:
            return ""
        return "▲" if statistics.fmean(a - b for a, b in self.pairs(*key)) > 0 else "▼"

    def transductive(self, key):
        """Whether the winner subtracts the mean of the tested domain from its features."""
        chosen = self.settings.get((*key, self.trial.get(key)), "")
        return 'dataset.centre = "domain"' in chosen or 'centre = "domain"' in chosen or "centred" in key[1] or \
            key[1] in self.facts.get("centred_methods", [])

    def full_datasets(self):
        return [d for d in self.datasets if all((d, m) in self.runs for m in self.methods)]


def table_of_scores(own):
    several = any(len(run[3]) > 1 for runs in own.runs.values() for run in runs)
    out = ["| method | " + " | ".join(f"{d}, {own.metric[d]}" for d in own.datasets) + " | mean rank |",
           "| :-- |" + " --: |" * (len(own.datasets) + 1)]
    best = {d: max(number(statistics.fmean(own.scores(d, m))) for m in own.methods if (d, m) in own.runs)
            for d in own.datasets}
    full = own.full_datasets()
    ranks = rank_statistics.mean_ranks([[statistics.fmean(own.scores(d, m)) for m in own.methods] for d in full]) \
        if full else None
    for i, method in enumerate(own.methods):
        cells = []
        for dataset in own.datasets:
            key = (dataset, method)
            if key not in own.runs:
                cells.append("missing")
                continue
            scores = own.scores(dataset, method)
            words = spread(scores)
            if number(statistics.fmean(scores)) == best[dataset]:
                words = f"**{words}**"
            words += own.mark(key) + (" †" if own.transductive(key) else "")
            if several:
                words += f" ({number(own.worst(dataset, method))})"
            cells.append(words)
        out.append(f"| {method} | " + " | ".join(cells) + f" | {number(ranks[i]) if ranks else ''} |")
    for title, kind in (("always training's majority class", "constant"),
                        ("always the test's own majority class", "constant_own")):
        cells = [number(own.facts["constants"][d][kind]) if kind in own.facts["constants"].get(d, {}) else ""
                 for d in own.datasets]
        if any(cells):
            out.append(f"| {title} | " + " | ".join(cells) + " | |")
    return out, several


def notes(own, several):
    seeds = sorted({len(runs) for runs in own.runs.values()})
    comparisons = len(own.p)
    out = [f"Mean ± sample deviation over {' to '.join(map(str, seeds))} seeds, in percent, of the epoch chosen by "
           "validation" + ("; in brackets the worst test domain in each draw of the data." if several else "."),
           f"▲ better, ▼ worse than {own.reference()}: paired t-test over draws and seeds, p < {LEVEL} after Holm's correction "
           f"over all {comparisons} comparisons of the table."]
    if any(own.transductive(key) for key in own.runs):
        out.append("†: transductive beyond the protocol: the unlabelled features of the tested domain are centred by "
                   "their own mean, which the search chose by validation (or the preset asks for).")
    out.append("Mean rank: over the datasets of this table, 1 is best; see the figure for what differs clearly.")
    chosen = []
    for dataset in own.datasets:
        known = [m for m in own.methods if (dataset, m) in own.runs]
        means = {m: statistics.fmean(own.scores(dataset, m, 2)) for m in known}
        chosen.append(f"{max(known, key=lambda m: means[m])} on {dataset}")
    out.append("Validation, which is all that a user has, chooses " + "; ".join(chosen) + ".")
    return [f"* {line}" for line in out]


def published_table(own):
    rows = [r for r in rows_of(f"{RESULTS}/published-values.csv") if r["ours"] in own.datasets]
    out = []
    sources = []
    for row in rows:
        method = next((m for m in own.methods if without_preset(m) == row["method"]), None)
        scores = own.scores(row["ours"], method) if method else []
        if len(scores) < 2:
            continue
        mean, error = statistics.fmean(scores), statistics.stdev(scores) / math.sqrt(len(scores))
        theirs = float(row["mean"])
        # A published deviation is over the source's runs; without one there is our own error alone.
        their_error = float(row["std"]) / math.sqrt(int(row["runs"])) if row["std"] else 0.0
        both = math.hypot(error, their_error)
        units = abs(mean - theirs) / both if both > 0 else math.inf
        if row["source"] not in sources:
            sources.append(row["source"])
        out.append(f"| {row['ours']} | {method} | {spread(scores)} | {row['mean']}"
                   f"{' ± ' + row['std'] if row['std'] else ''} [{sources.index(row['source']) + 1}] "
                   f"| {mean - theirs:+.1f} | {units:.1f} | {'yes' if units <= 2 else 'no'} |")
    if not out:
        return []
    return ["", "### Beside published values", "",
            "| dataset | method | ours | published | difference | in standard errors | within two |",
            "| :-- | :-- | --: | --: | --: | --: | --: |", *out, "",
            "* The standard error is that of the difference of two means: ours over our seeds and, where a deviation is "
            "published, theirs over their runs (10 where the source does not say, GOOD's number).",
            *[f"* [{i + 1}] {source}" for i, source in enumerate(sources)]]


def rank_lines(names, mean, count, figure):
    chi, f, p = rank_statistics.friedman(mean, count)
    difference = rank_statistics.critical_difference(len(names), count)
    words = f"Friedman's test over {count} datasets and {len(names)} methods: chi-square {chi:.1f}"
    if f is not None:
        words += f", F (Iman and Davenport) {f:.2f}, p = {p:.2g}"
    return ["", f"![Mean ranks and critical difference]({figure})", "",
            f"* {words}. Nemenyi's critical difference of mean ranks at 5 %: {difference:.2f}; methods under one bar do "
            "not differ clearly."], difference


def made_with(own):
    facts = own.facts
    out = ["", "## Made with", "", f"* command: `{facts['command']}`"]
    out += [f"* {key}: {', '.join(values)}" for key, values in facts["versions"].items()]
    for dataset, files in facts["data"].items():
        out += [f"* data of {dataset}: {file} sha256 {value}" for file, value in files.items()]
    return out


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def table(name, out):
    own = Comparison(name)
    scores, several = table_of_scores(own)
    lines = [f"# {name}: {own.facts['about']}", "", *scores, "", *notes(own, several)]
    full = own.full_datasets()
    if len(full) > 1 and len(own.methods) > 2:
        mean = rank_statistics.mean_ranks([[statistics.fmean(own.scores(d, m)) for m in own.methods] for d in full])
        more, difference = rank_lines(own.methods, mean, len(full), f"{name}.svg")
        lines += more
        write(f"{out}/{name}.svg", rank_figure.rank_figure(own.methods, mean, difference, f"Mean ranks, {name}"))
    write(f"{out}/{name}.md", "\n".join(lines + published_table(own) + made_with(own)) + "\n")


def ranks(names, against, out):
    every = [Comparison(name, against) for name in names]
    methods = [m for m in every[0].methods if all(m in own.methods for own in every)]
    columns = [(own, d) for own in every for d in own.datasets if all((d, m) in own.runs for m in methods)]
    table_rows = [[statistics.fmean(own.scores(d, m)) for m in methods] for own, d in columns]
    mean = rank_statistics.mean_ranks(table_rows)
    lines = ["# Mean ranks over all datasets", "", "| method | " + " | ".join(d for _, d in columns) + " | mean rank |",
             "| :-- |" + " --: |" * (len(columns) + 1)]
    by_dataset = [rank_statistics.ranks(row) for row in table_rows]
    for i in sorted(range(len(methods)), key=lambda i: mean[i]):
        cells = [f"{rank[i]:g}" + own.mark((d, methods[i])) for rank, (own, d) in zip(by_dataset, columns)]
        lines.append(f"| {methods[i]} | " + " | ".join(cells) + f" | {number(mean[i])} |")
    comparisons = sum(len(own.p) for own in every)
    lines += ["", "* Ranks by Avg on the test domains, 1 is best; equal scores share the mean of their places.",
              f"* ▲ better, ▼ worse than {against} in Avg: paired t-test over draws and seeds, p < {LEVEL} after Holm's "
              f"correction over the comparisons of each study, {comparisons} in all. Seeds of one draw of the data are not independent draws."]
    more, difference = rank_lines(methods, mean, len(columns), "ranks.svg")
    write(f"{out}/ranks.svg", rank_figure.rank_figure(methods, mean, difference, "Mean ranks over all datasets"))
    write(f"{out}/ranks.md", "\n".join(lines + more + [
        "", f"Made by `scripts/comparison.py ranks {' '.join(names)} --against {against}` from the runs of these studies."]) + "\n")


def collect(name, database, grm):
    def exported(*words):
        return subprocess.run([grm, "study", "export", name, "--db", database, *words], check=True,
                              capture_output=True, text=True).stdout

    runs = json.loads(exported("--format", "json"))["runs"]
    write(f"{RESULTS}/{name}-runs.csv", exported("--format", "runs"))
    tuned = subprocess.run([grm, "study", "export", name, "--db", database, "--format", "runs", "--trials"],
                           capture_output=True, text=True, check=False)
    if tuned.returncode == 0:
        write(f"{RESULTS}/{name}-trials.csv", tuned.stdout)
    status = json.loads(subprocess.run([grm, "study", "status", name, "--db", database, "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    versions, data, constants, centred = {}, {}, {}, set()
    for run in runs:
        for key in VERSIONS:
            value = str(run["environment"].get(key, ""))
            if value and value not in versions.setdefault(key, []):
                versions[key].append(value)
        data.setdefault(run["dataset"].split(",")[0].split("/")[0], {}).update(run["environment"].get("data_hashes", {}))
        # A constant is of a draw of the data, so its mean over the runs is that of the table's draws.
        for kind in ("constant", "constant_own"):
            values = [entry["value"] for entry in run["record"].get(kind, [])]
            if values:
                constants.setdefault(without_draw(run["dataset"]), {}).setdefault(kind, []).append(statistics.fmean(values))
        if 'encoder_input = "centred"' in run["config"]:
            centred.add(run["method"])
    own = status[0] if isinstance(status, list) else status.get("studies", [status])[0]
    facts = {"about": own.get("about", ""), "command": f"grm study {'tune' if tuned.returncode == 0 else 'run'} {name}",
             "centred_methods": sorted(centred), "versions": versions,
             "constants": {d: {k: statistics.fmean(v) for k, v in kinds.items()} for d, kinds in constants.items()},
             "data": data}
    write(f"{RESULTS}/{name}-facts.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def main(words):
    if len(words) >= 3 and words[0] == "collect":
        collect(words[1], words[2], words[3] if len(words) > 3 else os.path.join(ROOT, "build", "grm"))
    elif len(words) in (2, 3) and words[0] == "table":
        table(words[1], words[2] if len(words) == 3 else RESULTS)
    elif len(words) >= 2 and words[0] == "ranks":
        names = words[1:]
        against = REFERENCE
        if "--against" in names[:-1]:
            at = names.index("--against")
            against = names[at + 1]
            del names[at:at + 2]
        folders = [word for word in names if word.endswith("/")]
        ranks([word for word in names if not word.endswith("/")], against, folders[0] if folders else RESULTS)
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
