"""Networks of one's own: gradients equal to autograd in pure Python, and every method that takes one."""

import grm
import numpy as np
import pytest
import torch


class TwoLayers(torch.nn.Module):
    """A GCN in plain torch: dense features, edge_index, index_add."""

    def __init__(self, features, classes, hidden=12, dropout=0.0, tuple_out=False):
        super().__init__()
        self.first = torch.nn.Linear(features, hidden)
        self.norm = torch.nn.BatchNorm1d(hidden)
        self.second = torch.nn.Linear(hidden, classes)
        self.drop = torch.nn.Dropout(dropout)
        self.tuple_out = tuple_out

    @staticmethod
    def gather(x, edge_index, edge_weight):
        rows = x[edge_index[0]]
        if edge_weight is not None:
            rows = rows * edge_weight[:, None]
        return x + torch.zeros_like(x).index_add(0, edge_index[1], rows) / 4

    def forward(self, x, edge_index, edge_weight=None):
        hidden = self.drop(torch.relu(self.norm(self.first(self.gather(x, edge_index, edge_weight)))))
        logits = self.gather(self.second(hidden), edge_index, edge_weight)
        return (hidden, logits) if self.tuple_out else logits


def make(seed=0, **more):
    torch.manual_seed(seed)
    return TwoLayers(**more)


def test_one_step_is_that_of_pure_python(pyg):
    """ERM with Adam from C++ through the module against the same steps by torch alone."""
    train, validation, _ = pyg
    graph = train[0]
    net = make(features=graph.x.shape[1], classes=10)
    plain = make(features=graph.x.shape[1], classes=10)
    plain.load_state_dict(net.state_dict())
    optimiser = torch.optim.Adam(plain.parameters(), lr=0.01)
    edges = grm.graph(graph.edge_index, graph.x).edge_index
    expected = []
    for _ in range(5):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(plain(graph.x, edges), graph.y)
        loss.backward()
        optimiser.step()
        expected.append(float(loss))
    losses = []
    model = grm.Classifier("erm", backbone=net, epochs=5, lr=0.01, weight_decay=0, optimiser="adam",
                           selection="last", calibrate=False)
    model.fit(train, validation, callbacks=lambda e: losses.append(e.loss["total"]))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for (name, ours), theirs in zip(model.network_.named_parameters(), plain.parameters()):
        if name != "first.bias":  # normalisation takes it off again: its gradient is rounding
            torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4, msg=name)
    torch.testing.assert_close(model.network_.norm.running_var, plain.norm.running_var, rtol=1e-4, atol=1e-6)
    # The caller's own module was not touched.
    assert torch.equal(net.first.weight, make(features=graph.x.shape[1], classes=10).first.weight)


def test_gradients_equal_autograd(pyg):
    """What arrives in the parameters when the loss is differentiated in C++: to 1e-6."""
    train, validation, _ = pyg
    graph = train[0]
    net = make(features=graph.x.shape[1], classes=10)
    from grm import _grm
    from grm._classifier import make_task
    from grm._network import Networks

    networks = Networks({"backbone": net})
    task = make_task(train, validation, None, None, None, 0)
    model = grm.Classifier("erm", backbone=net, epochs=1, lr=0.0, weight_decay=0)
    config = model._config("in-memory")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        run = _grm.create_run_folder(folder, config, 0)
        _grm.fit(config, config.take(task), 0, run, None, bool, networks)
    plain = make(features=graph.x.shape[1], classes=10).train()
    edges = grm.graph(graph.edge_index, graph.x).edge_index
    torch.nn.functional.cross_entropy(plain(graph.x, edges), graph.y).backward()
    for (name, ours), theirs in zip(networks.at("own").module.named_parameters(), plain.parameters()):
        assert (ours.grad - theirs.grad).abs().max() <= 1e-6, name


@pytest.mark.parametrize("method", ["erm", "drnn:fast", "mmd:fast", "eerm", "lisa", "irm", "coral", "dann"])
def test_every_method_with_a_backbone_takes_it(method, pyg):
    train, validation, test = pyg
    net = make(features=train[0].x.shape[1], classes=10, tuple_out=True, dropout=0.2)
    torch.manual_seed(5)
    drawn = torch.rand(1)
    torch.manual_seed(5)
    model = grm.Classifier(method, backbone=net, epochs=2, lr=0.01).fit(train, validation)
    assert torch.equal(torch.rand(1), drawn)  # the caller's generator was left alone
    again = grm.Classifier(method, backbone=net, epochs=2, lr=0.01).fit(train, validation)
    assert model._bytes == again._bytes  # dropout and all
    assert not torch.equal(model.network_.first.weight, net.first.weight)
    with torch.no_grad():
        graph = grm.graph(test[0].edge_index, test[0].x)
        _, logits = model.network_.eval()(test[0].x, graph.edge_index)
    torch.testing.assert_close(model.logits(test[0]), logits, atol=1e-5, rtol=1e-4)


def test_as_encoder_of_grm(pyg):
    train, validation, test = pyg
    net = make(features=train[0].x.shape[1], classes=16)
    for preset in ("grm:centred", "grm:paper-raw"):
        model = grm.Classifier(preset, encoder=net, epochs=3, hidden=16, latent=8).fit(train, validation)
        assert not torch.equal(model.network_.first.weight, net.first.weight)
        assert any(name.startswith("encoder.own.first") for name in model.weights())
        assert model.predict(test[0]).shape == (test[0].x.shape[0],)


def test_save_load_and_pickle_with_a_network(tmp_path, pyg):
    import pickle

    train, validation, test = pyg
    net = make(features=train[0].x.shape[1], classes=10)
    model = grm.Classifier("erm", backbone=net, epochs=2).fit(train, validation)
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(grm.DataError, match="backbone=net"):
        grm.load(tmp_path / "m.safetensors")
    back = grm.load(tmp_path / "m.safetensors", backbone=make(9, features=train[0].x.shape[1], classes=10))
    np.testing.assert_array_equal(back.predict_proba(test[0]), model.predict_proba(test[0]))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(test[0]), model.predict_proba(test[0]))


def test_mistakes_of_a_network(pyg):
    train, validation, _ = pyg
    width = train[0].x.shape[1]
    with pytest.raises(grm.ShapeError, match=r"expected \[150, 10\]"):
        grm.Classifier("erm", backbone=make(features=width, classes=3), epochs=1).fit(train, validation)

    class Fails(torch.nn.Linear):
        def forward(self, x, edge_index):
            raise ZeroDivisionError("in the network")

    with pytest.raises(ZeroDivisionError, match="in the network"):
        grm.Classifier("erm", backbone=Fails(width, 10), epochs=1).fit(train, validation)

    class Backward(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.clone()

        @staticmethod
        def backward(context, gradient):
            raise KeyError("in its gradient")

    class FailsLater(torch.nn.Linear):
        def forward(self, x, edge_index):
            return Backward.apply(super().forward(x))

    with pytest.raises(KeyError, match="in its gradient"):
        grm.Classifier("erm", backbone=FailsLater(width, 10), epochs=1).fit(train, validation)

    class Plain(torch.nn.Linear):
        def forward(self, x, edge_index):
            return super().forward(x)

    assert grm.Classifier("erm", backbone=Plain(width, 10), epochs=1).fit(train, validation) is not None
    with pytest.raises(grm.ConfigError, match="edge_weight"):
        grm.Classifier("lisa", backbone=Plain(width, 10), epochs=1).fit(train, validation)
    with pytest.raises(grm.ConfigError, match="torch.nn.Module"):
        grm.Classifier("erm", backbone=3).fit(train, validation)
    with pytest.raises(grm.ConfigError, match="srgnn takes no encoder"):
        grm.Classifier("srgnn", encoder=Plain(width, 10)).fit(train, validation)
