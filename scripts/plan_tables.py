#!/usr/bin/env python3
"""Puts the tables of bench/plan_cluster.py into docs/cluster.md, each behind the comment that has its command.

  scripts/plan_tables.py             writes the page
  scripts/plan_tables.py --check     fails if the page is not what the commands print
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "cluster.md")
MARK = re.compile(r"(<!-- bench/plan_cluster\.py ?(.*?) ?-->\n)((?:(?:\|.*)?\n)*)")


def filled(match):
    script = os.path.join(ROOT, "bench", "plan_cluster.py")
    printed = subprocess.run([sys.executable, script, *match[2].split()], check=True, capture_output=True, text=True).stdout
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    return match[1] + "\n".join(rows) + "\n\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        before = file.read()
    after, count = MARK.subn(filled, before)
    if count < 4:
        sys.exit(f"{PAGE}: {count} tables are marked")
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if after == before else f"{PAGE} is not what bench/plan_cluster.py prints: run scripts/plan_tables.py")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(after)


main()
