"""Part `mutants`: changed inputs of every kind through the command line, under a memory limit."""

import csv
import dataclasses
import json
import shutil
import typing

import mutate
import mutate_inside
import publishers
from nursery import MODELS
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


def model_commands(nursery, dataset):
    """What reads a model: data of its kind is beside it."""
    run, (method, item) = nursery.runs[dataset], MODELS[dataset]
    yield f"predict {run} --data ./{dataset} --out p.csv --json".split()
    yield f"predict {run}/model.safetensors --data ./{dataset}".split()
    yield f"eval {run} --json".split()
    if method == "grm":
        yield f"explain {run} --data ./{dataset} --item {item} --out why".split()


def own_commands(nursery, dataset):
    """What reads own data."""
    yield f"data check ./{dataset}".split()
    yield f"data check ./{dataset} --json".split()
    yield f"data describe ./{dataset} --json".split()
    yield f"data shift ./{dataset}".split()
    yield f"train --dataset ./{dataset} --method erm --epochs 1 --threads 1 --out fresh".split()
    yield from (command for command in model_commands(nursery, dataset) if command[0] != "eval")


def record_commands(nursery, dataset):
    """What reads the other files of a run."""
    run = nursery.runs[dataset]
    yield f"eval {run} --json".split()
    yield f"report {run} --out r.html --items 1".split()
    yield f"plot {run} --out figures".split()
    yield [*nursery.train(dataset), "--resume"]


def run_cases(nursery):
    """Files of runs: who reads them, and who goes on with them."""
    for dataset, run in nursery.runs.items():

        def case(what, files, change, commands, long):
            targets = [f"{run}/{file}" for file in files]
            parts = [dataset, f"runs/{dataset}"]
            return Case(f"{what} of {dataset}", parts, targets, change, list(commands), long)

        inside, resume = mutate_inside.tensors, [*nursery.train(dataset), "--resume"]
        yield case("model", ["model.safetensors"], inside, model_commands(nursery, dataset), True)
        yield case("checkpoint", ["state.safetensors"], inside, [resume], True)
        readers = list(record_commands(nursery, dataset))
        texts = ["env.json", "summary.json", "metrics.jsonl"]
        yield case("records", texts, mutate.text, readers, False)
        yield case("config.toml", ["config.toml"], mutate.text, readers, True)
        anew = f"train --config {run}/config.toml --epochs 1 --threads 1 --out fresh".split()
        yield case("train --config", ["config.toml"], mutate.text, [anew], True)


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
    for dataset in MODELS:
        folder = nursery.folder / dataset
        files = sorted(str(f.relative_to(nursery.folder)) for f in folder.rglob("*") if f.is_file())
        tables = [f for f in files if f.endswith((".csv", ".npz"))]
        parts = [dataset, f"runs/{dataset}"]
        commands = list(own_commands(nursery, dataset))
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
