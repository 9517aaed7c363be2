"""Good inputs of every kind: own data, runs, models, checkpoints, studies. Mutants are copies."""

import concurrent.futures
import random
import subprocess
from pathlib import Path

from formats import archive, npy
import publishers

DESCRIPTION = """name = "{name}"
level = "{level}"
metric = "accuracy"
{more}
[train]
domains = ["jan"]
[validation]
domains = ["feb"]
[test]
domains = ["mar"]
"""
STUDY = """name = "s"
about = "A small study."
seeds = 1
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
dataset.words = 20
train.epochs = 4
train.test = "selected"
[[variant]]
name = "plain"
"""
# Own dataset: the method that is trained on it, and one of its items.
MODELS = {"csv": ("grm", "jan3"), "npz": ("erm", "2"), "graphs": ("grm", "g1")}
MONTHS = ("jan", "feb", "mar")
TRAIN = [
    "--epochs",
    "3",
    "--threads",
    "1",
    "-q",
    "--set",
    "train.checkpoint_seconds=0",
    "--out",
    "runs",
]


def node_tables(folder, rng, n=30):
    folder.mkdir(parents=True)
    more = 'domain = "month"\nundirected = true\n'
    text = (
        DESCRIPTION.format(name="csv", level="node", more=more)
        + '[columns]\ncategorical = ["kind"]\n'
    )
    (folder / "dataset.toml").write_text(text)
    nodes, edges = ["id,month,label,amount,hour,kind"], ["source,target"]
    for k, month in enumerate(MONTHS):
        for i in range(n):
            good = i % 3 != 0
            amount = good * 2 + rng.random() + k / 5
            label = "good" if good else "bad"
            nodes.append(f"{month}{i},{month},{label},{amount:.3f},{i % 24},{'ab'[i % 2]}")
            edges.append(f"{month}{i},{month}{(i + rng.choice([1, 3])) % n}")
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")


def graph_tables(folder, rng, graphs=12):
    folder.mkdir(parents=True)
    (folder / "dataset.toml").write_text(
        DESCRIPTION.format(name="graphs", level="graph", more="")
        + '[edge_columns]\nnumeric = ["length"]\n'
    )
    for month in MONTHS:
        (folder / month).mkdir()
        tables = {
            "graphs": ["id,label"],
            "nodes": ["id,graph,charge,mass"],
            "edges": ["source,target,length"],
        }
        for g in range(graphs):
            size = 3 + g % 4
            tables["graphs"].append(f"g{g},{g % 2}")
            tables["nodes"] += [f"{g}n{i},g{g},{g % 2 + rng.random():.2f},{i}" for i in range(size)]
            tables["edges"] += [
                f"{g}n{i},{g}n{(i + 1) % size},{rng.random():.2f}" for i in range(size)
            ]
        for name, lines in tables.items():
            (folder / month / f"{name}.csv").write_text("\n".join(lines) + "\n")


def arrays(folder, rng, n=24):
    folder.mkdir(parents=True)
    (folder / "dataset.toml").write_text(DESCRIPTION.format(name="npz", level="node", more=""))
    for month in MONTHS:
        pairs = [(i, (i + rng.choice([1, 2])) % n) for i in range(n)]
        columns = [rng.randrange(6) for _ in range(n)]
        members = {
            "edge_index.npy": npy([p[0] for p in pairs] + [p[1] for p in pairs], [2, n], "<i8"),
            "x.npy": npy([i % 2 + rng.random() for i in range(n) for _ in range(3)], [n, 3]),
            "x_indptr.npy": npy(range(n + 1), [n + 1], "<i8"),
            "x_indices.npy": npy(columns, [n], "<i4"),
            "x_width.npy": npy([6], [1], "<i8"),
            "y.npy": npy([i % 2 for i in range(n)], [n], "<i8"),
        }
        (folder / f"{month}.npz").write_bytes(archive(members))


class Nursery:
    """Everything lies under `folder`, named relative to it; commands run in a copy of it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)
        rng = random.Random(11)
        node_tables(self.folder / "csv", rng)
        graph_tables(self.folder / "graphs", rng)
        arrays(self.folder / "npz", rng)
        self.published = publishers.write_all(self.folder / "data")
        self.runs = {}
        (self.folder / "s.toml").write_text(STUDY)
        commands = [self.train(dataset) for dataset in MODELS]
        commands.append(
            ["study", "run", "s.toml", "--jobs", "1", "--threads", "1", "-q", "--out", "cells"]
        )
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.must, commands))
        for dataset, (method, _) in MODELS.items():
            (found,) = (self.folder / "runs" / dataset / method).iterdir()
            self.runs[dataset] = str(found.relative_to(self.folder))
        self.bounds = {}

    def must(self, arguments):
        """Good input has to be accepted, or nothing that follows means anything."""
        result = self.program.run(arguments, self.folder, timeout=120)
        if result.code != 0:
            text = (result.err + result.out)[-2000:].decode(errors="replace")
            raise SystemExit(
                f"attack: a good input is refused ({result.code} {result.stopped}):\n"
                f"{result.command}\n{text}"
            )
        return result

    @staticmethod
    def train(dataset):
        return ["train", "--dataset", f"./{dataset}", "--method", MODELS[dataset][0], *TRAIN]

    def copy_to(self, target, parts):
        """Copies the named files and folders, as `cp -a` does."""
        for part in parts:
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", str(self.folder / part), str(target / part)], check=True)

    def bound(self, name, arguments, folder, extra_bytes=0):
        """MiB that a command may take: those of a good input, four times the mutant, a constant."""
        if name not in self.bounds:
            result = self.program.run(arguments, folder, timeout=120)
            # Who computes needs something for every node of the data besides.
            more = 128 if name in ("train", "predict", "explain", "report") else 64
            self.bounds[name] = result.rss * 1.2 + more * (4 if self.program.sanitizer else 1)
        scale = 3 if self.program.sanitizer else 1
        return self.bounds[name] + scale * 4 * extra_bytes / 2**20
