#!/usr/bin/env python3
"""Writes python/grm/_grm.pyi from the compiled module; --check compares instead.

PYTHONPATH=build/python /usr/bin/python3 scripts/python_stubs.py
"""

import inspect
import os
import re
import sys

import grm._grm as module

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python", "grm", "_grm.pyi")
HEAD = '''"""The compiled engine. Made by scripts/python_stubs.py; do not edit."""

from typing import Any, Callable, Dict, List, Optional, Tuple

from torch import Tensor

'''
# What pybind11 calls things -> what Python's typing does.
WORDS = [("at::Tensor", "Tensor"), ("torch::Tensor", "Tensor"), ("grm._grm.", ""), ("object", "Any"),
         ("handle", "Any"), (r"\btuple\b", "Tuple[Any, ...]"), (r"\bdict\b", "Dict[str, Any]"),
         (r"\blist\b", "List[Any]"), (r"\bint\b", "int")]


def signature(function):
    """(arguments) -> result, from the first line that pybind11 writes."""
    line = (function.__doc__ or "").strip().split("\n")[0]
    found = re.match(r"\w*(\(.*\)) -> (.*)$", line)
    if not found:
        return "(*args: Any, **kwargs: Any) -> Any"
    text = f"{found.group(1)} -> {found.group(2)}"
    text = re.sub(r"<[^<>]*>", "...", text)
    for old, new in WORDS:
        text = re.sub(old, new, text) if old.startswith("\\") else text.replace(old, new)
    text = re.sub(r"\b\w+::[\w:]*", "Any", text)
    return text


def stub():
    lines = []
    functions = {k: v for k, v in vars(module).items() if inspect.isbuiltin(v) or inspect.isroutine(v)}
    classes = {k: v for k, v in vars(module).items() if inspect.isclass(v)}
    for name, kind in sorted(classes.items()):
        lines.append(f"class {name}:")
        body = []
        for key, member in sorted(vars(kind).items()):
            if key == "__init__" or (not key.startswith("_") and callable(member)):
                body.append(f"    def {key}{signature(member)}: ...")
            elif isinstance(member, property):
                getter = signature(member.fget) if member.fget and member.fget.__doc__ else ""
                result = getter.split("->")[-1].strip() if "->" in getter else "Any"
                body.append(f"    @property\n    def {key}(self) -> {result}: ...")
        lines += body or ["    ..."]
        lines.append("")
    for name, function in sorted(functions.items()):
        if not name.startswith("__"):
            lines.append(f"def {name}{signature(function)}: ...")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = stub()
    compile(text, PATH, "exec")
    if "--check" in sys.argv:
        with open(PATH, encoding="utf-8") as file:
            if file.read() != text:
                print(f"{PATH} is not what the module says: run scripts/python_stubs.py")
                sys.exit(1)
    else:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(text)
