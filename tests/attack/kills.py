"""Part `kills`: training killed at any moment and operation on files, for every method.

What goes on with --resume ends with the bytes of an undisturbed run: model, metrics and summary.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import threading
import time

NODE = ["--dataset", "sbm", "--set", "dataset.nodes=60", "--set", "dataset.words=30"]
GRAPH = [
    "--dataset",
    "spmotif",
    "--set",
    "dataset.train_per_class=5",
    "--set",
    "dataset.val_per_class=3",
    "--set",
    "dataset.test_per_class=3",
]
FLAGS = [
    "--epochs",
    "8",
    "--set",
    "train.eval_every=2",
    "--set",
    "train.checkpoint_seconds=0",
    "--threads",
    "1",
    "-q",
]
TIMES = (
    "seconds",
    "seconds_per_epoch",
    "evaluate_seconds",
    "peak_memory_mib",
    "train_seconds",
    "started",
)
KILLS_OF_A_RUN = 4  # then it may end, and is compared
FIGURES = []  # sentences for the report


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def essence(folder):
    """What must be equal, of every finished run below a folder: {dataset/method: digest}."""
    found = {}
    for summary in sorted(folder.rglob("summary.json")):
        run = summary.parent
        lines = [
            without_times(json.loads(line))
            for line in (run / "metrics.jsonl").read_text().splitlines()
        ]
        about = without_times(json.loads(summary.read_text()))
        model = (run / "model.safetensors").read_bytes()
        text = json.dumps([lines, about]).encode() + model
        key = "/".join(run.relative_to(folder).parts[:-1])
        found.setdefault(key, []).append(hashlib.sha256(text).hexdigest())
    return {key: sorted(values) for key, values in found.items()}


class Victim:
    """A method, its undisturbed run, and how long and in how many operations on files that ran."""

    def __init__(self, context, name, arguments):
        self.name, self.arguments = name, arguments
        self.lock = threading.Lock()
        self.folder = context.scratch("straight")
        self.expected = None

    def prepare(self, context):
        with self.lock:
            if self.expected is None:
                library = context.preload()
                more = {"KILL_COUNT": str(self.folder / "count")} if library else {}
                result = context.program.run(
                    [*self.arguments, "--out", "out"],
                    self.folder,
                    more=more,
                    preload=library,
                    timeout=300,
                )
                if result.code != 0:
                    raise RuntimeError(f"{result.command}: {result.code} {result.err[-500:]}")
                self.seconds = result.seconds
                count = self.folder / "count"
                self.operations = int(count.read_text()) if count.exists() else 0
                self.expected = essence(self.folder / "out")


def methods(context):
    """Every method at the levels it has."""
    result = context.program.run(["methods", "--json"], context.work)
    for entry in json.loads(result.out):
        for level in entry["levels"]:
            yield entry["name"], level


def kill_once(context, rng, victim, folder):
    """Starts or resumes the run in `folder` and kills it. False if it got to its end before."""
    program, library = context.program, context.preload()
    by_operation = library and victim.operations and rng.random() < 0.5
    more = {"KILL_AT": str(rng.randrange(1, victim.operations + 1))} if by_operation else {}
    with open(folder / "err", "ab") as err:
        process = program.start(
            [*victim.arguments, "--out", "out", "--resume"],
            folder,
            more=more,
            preload=library if by_operation else "",
            stdout=err,
            stderr=err,
        )
        if not by_operation:
            # Most of a short run is the start of the program: look at the rest more often.
            moment = victim.seconds * (
                rng.random() if rng.random() < 0.2 else rng.uniform(0.4, 1.0)
            )
            end = time.monotonic() + moment
            while time.monotonic() < end and not ended(process):
                time.sleep(0.004)
            os.kill(process.pid, signal.SIGKILL)
        code, _, stopped = program.wait(process, 120 * program.slow)
    if stopped or code not in (0, -signal.SIGKILL, 137):
        said = (folder / "err").read_bytes()[-400:].decode(errors="replace")
        raise Unexpected(f"{stopped or f'exit code {code}'}: {said}")
    return code != 0


def ended(process):
    """Without taking its status away."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


class Unexpected(Exception):
    pass


def attack(context, rng, victim, kills, part="kills"):
    """One run, killed `kills` times, and what it ends with."""
    victim.prepare(context)
    folder = context.scratch("killed")
    why, done, result = [], 0, None
    try:
        for _ in range(3 * kills):
            if done == kills:
                break
            if kill_once(context, rng, victim, folder):
                done += 1
                context.count(part)
            elif essence(folder / "out") != victim.expected:
                raise Unexpected(
                    "a run that was killed and resumed differs from the undisturbed one"
                )
            else:
                shutil.rmtree(folder / "out")  # it was faster: begin again
        result = context.program.run(
            [*victim.arguments, "--out", "out", "--resume"], folder, timeout=300
        )
        if result.code != 0:
            why.append(f"--resume ends with {result.code}")
        elif essence(folder / "out") != victim.expected:
            why.append("a run that was killed and resumed differs from the undisturbed one")
        # A folder that was killed while it was made keeps its hidden name.
        if [f for f in (folder / "out").rglob("*.tmp*") if not f.parent.name.startswith(".new-")]:
            why.append("leaves half of a file behind")
    except Unexpected as error:
        why.append(str(error))
    if why:
        context.findings.add(part, f"{victim.name}, killed {done} times", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)
    return done


def jobs(context, rng, wanted):
    """`wanted` kills over all methods, evenly; without a number, until the time is over."""
    victims = []
    for name, level in methods(context):
        base = GRAPH if level == "graph" else NODE
        victims.append(
            Victim(context, f"{name} ({level})", ["train", *base, "--method", name, *FLAGS])
        )
    rng.shuffle(victims)
    if wanted:
        names = ", ".join(sorted(v.name for v in victims))
        FIGURES.append(f"{wanted} kills of training over {len(victims)} methods: {names}")
    left = wanted or 10**9
    step = KILLS_OF_A_RUN if wanted else 2
    while left > 0:
        for victim in victims:
            kills = min(step, left)
            if kills > 0:
                yield attack, random.Random(rng.random()), victim, kills
            left -= kills
