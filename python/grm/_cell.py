"""Cells of a study, one after the other: what `Study.run` starts in the place of the program."""

from __future__ import annotations

import argparse
import sys


def main(words: "list[str]") -> int:
    import grm
    from grm import _grm

    parser = argparse.ArgumentParser(prog="grm._cell")
    parser.add_argument("study", choices=["study"])
    parser.add_argument("cell", choices=["cell"])
    for name in ("--db", "--owner", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoint-seconds", type=float, default=10.0)
    parser.add_argument("--data-root", default="")
    parser.add_argument("--device", default="")
    parser.add_argument("--allow-missing", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args(words)
    grm.set_threads(given.threads)
    return _grm.run_cells(given.db, given.owner, given.out, given.threads, given.checkpoint_seconds,
                          given.data_root, given.allow_missing, given.device)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
