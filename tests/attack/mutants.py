"""Part `mutants`: changed inputs of every kind through the command line, under a memory limit."""

import csv
import dataclasses
import json
import shutil
import typing

import mutate
import mutate_inside
import publishers
from nursery import TRAIN
from program import MARK, faults


@dataclasses.dataclass
class Case:
    name: str
    parts: list  # of the nursery that the commands need
    targets: list  # files, one of which is changed
    change: typing.Callable
    commands: list  # one of which is run
    long: bool = False  # a changed value may well ask for a long run or for much memory
    study: bool = False


def own_commands(nursery, dataset, run, item):
    folder, model = f"./{dataset}", nursery.runs[run]
    return [
        ["data", "check", folder],
        ["data", "check", folder, "--json"],
        ["data", "describe", folder, "--json"],
        ["data", "shift", folder],
        [
            "train",
            "--dataset",
            folder,
            "--method",
            "erm",
            "--epochs",
            "1",
            "--threads",
            "1",
            "--out",
            "fresh",
        ],
        ["predict", model, "--data", folder, "--out", "p.csv", "--json"],
        ["explain", model, "--data", folder, "--item", item, "--out", "why"],
    ]


def run_cases(nursery):
    """Files of runs: who reads them, and who goes on with them."""
    for name, dataset, method in (
        ("node", "csv", "erm"),
        ("grm", "npz", "grm"),
        ("graph", "graphs", "grm"),
    ):
        run = nursery.runs[name]
        parts = [dataset, f"runs/{dataset}"]
        resume = ["train", "--dataset", f"./{dataset}", "--method", method, *TRAIN, "--resume"]
        readers = [
            ["eval", run, "--json"],
            ["report", run, "--out", "r.html", "--items", "1"],
            ["plot", run, "--out", "figures"],
            resume,
        ]
        predict = [
            ["predict", run, "--data", f"./{dataset}", "--out", "p.csv", "--json"],
            ["eval", run, "--json"],
            ["explain", run, "--data", f"./{dataset}", "--item", "2", "--out", "why"],
        ]
        yield Case(
            f"model of {name}",
            parts,
            [f"{run}/model.safetensors"],
            mutate_inside.tensors,
            predict,
            long=True,
        )
        yield Case(
            f"checkpoint of {name}",
            parts,
            [f"{run}/state.safetensors"],
            mutate_inside.tensors,
            [resume],
            long=True,
        )
        texts = [f"{run}/{file}" for file in ("env.json", "summary.json", "metrics.jsonl")]
        yield Case(f"records of {name}", parts, texts, mutate.text, readers)
        yield Case(
            f"config.toml of {name}", parts, [f"{run}/config.toml"], mutate.text, readers, long=True
        )
        config = [
            "train",
            "--config",
            f"{run}/config.toml",
            "--epochs",
            "1",
            "--threads",
            "1",
            "--out",
            "fresh",
        ]
        yield Case(
            f"train --config of {name}",
            parts,
            [f"{run}/config.toml"],
            mutate.text,
            [config],
            long=True,
        )


def study_cases(nursery):
    flags = ["--jobs", "1", "--threads", "1", "--out", "cells"]
    yield Case(
        "study file", ["s.toml"], ["s.toml"], mutate.text, [["study", "run", "s.toml", "--dry-run"]]
    )
    read = [
        ["study", "status", "s", "--json"],
        ["study", "status"],
        ["study", "run", "s.toml", *flags],
        ["report", "--study", "s", "--out", "r.html"],
    ]
    yield Case(
        "results.db",
        ["s.toml", "results.db", "cells"],
        ["results.db"],
        None,
        read,
        study=True,
        long=True,
    )


def all_cases(nursery):
    cases = []
    own = (("csv", "node", "jan3"), ("graphs", "graph", "g1"), ("npz", "grm", "2"))
    for dataset, run, item in own:
        folder = nursery.folder / dataset
        files = sorted(str(f.relative_to(nursery.folder)) for f in folder.rglob("*") if f.is_file())
        tables = [f for f in files if f.endswith((".csv", ".npz"))]
        parts = [dataset, f"runs/{dataset}"]
        commands = own_commands(nursery, dataset, run, item)
        change = mutate_inside.npz if dataset == "npz" else mutate.text
        cases.append(Case(f"own data {dataset}", parts, tables, change, commands))
        cases.append(
            Case(
                f"own data {dataset}: dataset.toml",
                parts,
                [f"{dataset}/dataset.toml"],
                mutate.text,
                commands,
            )
        )
    cases += run_cases(nursery)
    cases += study_cases(nursery)
    changes = {
        ".npz": mutate_inside.npz,
        ".gz": mutate_inside.gz,
        ".csv": mutate.text,
        ".json": mutate.text,
        ".txt": mutate.text,
        ".index": mutate.text,
    }
    for name, files in nursery.published.items():
        settings = [
            word for value in publishers.SETTINGS.get(name, []) for word in ("--set", value)
        ]
        commands = [
            ["data", "check", name, "--data-root", "data", *settings],
            ["data", "describe", name, "--data-root", "data", "--json", *settings],
        ]
        parts = sorted({"data/" + f.split("/")[0] for f in files})
        for suffix in sorted({"." + f.split(".")[-1] for f in files}):
            chosen = ["data/" + f for f in files if f.endswith(suffix)]
            cases.append(
                Case(
                    f"{name} {suffix}", parts, chosen, changes.get(suffix, mutate.binary), commands
                )
            )
    return cases


def verb_of(arguments):
    return " ".join(word for word in arguments[:2] if word.isalpha())


def bad_outputs(folder, result):
    """Scores that are no numbers, scripts in reports, halves of files."""
    found = []
    for page in [*folder.glob("*.html"), *folder.rglob("*.svg")]:
        if MARK in page.read_bytes():
            found.append(f"a script got into {page.name}")
    if result.code == 0 and (b'"value": null' in result.out or b'"value": NaN' in result.out):
        found.append("prints a score that is no number")
    if result.code == 0 and (folder / "p.csv").exists():
        with open(folder / "p.csv", newline="", errors="replace") as file:
            for row in csv.DictReader(file):
                values = [
                    v for k, v in row.items() if k and k.startswith(("p_", "spread", "entropy"))
                ]
                if any(v.lower().strip("-") in ("nan", "inf") for v in values if v):
                    found.append("predicts probabilities that are no numbers")
                    break
    if any(folder.rglob("*.tmp*")):
        found.append("leaves half of a file behind")
    return found


def attack(context, rng, number):
    """One mutant."""
    nursery, findings = context.nursery, context.findings
    case = (
        context.cases[number % len(context.cases)]
        if number < len(context.cases)
        else rng.choice(context.cases)
    )
    command, target = rng.choice(case.commands), rng.choice(case.targets)
    folder = context.scratch("mutant")
    nursery.copy_to(folder, case.parts)
    verb = verb_of(command)
    if verb not in nursery.bounds:
        nursery.bound(verb, command, folder)
        shutil.rmtree(folder)
        folder.mkdir()
        nursery.copy_to(folder, case.parts)
    path = folder / target
    if case.change is None:
        mutate_inside.database(rng, path)
    else:
        other = (nursery.folder / rng.choice(case.targets)).read_bytes()
        path.write_bytes(case.change(rng, path.read_bytes(), other))
    if "--resume" in command and not target.endswith("summary.json"):
        (path.parent / "summary.json").unlink(missing_ok=True)
        (path.parent / "model.safetensors").unlink(missing_ok=True)
    size = path.stat().st_size
    bound = None if case.long else nursery.bound(verb, command, folder, size)
    result = context.program.run(command, folder, timeout=20 if case.long else 60)
    why = faults(result, bound=bound, study=case.study)
    if case.long:
        why = [w for w in why if not w.startswith("ran for more than")]
    why += bad_outputs(folder, result)
    context.count("mutants", result)
    if why:
        findings.add("mutants", f"{case.name}, {target}: {' '.join(command)}", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)
    return json.dumps([case.name, result.code])
