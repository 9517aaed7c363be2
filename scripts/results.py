#!/usr/bin/env python3
"""Makes every table and figure in results/ again from the runs that are kept there.

    scripts/results.py OUT [GRM]      GRM: the program, default build/grm

The runs (NAME-runs.csv, or NAME.csv with one line per run and test domain) and what they were made
with (provenance.json) go into a result database, as a study would leave it; `grm reproduce
--table-only` does the rest. OUT gets Markdown, LaTeX, JSON, CSV and the figures' data and pictures.
Times, memory and numbers of parameters are not kept: they are 0 in the JSON. NAME.csv holds no
validation scores either, so what validation chooses is not told for those.
"""
import csv
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ("study phase dataset method variant trial seed planned position config key state owner "
           "attempts message folder record environment metric seconds peak_mib").split()


def runs_of(name):
    """Runs in their order: dataset, method, variant, seed, environment, epoch, validation, scores."""
    path = f"{ROOT}/results/{name}-runs.csv"
    if os.path.exists(path):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                scores = [part.rsplit(" ", 1) for part in row["domains"].split("; ")]
                yield ((row["dataset"], row["method"], row["variant"], int(row["seed"])),
                       row["git"] + " " + row["device"].split(":")[0], int(row["epoch"]),
                       float(row["validation"]), [(d, float(s)) for d, s in scores])
        return
    found = {}
    with open(f"{ROOT}/results/{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            run = (row["dataset"], row["method"], row["variant"], int(row["seed"]))
            found.setdefault(run, []).append((row["domain"], float(row["score"])))
    for run, scores in found.items():
        yield run, None, 0, 0.0, scores


def answers(data, kind, dataset, scores):
    """What a constant answer scores: a number, or one for each draw of the data. It is the same in all test domains."""
    value = data.get(kind)
    if isinstance(value, dict):
        value = value.get(dataset)
    return [] if value is None else [{"domain": d, "value": value} for d, _ in scores]


def cells_of(name, about, kept):
    """Rows of the table `cell`: what was run, then what was not."""
    def cell(run, state, **values):
        row = dict.fromkeys(COLUMNS, "")
        row.update(zip(("dataset", "method", "variant", "seed"), run))
        row.update(study=about["study"], phase="run", trial=0, planned=1, attempts=0, seconds=0,
                   peak_mib=0, state=state, **values)
        return row

    for run, made_with, epoch, validation, scores in runs_of(name):
        data = kept["datasets"][run[0].split("/")[0]]
        environment = dict(kept["environments"][made_with or about["environment"]],
                           data_hashes=data["files"], missing=data.get("missing", []))
        listed = [{"domain": d, "value": s} for d, s in scores]
        record = {"seed": run[3], "epochs": 0, "seconds_per_epoch": 0, "evaluate_seconds": 0,
                  "parameters": 0, "peak_memory_mib": 0, "stopped_early": False,
                  "constant": answers(data, "constant", run[0], scores),
                  "constant_own": answers(data, "constant_own", run[0], scores),
                  "chosen": {"val": {"epoch": epoch, "validation": validation, "test": listed}}}
        yield cell(run, "done", metric=data["metric"], record=json.dumps(record),
                   environment=json.dumps(environment))
    for dataset, method, variant, seeds in about.get("not_run", []):
        for seed in seeds:
            yield cell((dataset, method, variant, seed), "todo")


def without_choice(stem):
    for path in (stem + ".md", stem + ".tex"):
        with open(path) as file:
            lines = [line for line in file if "Validation chooses " not in line]
        with open(path, "w") as file:
            file.writelines(lines)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out = os.path.abspath(sys.argv[1])
    grm = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else f"{ROOT}/build/grm")
    with open(f"{ROOT}/results/provenance.json") as file:
        kept = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(f"{folder}/results.db")
        database.execute("PRAGMA user_version = 1")
        database.execute("CREATE TABLE study (name, about, spec, created)")
        database.execute(f"CREATE TABLE cell (id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
        for name, about in kept["results"].items():
            database.execute("INSERT INTO study VALUES (?, '', '', '')", (about["study"],))
            for position, row in enumerate(cells_of(name, about, kept)):
                row["position"] = position
                database.execute(f"INSERT INTO cell ({', '.join(COLUMNS)}) VALUES "
                                 f"({', '.join('?' * len(COLUMNS))})", list(row.values()))
        database.commit()
        database.close()
        for about in kept["results"].values():
            for command in about["commands"]:
                words = shlex.split(command)
                subprocess.run([grm, *words, "--table-only", "--quiet", "--db",
                                f"{folder}/results.db", "--out", out], check=True,
                               stdout=subprocess.DEVNULL)
                if "environment" in about:
                    without_choice(f"{out}/{words[1]}{'-quick' * ('--quick' in words)}")


main()
