"""A run from Python equals the program's run with the same options, byte for byte."""

import glob
import os

import grm
import numpy as np
import pytest
import torch

METHODS = ["erm", "grm:best", "mmd:fast"]


def model_of(folder):
    found = glob.glob(os.path.join(folder, "*", "*", "*", "model.safetensors"))
    assert len(found) == 1, found
    with open(found[0], "rb") as file:
        return file.read(), os.path.dirname(found[0])


@pytest.mark.parametrize("method", METHODS)
def test_a_built_in_dataset(method, program, tmp_path):
    program("train", "--dataset", "sbm", "--method", method, "--epochs", 5, "--out", tmp_path / "p",
            "--set", "dataset.nodes=150", "--set", "train.first_seed=7", "--quiet")
    theirs, folder = model_of(tmp_path / "p")
    ours = grm.Classifier(method, seed=7, epochs=5, device="cpu").fit(
        grm.datasets.sbm(nodes=150), out=str(tmp_path / "q"))
    assert ours._bytes == theirs
    other, own_folder = model_of(tmp_path / "q")
    assert other == theirs
    for name in ("config.toml", "state.safetensors"):
        with open(os.path.join(folder, name), "rb") as a, open(os.path.join(own_folder, name), "rb") as b:
            same = a.read() == b.read()
            assert same or name == "state.safetensors"  # checkpoints hold seconds
    # The program goes on with what Python left, and the other way round.
    test = grm.load(folder).predict_proba(grm.datasets.sbm(nodes=150).test[0])
    np.testing.assert_array_equal(test, ours.predict_proba(grm.datasets.sbm(nodes=150).test[0]))
    program("eval", own_folder)


def test_a_folder_of_own_data(program, tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "shops"
    folder.mkdir()
    (folder / "dataset.toml").write_text(
        'name = "shops"\nundirected = true\n[train]\ndomains = ["a", "b"]\n'
        '[validation]\ndomains = ["c"]\n[test]\ndomains = ["d"]\n')
    for k, domain in enumerate("abcd"):
        (folder / domain).mkdir()
        rows = ["id,label,amount,kind"]
        for i in range(40):
            label = "yes" if rng.random() < 0.5 else "no"
            amount = (3 if label == "yes" else 0) + rng.normal() + k
            rows.append(f"n{i},{label},{amount:.4f},{rng.integers(3)}")
        (folder / domain / "nodes.csv").write_text("\n".join(rows) + "\n")
        pairs = [f"n{rng.integers(40)},n{rng.integers(40)}" for _ in range(80)]
        (folder / domain / "edges.csv").write_text("source,target\n" + "\n".join(sorted(set(pairs))) + "\n")
    program("train", "--dataset", folder, "--method", "grm:best", "--epochs", 4, "--out", tmp_path / "p",
            "--set", "train.first_seed=0", "--quiet")
    theirs, run = model_of(tmp_path / "p")
    ours = grm.Classifier("grm:best", epochs=4, device="cpu").fit(str(folder))
    assert ours._bytes == theirs
    assert list(ours.classes_) == ["no", "yes"]
    # Predictions of new files: those of `grm predict`, to the last digit.
    program("predict", run, "--data", folder, "--out", tmp_path / "p.csv")
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(tmp_path / "p.csv")
    answers = ours.predict_proba(str(folder))
    for domain, p in answers.items():
        rows = table[table["domain"] == domain]
        np.testing.assert_array_equal(rows["p_yes"].to_numpy(np.float32), p[:, 1])
    assert 0.5 < ours.score(str(folder)) <= 1


def test_tensors_give_the_weights_of_the_dataset_they_came_from(sbm, pyg):
    """The same numbers, whether the engine read them or Python handed them over."""
    train, validation, test = pyg
    fixed = dict(epochs=4, hidden=16, dropout=0.0, lr=0.02, weight_decay=0.0, batch_norm=False, seed=1)
    dense = grm.graph(sbm.train[0].edge_index, sbm.train[0].features())
    read = grm.Classifier("erm", **fixed).fit(sbm.train, sbm.validation, sbm.test)
    given = grm.Classifier("erm", **fixed).fit(train, validation, test)
    assert dense.num_edges == sbm.train[0].num_edges
    for name, tensor in read.weights().items():
        assert torch.allclose(tensor, given.weights()[name], atol=1e-4), name


def test_threads_and_seeds_decide(pyg):
    train, validation, _ = pyg
    fit = lambda **o: grm.Classifier("grm:best", epochs=2, **o).fit(train, validation)._bytes
    assert fit(seed=1) == fit(seed=1)
    assert fit(seed=1) != fit(seed=2)


SMALL = dict(train_per_class=20, val_per_class=8, test_per_class=8)


@pytest.mark.parametrize("method", ["erm", "grm"])
def test_a_built_in_dataset_of_graphs(method, program, tmp_path):
    program("train", "--dataset", "spmotif", "--method", method, "--epochs", 2, "--out", tmp_path / "p",
            *[w for key, value in SMALL.items() for w in ("--set", f"dataset.{key}={value}")],
            "--set", "train.first_seed=3", "--quiet")
    theirs, _ = model_of(tmp_path / "p")
    ours = grm.Classifier(method, seed=3, epochs=2, device="cpu").fit(grm.datasets.spmotif(**SMALL))
    assert ours._bytes == theirs
