"""Edge weights, masks and targets that are not classes, from Python."""
import numpy as np
import pytest
import torch

import grm


def ring(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).astype(np.float32)
    index = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    return torch.from_numpy(index), torch.from_numpy(x)


def options(**more):
    return dict(device="cpu", train__epochs=60, method__hidden=8, **more)


def test_regression_predicts_in_units_of_the_targets():
    graphs = []
    for seed in range(3):
        index, x = ring(seed=seed)
        y = 50 + 10 * x[:, 0]
        y[::5] = float("nan")
        graphs.append({"edge_index": index, "x": x, "y": y})
    model = grm.Classifier("erm", target="regression", method__backbone="mlp", **options())
    model.fit(graphs[0], validation=graphs[1])
    values = model.predict(graphs[2])
    assert values.shape == (40, 1)
    truth = np.asarray(graphs[2]["y"])
    known = ~np.isnan(truth)
    rmse = np.sqrt(np.mean((values[known, 0] - truth[known]) ** 2))
    assert abs(model.score(graphs[2]) - rmse) < 1e-4
    assert rmse < np.std(truth[known])
    with pytest.raises(grm.ConfigError):
        model.predict_proba(graphs[2])


def test_multi_label_has_a_probability_for_each_task():
    index, x = ring()
    y = torch.stack([(x[:, 0] > 0).float(), (x[:, 1] > 0.5).float()], 1)
    y[0, 0] = float("nan")
    data = {"edge_index": index, "x": x, "y": y}
    model = grm.Classifier("erm", target="multi-label", train__class_weights="balanced", **options())
    model.fit(data, validation=data)
    p = model.predict_proba(data)
    assert p.shape == (40, 2) and (p >= 0).all() and (p <= 1).all()
    assert ((p > 0.5) == model.predict(data)).all()
    assert model.score(data) > 0.6
    with pytest.raises(grm.ConfigError, match="is for classes"):
        grm.Classifier("isgib", target="multi-label", device="cpu").fit(data, validation=data)


def test_weights_of_edges_change_what_a_model_says_and_zero_is_no_edge():
    index, x = ring()
    y = (x[:, 0] > 0).long()
    some = torch.ones(index.shape[1])
    some[::2] = 0
    masks = {"train_mask": torch.arange(40) < 25, "val_mask": torch.arange(40) >= 25}

    def proba(**edges):
        data = {"x": x, "y": y, **masks, **edges}
        return grm.Classifier("erm", **options()).fit(data).predict_proba(data)

    weighted = proba(edge_index=index, edge_weight=some)
    assert np.abs(weighted - proba(edge_index=index)).max() > 1e-3
    assert np.allclose(weighted, proba(edge_index=index[:, 1::2]), atol=1e-3)


def test_features_of_edges_need_a_backbone_that_reads_them():
    index, x = ring()
    attributes = torch.rand(index.shape[1], 2)
    y = (attributes[:, 0] > 0.5).long()  # of the pair into the next node
    data = {"edge_index": index.flip(0), "x": x, "y": y, "edge_attr": attributes}
    model = grm.Classifier("erm", method__backbone="gin", **options()).fit(data, validation=data)
    assert model.score(data) > 0.9
