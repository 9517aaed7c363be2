"""Part `descriptors`: standard descriptors that are closed, full, or read by nobody.

Nothing that was meant for the terminal may end up in a file; results are those of an ordinary run.
"""

import fcntl
import json
import os
import shutil
import subprocess
import time

from kills import NODE, essence
from program import Result, faults

TRAIN = ["train", *NODE, "--method", "erm", "--epochs", "6", "--threads", "1", "--out", "out"]
CLOSED = [
    "<&-",
    ">&-",
    "2>&-",
    "<&- >&-",
    "<&- 2>&-",
    ">&- 2>&-",
    "<&- >&- 2>&-",
    "> /dev/full",
    "2> /dev/full",
    "> /dev/full 2> /dev/full",
    "< /dev/full",
    "> /dev/stdin < /dev/null",
    "2>&1",
    "3> three >&3",
    "<> both >&0 2>&0",
]
VERBS = {
    "train": TRAIN,
    "train --json": [*TRAIN, "--json"],
    "methods": ["methods", "--json"],
    "data describe": ["data", "describe", "sbm", "--set", "dataset.nodes=40"],
    "a mistake": ["train", "--dataset", "nothing", "--method", "erm"],
    "help": ["--help"],
    "data init": ["data", "init", "fresh"],
    "study run": ["study", "run", "s.toml", "--jobs", "1", "--threads", "1"],
}
STUDY = """name = "s"
methods = ["erm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
train.epochs = 2
"""


def clean(folder):
    """Files that hold something other than they should."""
    found = []
    for path in folder.rglob("metrics.jsonl"):
        for line in path.read_text(errors="replace").splitlines():
            try:
                json.loads(line)
            except ValueError:
                found.append(f"a line in metrics.jsonl that is none of its own: {line[:60]}")
                break
    for path in [*folder.rglob("summary.json"), *folder.rglob("env.json")]:
        try:
            json.loads(path.read_text())
        except ValueError:
            found.append(f"{path.name} is damaged")
    return found


def closed(context, name, after):
    folder = context.scratch("closed")
    (folder / "s.toml").write_text(STUDY)
    result = context.program.run(VERBS[name], folder, after=after)
    silent = "2>" in after or ">&- " in after or "2>&0" in after
    why = faults(result, message=not silent, study=name == "study run") + clean(folder)
    if name.startswith("train") and result.code == 0:
        straight = context.straight(TRAIN)
        if essence(folder / "out") != straight:
            why.append("the result differs from that of an ordinary run")
    if (
        "> /dev/full" in after.split("2>")[0]
        and result.code == 0
        and name not in ("train", "data init", "study run", "a mistake")
    ):
        why.append("output that got lost counts as success")
    context.count("descriptors", result)
    if why:
        context.findings.add("descriptors", f"{name} {after}", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


def pipe(context, name, which, reader):
    """A pipe that nobody reads: closed at once, or full until it is drained after two seconds."""
    folder = context.scratch("pipe")
    (folder / "s.toml").write_text(STUDY)
    read, write = os.pipe()
    fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
    other = "err" if which == "stdout" else "out"
    begin, text = time.monotonic(), b""
    with open(folder / other, "wb") as file:
        pipes = (
            {"stdout": write, "stderr": file}
            if which == "stdout"
            else {"stdout": file, "stderr": write}
        )
        if reader == "full":
            os.set_blocking(write, False)
            try:
                while True:
                    os.write(write, b"x" * 512)
            except BlockingIOError:
                os.set_blocking(write, True)
        process = context.program.start(VERBS[name], folder, stdin=subprocess.DEVNULL, **pipes)
        os.close(write)
        if reader == "gone":
            os.close(read)
        else:
            time.sleep(2)
            with os.fdopen(read, "rb") as source:
                text = source.read()
        code, rss, stopped = context.program.wait(process, 60 * context.program.slow)
    result = Result(
        f"{process.text} with {which} to a pipe, reader {reader}",
        code,
        text,
        (folder / other).read_bytes(),
        time.monotonic() - begin,
        rss,
        stopped,
    )
    # A program that writes to a pipe without a reader may be ended by SIGPIPE, as others are.
    why = faults(result, message=False, signals=(13,), study=name == "study run") + clean(folder)
    if code == 0 and name == "train" and essence(folder / "out") != context.straight(TRAIN):
        why.append("the result differs from that of an ordinary run")
    context.count("descriptors", result)
    if why:
        context.findings.add(
            "descriptors", f"{name}, {which} is a pipe, its reader is {reader}", why, result, folder
        )
    shutil.rmtree(folder, ignore_errors=True)


def jobs(context, rng):
    everything = [(closed, name, after) for name in VERBS for after in CLOSED]
    everything += [
        (pipe, name, which, reader)
        for name in ("train", "methods", "study run", "data describe")
        for which in ("stdout", "stderr")
        for reader in ("gone", "full")
    ]
    rng.shuffle(everything)
    # The worst first: training with nothing open.
    everything.sort(
        key=lambda job: not (job[1] == "train" and job[2] in ("<&- >&- 2>&-", "2>&-", ">&- 2>&-"))
    )
    yield from everything
