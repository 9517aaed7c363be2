"""Part `signals`: what is sent at random moments.

A run that was asked to stop leaves a checkpoint, and goes on to the same bytes; a second request
ends it at once; a stopped process goes on when it may.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from kills import NODE, ended, essence
from kills_studies import orphans
from program import Result, faults

EPOCHS = 400
TRAIN = [
    "train",
    *NODE,
    "--method",
    "erm",
    "--epochs",
    str(EPOCHS),
    "--threads",
    "1",
    "--set",
    "train.eval_every=50",
    "--set",
    "train.checkpoint_seconds=1000",
    "--out",
    "out",
    "-q",
]
ENDLESS = [word if word != str(EPOCHS) else "1000000" for word in TRAIN]
STUDY = """name = "s"
methods = ["erm"]
datasets = ["sbm"]
[set]
dataset.nodes = 60
train.epochs = 1000000
train.eval_every = 1000
"""
STOPS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


def metrics(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("metrics.jsonl"))


def begin(context, folder, arguments, lines):
    """Starts it and waits until it has that many lines of metrics."""
    out, err = open(folder / "stdout", "wb"), open(folder / "stderr", "wb")
    process = context.program.start(
        arguments, folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err
    )
    out.close()
    err.close()
    deadline = time.monotonic() + 60 * context.program.slow
    while metrics(folder) < lines and time.monotonic() < deadline and not ended(process):
        time.sleep(0.01)
    return process


def close(context, folder, process, since, timeout=30):
    code, rss, stopped = context.program.wait(process, timeout * context.program.slow)
    return Result(
        process.text,
        code,
        (folder / "stdout").read_bytes(),
        (folder / "stderr").read_bytes(),
        time.monotonic() - since,
        rss,
        stopped,
    )


def report(context, folder, what, why, result):
    context.count("signals", result)
    if why:
        context.findings.add("signals", what, why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


def once(context, rng, name):
    """One request in the middle of a run, then --resume."""
    folder = context.scratch("signal")
    process = begin(context, folder, TRAIN, rng.randrange(1, EPOCHS // 2))
    since = time.monotonic()
    os.kill(process.pid, STOPS[name])
    result = close(context, folder, process, since)
    why = faults(result, codes=(0, 130))
    if result.code == 130 and not list(folder.rglob("state.safetensors")):
        why.append("stopped without a checkpoint")
    if not why:
        again = context.program.run([*TRAIN, "--resume"], folder, timeout=120)
        if again.code != 0 or essence(folder / "out") != context.straight(TRAIN):
            result, why = again, [f"--resume ends with {again.code}, and not with the same bytes"]
    report(context, folder, f"{name} during training", why, result)


def early(context, rng, name):
    """A request at any moment from the start on: nothing may be broken afterwards."""
    folder = context.scratch("signal")
    process = begin(context, folder, TRAIN, 0)
    time.sleep(rng.uniform(0, 1.5) * context.program.slow)
    if not ended(process):
        os.kill(process.pid, STOPS[name])
    result = close(context, folder, process, time.monotonic())
    why = faults(result, codes=(0, 130), signals=(STOPS[name],), message=False)
    if not why:
        again = context.program.run([*TRAIN, "--resume"], folder, timeout=120)
        if again.code != 0 or essence(folder / "out") != context.straight(TRAIN):
            result, why = again, [f"--resume ends with {again.code}, and not with the same bytes"]
    report(context, folder, f"{name} at the start", why, result)


def twice(context, rng, first, second):
    """The second request ends it within two seconds, whatever it is doing."""
    folder = context.scratch("signal")
    process = begin(context, folder, ENDLESS, rng.randrange(1, 50))
    since = time.monotonic()
    os.kill(process.pid, STOPS[first])
    if not ended(process):
        os.kill(process.pid, STOPS[second])
    result = close(context, folder, process, since)
    why = faults(result, codes=(130,), signals=tuple(STOPS.values()), message=False)
    if result.seconds > 5 * context.program.slow:
        why.append(f"took {result.seconds:.1f} s to end")
    report(context, folder, f"{first} and {second}", why, result)


def paused(context, rng):
    folder = context.scratch("signal")
    process = begin(context, folder, TRAIN, rng.randrange(1, EPOCHS // 2))
    since = time.monotonic()
    for _ in range(3):
        if not ended(process):
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.05)
    result = close(context, folder, process, since, 120)
    why = faults(result, codes=(0,))
    if not why and essence(folder / "out") != context.straight(TRAIN):
        why.append("a run that was stopped and continued differs")
    report(context, folder, "SIGSTOP and SIGCONT", why, result)


def study(context, rng, name):
    """It ends with 130 and leaves no process; its cell is free and has a checkpoint."""
    folder = context.scratch("signal")
    (folder / "s.toml").write_text(STUDY)
    run = ["study", "run", "s.toml", "--jobs", "1", "--threads", "1", "-q"]
    process = begin(context, folder, run, rng.randrange(1, 20))
    since = time.monotonic()
    os.kill(process.pid, STOPS[name])
    while not ended(process) and time.monotonic() - since < 30 * context.program.slow:
        time.sleep(0.02)
    left = orphans(folder)
    result = close(context, folder, process, since)
    why = faults(result, codes=(130,)) + (
        [f"leaves the processes {', '.join(left)} behind"] if left else []
    )
    if not why:
        status = context.program.run(["study", "status", "s", "--json"], folder)
        states = (
            [cell["state"] for cell in json.loads(status.out)["cells"]]
            if status.code == 0
            else status.code
        )
        if states != ["todo"]:
            why.append(f"its cell is {states}, not free")
        if not list(folder.rglob("state.safetensors")):
            why.append("its cell left no checkpoint")
    report(context, folder, f"{name} to a study", why, result)


def jobs(context, rng):
    names = list(STOPS)
    everything = (
        [(once, name) for name in names]
        + [(study, name) for name in names]
        + [(early, name) for name in names * 2]
    )
    everything += [(twice, a, b) for a in names for b in names] + [(paused,)]
    rng.shuffle(everything)
    for job, *words in everything:
        yield job, random.Random(rng.random()), *words
