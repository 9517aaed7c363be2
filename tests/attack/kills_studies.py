"""Part `study-kills`: studies killed; the results are those of an undisturbed one."""

import json
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

from kills import FIGURES, ended, essence

STUDY = """name = "s"
seeds = 2
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 60
dataset.words = 30
train.epochs = 6
train.eval_every = 2
train.test = "selected"
"""
RUN = [
    "study",
    "run",
    "s.toml",
    "--jobs",
    "1",
    "--threads",
    "1",
    "--checkpoint-seconds",
    "0",
    "-q",
    "--retry-failed",
    "--out",
    "cells",
]
KILLS_OF_A_STUDY = 10


def outcome(context, folder):
    """Cells with their results, and the digests of all runs."""
    result = context.program.run(["study", "status", "s", "--json"], folder)
    cells = json.loads(result.out)["cells"]
    rows = sorted(
        json.dumps([c.get(k) for k in ("dataset", "method", "variant", "seed", "state", "chosen")])
        for c in cells
    )
    return rows, essence(folder / "cells")


def orphans(folder):
    """Processes that still work in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    os.readlink(entry / "cwd") == str(folder)
                    and b"study" in (entry / "cmdline").read_bytes()
                ):
                    found.append(entry.name)
            except OSError:
                pass
    return found


class Straight:
    """The undisturbed study."""

    def __init__(self):
        self.lock = threading.Lock()
        self.expected = None

    def prepare(self, context):
        with self.lock:
            if self.expected is None:
                folder = context.scratch("study")
                (folder / "s.toml").write_text(STUDY)
                library = context.preload()
                more = {"KILL_COUNT": str(folder / "count")} if library else {}
                result = context.program.run(RUN, folder, more=more, preload=library, timeout=600)
                if result.code != 0:
                    raise RuntimeError(f"{result.command}: {result.code} {result.err[-500:]}")
                self.seconds = result.seconds
                self.operations = (
                    int((folder / "count").read_text()) if (folder / "count").exists() else 0
                )
                self.expected = outcome(context, folder)


def kill_once(context, rng, straight, folder):
    program, library = context.program, context.preload()
    by_operation = library and straight.operations and rng.random() < 0.4
    more = {"KILL_AT": str(rng.randrange(1, straight.operations + 1))} if by_operation else {}
    with open(folder / "err", "ab") as err:
        process = program.start(
            RUN, folder, more=more, preload=library if by_operation else "", stdout=err, stderr=err
        )
        end = time.monotonic() + (600 if by_operation else straight.seconds * rng.random())
        while time.monotonic() < end and not ended(process):
            time.sleep(0.01)
        if not ended(process):
            os.kill(process.pid, signal.SIGKILL)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wait = time.monotonic() + 5
    while orphans(folder) and time.monotonic() < wait:
        time.sleep(0.05)
    left = orphans(folder)
    program.kill_group(process)
    code = process.returncode
    # 1: a cell of the study was the one that died at its operation.
    problem = [] if code in (0, 1, -signal.SIGKILL, 137) else [f"exit code {code}"]
    return code != 0, problem + ([f"leaves the processes {', '.join(left)} behind"] if left else [])


def attack(context, rng, straight, kills):
    straight.prepare(context)
    folder = context.scratch("study")
    (folder / "s.toml").write_text(STUDY)
    why, done, result = [], 0, None
    for _ in range(3 * kills):
        if done == kills or why:
            break
        killed, why = kill_once(context, rng, straight, folder)
        if killed:
            done += 1
            context.count("study-kills")
        elif outcome(context, folder) != straight.expected:
            why.append("a study that was killed differs from the undisturbed one")
        else:
            shutil.rmtree(folder)
            folder.mkdir()
            (folder / "s.toml").write_text(STUDY)
    if not why:
        result = context.program.run(RUN, folder, timeout=600)
        if result.code != 0:
            why.append(f"going on ends with {result.code}")
        elif outcome(context, folder) != straight.expected:
            why.append("a study that was killed differs from the undisturbed one")
    if why:
        context.findings.add("study-kills", f"killed {done} times", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


def jobs(context, rng, wanted):
    straight, left = Straight(), wanted or 10**9
    if wanted:
        FIGURES.append(f"{wanted} kills of studies of 4 cells")
    while left > 0:
        kills = min(KILLS_OF_A_STUDY if wanted else 2, left)
        left -= kills
        yield attack, random.Random(rng.random()), straight, kills
