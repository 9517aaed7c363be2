"""Shared by the tests of the Python package. They run with PYTHONPATH=build/python; GRM names the program."""

import os
import subprocess
import types

import grm
import pytest
import torch

SMALL = dict(nodes=150)
# Kernels of notebooks and processes of studies start elsewhere.
os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.abspath(grm.__file__)))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    os.environ["GRM_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def sbm():
    return grm.datasets.sbm(**SMALL)


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("GRM")
    if not path:
        pytest.skip("the program is not named: GRM=build/grm")

    def run(*words, cwd=None):
        done = subprocess.run([path, *map(str, words)], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def data_of(graph, **more):
    """A graph of the engine as PyTorch Geometric's Data would hold it."""
    return types.SimpleNamespace(x=graph.features().clone(), edge_index=graph.edge_index,
                                 y=graph.y.clone(), **more)


@pytest.fixture(scope="session")
def pyg(sbm):
    """(train, validation, test) lists of PyG-like data from the generated graphs."""
    return [[data_of(g) for g in role] for role in (sbm.train, sbm.validation, sbm.test)]


@pytest.fixture(scope="session")
def motifs():
    """Small labelled graphs: rings against stars, with a feature that says nothing."""
    generator = torch.Generator().manual_seed(0)

    def one(k):
        n = 6 + k % 4
        label = k % 2
        if label:
            edges = [(0, j) for j in range(1, n)]
        else:
            edges = [(j, (j + 1) % n) for j in range(n)]
        index = torch.tensor(edges + [(b, a) for a, b in edges]).t()
        return types.SimpleNamespace(x=torch.rand(n, 3, generator=generator), edge_index=index,
                                     y=torch.tensor([label]))

    return [one(k) for k in range(40)]
