"""What the documentation shows is run: docstrings, docs/python.md, the README, stubs and notebooks."""

import doctest
import glob
import os
import re
import subprocess
import sys

import grm
import pytest
import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = [grm, grm._classifier, grm._compare, grm._datasets, grm._inputs, grm._options, grm.nn, grm.ops]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def blocks(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.findall(r"```python\n(.*?)```", file.read(), re.S)


def test_the_blocks_of_the_page_run_in_order(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    found = blocks("docs/python.md")
    assert len(found) >= 5
    space = {"__name__": "page"}
    for block in found:
        exec(compile(block, "docs/python.md", "exec"), space)


def test_the_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks("README.md")
    assert found
    for block in found:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_stubs_are_those_of_the_module():
    if not torch.__version__.startswith("1."):
        pytest.skip("the stubs are written from the signatures of Debian's pybind11, newer ones word them differently")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "python_stubs.py"), "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_that_is_public_has_a_docstring():
    for name in grm.__all__:
        assert (getattr(grm, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(ROOT, "examples", "notebooks", "*.ipynb"))),
                         ids=os.path.basename)
def test_notebooks_run(path, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3",
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
