"""Fails if two places of src/ share 20 or more lines of code of one shape: the same but for names,
numbers and texts. Blank lines, comments and lines of the preprocessor do not count.

Usage: shapes.py SRC [LINES]"""
import collections
import pathlib
import re
import sys

# Tables of data.
DATA = {"methods/registry.cpp", "methods/suggestions.cpp", "data/registry.cpp"}
KEYWORDS = set(
    "auto bool break case char class const constexpr continue default do double else enum false float for "
    "if int int64_t namespace new nullptr public private return size_t static std struct switch template "
    "this true using virtual void while".split()
)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\d[\w.]*|\S')


def shape(line):
    """One line with a letter for every name, number and text; '' if it does not count."""
    parts = []
    for token in TOKEN.findall(line.split("//")[0]):
        if token[0] in "\"'":
            token = "t"
        elif token[0].isdigit():
            token = "0"
        elif (token[0].isalpha() or token[0] == "_") and token not in KEYWORDS:
            token = "n"
        parts.append(token)
    return "" if parts[:1] == ["#"] else " ".join(parts)


def main():
    root, least = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    windows = collections.defaultdict(list)  # shapes of `least` lines -> file, first and last line
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".cpp", ".h", ".cu", ".cuh") or name in DATA:
            continue
        lines = [(number, shape(text)) for number, text in enumerate(path.read_text().splitlines(), 1)]
        lines = [(number, text) for number, text in lines if text]
        for at in range(len(lines) - least + 1):
            part = lines[at : at + least]
            key = "\n".join(text for _, text in part)
            windows[key].append((name, part[0][0], part[-1][0]))
    found, last = 0, None
    for places in windows.values():
        for (a, a_from, a_to), (b, b_from, b_to) in zip(places, places[1:]):
            if a == b and b_from <= a_to:
                continue  # a row of lines that are alike, not two places
            if last and last[:2] == (a, b) and a_from <= last[2] + 3:
                last = (a, b, a_from)  # the window after one that was reported
                continue
            last = (a, b, a_from)
            found += 1
            print(f"{a}:{a_from}-{a_to} ~ {b}:{b_from}-{b_to}: {least} lines or more of one shape")
    sys.exit(1 if found else 0)


main()
