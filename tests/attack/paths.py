"""Part `paths`: files and folders with names that are legal and unpleasant."""

import os
import random
import shutil
from pathlib import Path

from kills import NODE, essence
from program import faults

NAMES = {
    "spaces": b"a  b ",
    "quotes": b'it\'s "quoted"',
    "a line break": b"two\nlines",
    "not UTF-8": b"\xff\xfe\x80",
    "a dash": b"-rf",
    "two dashes": b"--help",
    "an equals sign": b"=1+1",
    "an at sign": b"@SUM(1)",
    "escapes": b"\x1b[31mred",
    "a dollar": b"$(id)`id`",
    "percent signs": b"%s%n%d",
    "braces": b"{}{0}",
    "a backslash": b"a\\b\\",
    "a semicolon": b"a;b&c|d",
    "a star": b"*?[a]",
    "a hash": b"#a",
    "a comma": b"a,b",
    "a colon": b"a:b",
    "script tags": b"<script>alert('attack')<b>",
    "250 letters": b"n" * 250,
    "umlauts": "Größe-Ж-日本-🎈".encode(),
    "right to left": "\u202egnp.exe".encode(),
    "a tab": b"a\tb",
    "a dot": b".hidden",
    "two dots": b"..a",
    "a tilde": b"~root",
}
TRAIN = ["train", *NODE, "--method", "erm", "--epochs", "3", "--threads", "1"]


def finish(context, folder, what, why, result):
    context.count("paths", result)
    if why:
        context.findings.add("paths", what, why, result, folder)


def tour(context, kind, name, stops):
    """Own data, a run, and then so many of predictions, report, figures, study under one name."""
    folder = context.scratch("path")
    base = os.fsencode(folder)
    context.nursery.copy_to(folder, ["csv", "s.toml"])
    data, out = b"./" + name, b"./" + name + b"/out"
    os.rename(base + b"/csv", base + b"/" + name)
    run = context.program.run
    steps = [
        [
            "train",
            "--dataset",
            data,
            "--method",
            "erm",
            "--epochs",
            "3",
            "--threads",
            "1",
            b"--out=" + out,
        ],
        [
            "train",
            "--dataset",
            data,
            "--method",
            "erm",
            "--epochs",
            "3",
            "--threads",
            "1",
            b"--out=" + out,
            "--resume",
        ],
    ]
    why, result = [], None
    for step in steps:
        result = run(step, folder)
        why = faults(result, codes=(0, 2, 3))
        if why or result.code != 0:
            break
    if not why and result.code == 0:
        found = [
            os.path.relpath(os.fsencode(p.parent), base) for p in folder.rglob("model.safetensors")
        ]
        if len(found) != 1:
            why = [f"{len(found)} runs instead of one"]
        else:
            model = b"./" + found[0]
            later = [
                ["predict", model, "--data", data, "--out", b"./" + name + b"/p.csv"],
                ["eval", model, "--json"],
                ["report", model, "--items", "1", "--out", b"./" + name + b"/r.html"],
                ["plot", model, "--out", b"./" + name + b"/figures"],
                ["plot", base + b"/" + found[0], "--out", base + b"/" + name + b"/more"],
                [
                    "study",
                    "run",
                    "s.toml",
                    "--jobs",
                    "1",
                    "--threads",
                    "1",
                    "-q",
                    "--db",
                    b"./" + name + b"/db",
                    "--out",
                    out + b"2",
                ],
                ["data", "check", data],
            ]
            context.rng(name).shuffle(later)
            for step in later[:stops]:
                result = run(step, folder, timeout=90)
                why = faults(result, codes=(0,))
                if why:
                    break
            why += [
                f"a script got into {p.name}"
                for p in [*folder.rglob("*.html"), *folder.rglob("*.svg")]
                if b"<script>alert('attack')" in p.read_bytes()
            ]
            for place in ("figures", "more"):
                figures = Path(os.fsdecode(base + b"/" + name)) / place
                if (
                    not why
                    and any(
                        step[-1]
                        in (
                            b"./" + name + b"/" + place.encode(),
                            base + b"/" + name + b"/" + place.encode(),
                        )
                        for step in later[:stops]
                    )
                    and not list(figures.glob("*.svg"))
                ):
                    why.append("plot says it is fine and makes no picture")
    finish(context, folder, f"names with {kind}", why, result)
    shutil.rmtree(folder, ignore_errors=True)


def long_path(context, depth):
    """Folders inside folders, up to what the system allows and beyond."""
    folder = context.scratch("path")
    out = "/".join(["d" * 200] * depth)
    result = context.program.run([*TRAIN, "--out", out], folder)
    why = faults(result)
    if result.code == 0:
        name = [p for p in folder.rglob("summary.json")]
        if not name or list(essence(folder / out).values()) != list(
            context.straight([*TRAIN, "--out", "out"]).values()
        ):
            why.append("the result differs from that of an ordinary run")
    finish(context, folder, f"a path of {len(out)} letters", why, result)
    shutil.rmtree(folder, ignore_errors=True)


def kinds_of_file(context, what, make):
    """Something else where a file is expected."""
    folder = context.scratch("path")
    target = folder / "thing"
    make(target)
    for command in (
        ["data", "check", "./thing"],
        ["eval", "thing"],
        ["report", "thing", "--out", "r.html"],
        ["plot", "thing"],
        ["study", "status", "--db", "thing"],
        ["train", "--config", "thing"],
        ["study", "run", "./thing"],
    ):
        result = context.program.run(command, folder, timeout=30)
        why = faults(result, codes=(2, 3))
        context.count("paths", result)
        if why:
            context.findings.add("paths", f"{what}: {' '.join(command)}", why, result, folder)
    shutil.rmtree(folder, ignore_errors=True)


THINGS = {
    "nothing": lambda path: None,
    "an empty file": lambda path: path.write_bytes(b""),
    "an empty folder": lambda path: path.mkdir(),
    "a link to itself": lambda path: path.symlink_to("thing"),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to /dev/null": lambda path: path.symlink_to("/dev/null"),
}


def jobs(context, rng):
    context.prepare()
    stops = 9 if context.options.minutes > 10 else 2
    everything = [(tour, kind, name, stops) for kind, name in NAMES.items()] + [
        (long_path, depth) for depth in (1, 15, 19, 25)
    ]
    everything += [(kinds_of_file, what, make) for what, make in THINGS.items()]
    random.Random(rng.random()).shuffle(everything)
    yield from everything
