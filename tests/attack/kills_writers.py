"""Part `writer-kills`: commands that write files, killed while they do.

What stands under a name is whole, and the next try gives the bytes of an undisturbed one.
"""

import hashlib
import random
import re
import shutil
import signal
import threading

from kills import FIGURES

SBM = ["--set", "dataset.nodes=40", "--set", "dataset.words=20"]
# name: arguments and what they write; RUN is a trained run.
WRITERS = {
    "data convert": (["data", "convert", "sbm", *SBM, "--out", "new", "--force"], "new"),
    "predict": (
        ["predict", "RUN", "--data", "csv", "--out", "new.csv", "--threads", "1"],
        "new.csv",
    ),
    "report": (
        ["report", "RUN", "--out", "new.html", "--items", "1", "--threads", "1"],
        "new.html",
    ),
    "explain": (
        ["explain", "RUN", "--data", "csv", "--item", "jan3", "--out", "why", "--threads", "1"],
        "why",
    ),
    "study export": (["study", "export", "s", "--out", "new.json"], "new.json"),
    "data init": (["data", "init", "fresh"], "fresh"),
}
TIME = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|[0-9.]+ s\b|[0-9.]+ MiB")


def file_digests(path):
    """Of a file, or of all files below a folder, by name; times of the day do not count."""
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    return {
        str(f.relative_to(path.parent)): hashlib.sha256(TIME.sub(b"", f.read_bytes())).hexdigest()
        for f in files
        if f.exists() and not f.name.endswith(".part") and ".tmp" not in f.name
    }


class Writer:
    def __init__(self, name):
        self.name, (self.arguments, self.target) = name, WRITERS[name]
        self.lock = threading.Lock()
        self.expected = None

    def folder(self, context):
        folder = context.scratch("writer")
        context.nursery.copy_to(folder, ["csv", "runs/csv", "s.toml", "results.db", "cells"])
        return folder

    def command(self, context):
        return [context.nursery.runs["csv"] if word == "RUN" else word for word in self.arguments]

    def prepare(self, context):
        with self.lock:
            if self.expected is None:
                folder = self.folder(context)
                more = {"KILL_COUNT": str(folder / "count")}
                result = context.program.run(
                    self.command(context), folder, more=more, preload=context.preload(), timeout=120
                )
                if result.code != 0:
                    raise RuntimeError(f"{result.command}: {result.code} {result.err[-500:]}")
                self.operations = int((folder / "count").read_text())
                self.expected = file_digests(folder / self.target)


def attack(context, rng, writer, kills):
    writer.prepare(context)
    folder = writer.folder(context)
    target, why, done, result = folder / writer.target, [], 0, None
    while done < kills and not why:
        more = {"KILL_AT": str(rng.randrange(1, writer.operations + 1))}
        result = context.program.run(
            writer.command(context), folder, more=more, preload=context.preload(), timeout=120
        )
        if result.code == -signal.SIGKILL:
            done += 1
            context.count("writer-kills")
        elif result.code != 0 and not (result.code == 3 and writer.name == "data init"):
            why.append(f"exit code {result.code}")
        if target.exists() and not file_digests(target).items() <= writer.expected.items():
            why.append("half of a file stands under its name")
        elif result.code in (0, 3):  # it was done before: begin again
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    if not why:
        result = context.program.run(writer.command(context), folder, timeout=120)
        if result.code != 0 and not (result.code == 3 and writer.name == "data init"):
            why.append(f"the next try ends with {result.code}")
        elif file_digests(target) != writer.expected:
            why.append("the next try gives other bytes")
    if why:
        context.findings.add(
            "writer-kills", f"{writer.name}, killed {done} times", why, result, folder
        )
    shutil.rmtree(folder, ignore_errors=True)


def jobs(context, rng, wanted):
    context.prepare()
    if not context.preload():
        context.note("no C compiler: writers are not killed")
        return
    writers = [Writer(name) for name in WRITERS]
    left = wanted or 10**9
    if wanted:
        FIGURES.append(f"{wanted} kills of writers: {', '.join(WRITERS)}")
    while left > 0:
        for writer in writers:
            kills = min(3 if wanted else 1, left)
            left -= kills
            if kills > 0:
                yield attack, random.Random(rng.random()), writer, kills
