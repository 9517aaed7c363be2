"""Part `limits`: too little memory, room, descriptors, time, stack; disks and environments."""

import os
import shutil
import signal
import subprocess

from kills import NODE, essence
from program import faults

TRAIN = [
    "train",
    *NODE,
    "--method",
    "erm",
    "--epochs",
    "6",
    "--threads",
    "1",
    "--set",
    "train.checkpoint_seconds=0",
    "--out",
    "out",
]
VERBS = {
    "train": TRAIN,
    "predict": ["predict", "RUN", "--data", "./csv", "--out", "p.csv", "--threads", "2"],
    "report": ["report", "RUN", "--out", "r.html", "--items", "1"],
    "data check": ["data", "check", "./csv"],
    "study run": [
        "study",
        "run",
        "s.toml",
        "--jobs",
        "1",
        "--threads",
        "1",
        "--out",
        "cells",
        "--retry-failed",
    ],
    "doctor": ["doctor"],
}
# What the shell sets, and signals that may end the program under it.
LIMITS = [
    *[(f"ulimit -v {mib * 1024}", ()) for mib in (150, 300, 400, 600, 800, 1200, 2000)],
    *[(f"ulimit -f {kib}", ()) for kib in (0, 1, 2, 8, 32)],
    *[(f"ulimit -n {files}", ()) for files in (4, 6, 8, 12, 20, 40)],
    *[(f"ulimit -t {seconds}", (signal.SIGXCPU, signal.SIGKILL)) for seconds in (1,)],
    *[(f"ulimit -s {kib}", ()) for kib in (512, 1024, 65536, "unlimited")],
    ("ulimit -c 0", ()),
    ("ulimit -l 0", ()),
    ("ulimit -d 200000", ()),
    ("umask 777", ()),
    ("umask 0", ()),
]
SMALL_STACK = "ulimit -s 512"


def folder_of(context):
    folder = context.scratch("limit")
    context.nursery.copy_to(folder, ["csv", "runs/csv", "s.toml"])
    return folder


def command_of(context, verb):
    return [context.nursery.runs["csv"] if word == "RUN" else word for word in VERBS[verb]]


def finish(context, folder, what, why, result):
    context.count("limits", result)
    if why:
        context.findings.add("limits", what, why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


def limited(context, verb, limit, signals):
    """The program ends in time with a code and a message, and what it finished is right."""
    folder = folder_of(context)
    # A loader without room for its libraries ends with 127 and a word of its own.
    codes = (0, 2, 3, 4, 130) + (
        (127,) if any(k in limit for k in ("-v", "-n", "-d", "-s")) else ()
    )
    if context.program.sanitizer and ("-v" in limit or "-d" in limit or "-s" in limit):
        return  # a sanitizer needs more than these by itself
    result = context.program.run(
        command_of(context, verb), folder, before=limit, limited=False, timeout=40
    )
    why = faults(
        result, codes=codes, signals=signals, study=verb == "study run", message="-f" not in limit
    )
    # This time there is too little indeed.
    why = [text for text in why if not text.startswith("ran out of memory")]
    if verb == "train" and result.code == 0 and essence(folder / "out") != context.straight(TRAIN):
        why.append("the result differs from that of an ordinary run")
    if verb == "train" and not why and result.code != 0 and "umask" not in limit:
        again = context.program.run([*TRAIN, "--resume"], folder)
        if again.code != 0 or essence(folder / "out") != context.straight(TRAIN):
            why.append(f"afterwards --resume ends with {again.code} and not with the same bytes")
            result = again
    finish(context, folder, f"{verb} under {limit}", why, result)


def disk(context, verb, size):
    """A disk of so many KiB, or one that cannot be written ("ro")."""
    folder = context.scratch("limit")
    parts = ["csv", "runs/csv", "s.toml", "results.db", "cells"]
    taken = sum(
        f.stat().st_blocks
        for part in parts
        for f in [context.nursery.folder / part, *(context.nursery.folder / part).rglob("*")]
    )
    room = taken // 2 + (size if size != "ro" else 4096)  # KiB
    mount = ["mount", "-t", "tmpfs", "-o", f"size={room}k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        context.note("mounting is not allowed: no full and no read-only disk")
        return
    home = context.scratch("home")
    try:
        context.nursery.copy_to(folder, parts)
        if size == "ro":
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        line = f"cd {folder}"
        result = context.program.run(command_of(context, verb), home, before=line)
        why = faults(result, study=verb == "study run")
        if size == "ro" and verb == "study status" and result.code != 0:
            why.append("results cannot be read from a read-only disk")
        if any(path for path in folder.rglob("*.tmp*")):
            why.append("leaves half of a file behind")
        context.count("limits", result)
        if why:
            context.findings.add("limits", f"{verb} on a disk: {size}", why, result, home)
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True)


VERBS["study status"] = ["study", "status", "s", "--json"]
VERBS["eval"] = ["eval", "RUN", "--json"]


def surroundings(context, verb, name, more):
    """Variables of the environment: the same result as without them."""
    folder = folder_of(context)
    result = context.program.run(command_of(context, verb), folder, more=more)
    why = faults(result, codes=(0,))
    if verb == "train" and result.code == 0 and essence(folder / "out") != context.straight(TRAIN):
        why.append("the result differs from that of an ordinary run")
    finish(context, folder, f"{verb} with {name}", why, result)


def locales(context):
    """Locales with decimal commas or other letters, made where the system has their sources."""
    target = context.work / "locales"
    target.mkdir(exist_ok=True)
    made = []
    for name, charset in (
        ("de_DE", "UTF-8"),
        ("tr_TR", "UTF-8"),
        ("ja_JP", "EUC-JP"),
        ("ar_EG", "UTF-8"),
    ):
        path = target / f"{name}.{charset}"
        command = ["localedef", "-i", name, "-f", charset, "--no-archive", str(path)]
        try:
            subprocess.run(command, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            pass
        if path.is_dir():
            made.append((path.name, str(target)))
        else:
            context.note(f"the locale {path.name} cannot be made here")
    return made


def environments(context):
    yield "no HOME and no cache", {"HOME": "", "GRM_CACHE": ""}
    yield "HOME that is not there", {"HOME": "/nonexistent/home", "GRM_CACHE": ""}
    for zone in ("America/St_Johns", ":/etc/passwd", "garbage", "UTC-99:99:99", "A" * 5000):
        yield f"TZ={zone[:20]}", {"TZ": zone}
    yield "a broken locale", {"LC_ALL": "xx_XX.nothing"}
    yield "TERM and COLUMNS", {"TERM": "\x1b[31m", "COLUMNS": "-1", "LINES": "0"}
    yield "odd OMP variables", {"OMP_NUM_THREADS": "x", "OMP_STACKSIZE": "1"}
    for name, folder in locales(context):
        yield f"LC_ALL={name}", {"LC_ALL": name, "LOCPATH": folder}


def jobs(context, rng):
    context.prepare()
    everything = [
        (limited, verb, *limit)
        for verb in ("train", "predict", "report", "data check", "study run", "doctor")
        for limit in LIMITS
    ]
    everything += [
        (disk, verb, size)
        for verb in ("train", "predict", "report", "study run")
        for size in (8, 40, 150)
    ]
    everything += [
        (disk, verb, "ro")
        for verb in (
            "train",
            "predict",
            "report",
            "study run",
            "study status",
            "eval",
            "data check",
        )
    ]
    everything += [
        (surroundings, verb, *env)
        for env in environments(context)
        for verb in ("train", "data check", "predict")
    ]
    rng.shuffle(everything)
    # One of each kind first, so that a short campaign has seen all of them.
    first = {}
    for job in everything:
        first.setdefault(str(job[2])[:9], job)
    yield from first.values()
    yield from (job for job in everything if job not in first.values())
