"""Attacks the program: campaign.py --grm PATH [--minutes M] [--part NAME...] [--seed N]

It runs for two minutes in the tests and for hours through scripts/attack.sh, and ends with a table
of what was done, and with exit code 1 if something was found; docs/attack.md says what counts.
"""

import argparse
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import descriptors
import inputs
import kills
import kills_studies
import kills_writers
import limits
import models
import mutants
import paths
import signals
from nursery import Nursery
from program import Findings, Program

# Share of the time that a part may take; a part with a list stops at its end.
SHARES = {
    "models": 0.13,
    "inputs": 0.13,
    "descriptors": 0.1,
    "signals": 0.12,
    "limits": 0.13,
    "paths": 0.08,
    "kills": 0.15,
    "mutants": 0.2,
}
COUNTED = {"kills", "study-kills", "writer-kills"}  # may have a number instead of a time


class Context:
    """What the parts share."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.program = Program(options.grm, options.memory)
        self.findings = Findings(options.keep)
        self.lock = threading.Lock()
        self.numbers = iter(range(10**9))
        self.notes = []  # what could not be tried here
        self.source = Path(__file__).resolve().parents[2]
        self.nursery = self.cases = None
        self.runs = {}

    def scratch(self, name):
        with self.lock:
            number = next(self.numbers)
        folder = self.work / f"{name}{number}"
        folder.mkdir()
        return folder

    def count(self, part, result=None):
        with self.lock:
            entry = self.findings.part(part)
            entry["runs"] += 1
            entry["refused"] += int(result is not None and result.code != 0)

    def note(self, text):
        with self.lock:
            if text not in self.notes:
                self.notes.append(text)
                print(f"  note: {text}", flush=True)

    def prepare(self):
        """Good inputs: made once, and only if a part needs them."""
        with self.lock:
            if self.nursery is None:
                folder = self.work / "nursery"
                folder.mkdir()
                self.nursery = Nursery(self.program, folder)
                self.cases = mutants.all_cases(self.nursery)

    def straight(self, arguments):
        """The essence of an undisturbed run of `grm train ... --out out`."""
        with self.lock:
            known = self.runs.setdefault(tuple(arguments), {"lock": threading.Lock()})
        with known["lock"]:
            if "essence" not in known:
                folder = self.scratch("straight")
                result = self.program.run(arguments, folder, timeout=300)
                if result.code != 0:
                    raise RuntimeError(f"{result.command}: {result.code} {result.err[-500:]}")
                known["essence"] = kills.essence(folder / "out")
        return known["essence"]

    def rng(self, name):
        return random.Random(f"{self.options.seed} {name}")

    def preload(self):
        """tests/cli/kill_at.c as a library; "" without a C compiler."""
        with self.lock:
            library = self.work / "kill_at.so"
            if not library.exists():
                compiler = os.environ.get("CC", "cc")
                source = self.source / "tests/cli/kill_at.c"
                try:
                    subprocess.run(
                        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
                        check=True,
                    )
                except (OSError, subprocess.CalledProcessError):
                    return ""
            return str(library)


def guarded(context, part, job, *arguments):
    try:
        job(context, *arguments)
    except Exception:  # a mistake of the harness must not pass for a clean campaign
        with context.lock:
            context.findings.add(
                part, "the harness itself failed", traceback.format_exc().splitlines()[-4:]
            )


def run_part(context, name, seconds, rng):
    """Jobs of a part until its time is over: those of a list, or made for ever."""
    options, begin = context.options, time.monotonic()
    deadline = begin + seconds
    if name in ("mutants", "models", "inputs"):
        context.prepare()
    jobs = {
        "mutants": lambda: (
            (mutants.attack, random.Random(rng.random()), k) for k in range(10**9)
        ),
        "models": lambda: models.jobs(context, rng),
        "inputs": lambda: inputs.jobs(context, rng),
        "descriptors": lambda: descriptors.jobs(context, rng),
        "signals": lambda: signals.jobs(context, rng),
        "limits": lambda: limits.jobs(context, rng),
        "paths": lambda: paths.jobs(context, rng),
        "kills": lambda: kills.jobs(context, rng, options.kills),
        "study-kills": lambda: kills_studies.jobs(context, rng, options.study_kills),
        "writer-kills": lambda: kills_writers.jobs(context, rng, options.writer_kills),
    }[name]()
    endless = name == "mutants" or name.endswith("kills") and seconds < 86400
    left = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = set()
        for job, *arguments in jobs:
            if options.only and not any(options.only in str(word) for word in arguments):
                continue
            if time.monotonic() > deadline:
                left += 1
                if endless:
                    break
                continue
            waiting.add(pool.submit(guarded, context, name, job, *arguments))
            if len(waiting) >= options.jobs:
                _, waiting = concurrent.futures.wait(
                    waiting, return_when=concurrent.futures.FIRST_COMPLETED
                )
    entry = context.findings.part(name)
    entry["seconds"] += time.monotonic() - begin
    print(
        f"{name}: {entry['runs']} runs, {entry['findings']} findings, {entry['seconds']:.0f} s"
        + (f", {left} left out for want of time" if left and not endless else ""),
        flush=True,
    )


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--grm", required=True, help="the program")
    parser.add_argument("--minutes", type=float, default=2.0, help="of the whole campaign")
    parser.add_argument(
        "--part",
        action="append",
        choices=[*SHARES, "study-kills", "writer-kills"],
        help="only these",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once")
    parser.add_argument("--memory", type=int, default=3000, help="MiB that no run may ever take")
    parser.add_argument("--keep", default="attack-findings", help="folder for what is found")
    parser.add_argument(
        "--kills", type=int, default=0, help="kills of training, however long they take"
    )
    parser.add_argument("--study-kills", type=int, default=0)
    parser.add_argument("--writer-kills", type=int, default=0)
    parser.add_argument("--only", help="only jobs whose name holds this text; not for mutants")
    parser.add_argument("--report", help="write the table to this file")
    return parser.parse_args(arguments)


def table(context):
    rows = [("part", "runs", "refused", "findings")]
    rows += [
        (name, e["runs"], e["refused"], e["findings"])
        for name, e in context.findings.counts.items()
    ]
    return "".join(
        "| " + " | ".join(map(str, row)) + " |\n" + ("|---|---|---|---|\n" if k == 0 else "")
        for k, row in enumerate(rows)
    )


def write_report(context, path):
    options, program = context.options, context.program
    version = program.run(["--version"], context.work).out.decode().strip()
    parts = ", ".join(options.part) if options.part else "all parts"
    text = "# Attacks\n\nMade by `scripts/attack.sh` ([docs/attack.md](../docs/attack.md)): "
    text += f"{version}, seed {options.seed}, {parts}"
    text += ", both sanitizers" if program.sanitizer else ""
    # Parts with a count take the time they need.
    text += f", {options.minutes:g} minutes" if set(options.part or SHARES) - COUNTED else ""
    text += ".\n\n" + table(context)
    text += (
        "\n" + "".join(f"* {kind}\n" for kind in sorted(set(kills.FIGURES)))
        if kills.FIGURES
        else "\n"
    )
    text += "".join(f"* not tried: {note}\n" for note in context.notes)
    text += "".join(
        f"* found: {part}: {what}: {'; '.join(why)}\n" for part, what, why in context.findings.list
    )
    Path(path).write_text(text)


def main(arguments):
    options = parse(arguments)
    chosen = options.part or list(SHARES)
    for part, wanted in (
        ("kills", options.kills),
        ("study-kills", options.study_kills),
        ("writer-kills", options.writer_kills),
    ):
        if wanted and part not in chosen:
            chosen.append(part)
    work = Path(tempfile.mkdtemp(prefix="grm-attack-"))
    context = Context(options, work)
    print(
        f"attack: {context.program.grm}{' (sanitizers)' if context.program.sanitizer else ''}, "
        f"seed {options.seed}, "
        f"{options.minutes:g} minutes: {', '.join(chosen)}",
        flush=True,
    )
    try:
        end = time.monotonic() + 60 * options.minutes
        for k, part in enumerate(chosen):
            rest = sum(SHARES.get(p, 0.15) for p in chosen[k:])
            seconds = max(1.0, (end - time.monotonic()) * SHARES.get(part, 0.15) / rest)
            counted = {
                "kills": options.kills,
                "study-kills": options.study_kills,
                "writer-kills": options.writer_kills,
            }
            run_part(
                context,
                part,
                86400 if counted.get(part) else seconds,
                random.Random(f"{options.seed} {part}"),
            )
        print("\n" + table(context))
        if options.report:
            write_report(context, options.report)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    found = len(context.findings.list)
    print(f"{found} findings, kept in {options.keep}" if found else "nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
