"""On a GPU: nothing is copied there either, own networks train there, and layers of PyTorch Geometric fit."""

import grm
import pytest
import torch

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available() or not grm.show_config()["cuda"],
                               reason="no GPU, or built without CUDA")


def on_gpu(data):
    return type(data)(x=data.x.cuda(), edge_index=data.edge_index.cuda(), y=data.y.cuda())


@needs_gpu
def test_tensors_of_the_gpu_are_used_there(pyg):
    train, validation, test = ([on_gpu(g) for g in role] for role in pyg)
    graph = grm.graph(train[0].edge_index, train[0].x, train[0].y)
    assert graph.x_on("cuda:0").data_ptr() == train[0].x.data_ptr()
    model = grm.Classifier("grm:best", epochs=3, device="cuda").fit(train, validation)
    assert model.predict(test[0]).shape == (test[0].x.shape[0],)


@needs_gpu
def test_operators(pyg):
    graph = pyg[0][0]
    x = graph.x.cuda().requires_grad_()
    y = grm.ops.propagate(x, graph.edge_index)
    y.sum().backward()
    host = graph.x.clone().requires_grad_()
    expected = grm.ops.propagate(host, graph.edge_index)
    expected.sum().backward()
    torch.testing.assert_close(y.cpu(), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(x.grad.cpu(), host.grad, rtol=1e-4, atol=1e-5)


PLACES = {"arm": ("backbone", 513, 10, {}),
          "isgib": ("backbone", 16, 10, dict(input_width=16, hidden=8)),
          "mario": ("encoder", 510, 16, dict(hidden=16, prototypes=8, head_epochs=20)),
          "grm:paper-raw": ("classifier", 128, 10, {}),
          "grm:centred": ("encoder", 510, 16, dict(hidden=16, latent=8))}


@needs_gpu
@pytest.mark.parametrize("spec", PLACES)
def test_networks_in_their_places(spec, tmp_path, pyg):
    """A model that was trained on the GPU predicts the same on the CPU."""
    from test_own_networks import make

    train, validation, test = pyg
    role, width, out, options = PLACES[spec]
    assert train[0].x.shape[1] == 510
    net = lambda: {role: make(0, width, out, hidden=8, pair=spec == "isgib")}
    model = grm.Classifier(spec, **net(), epochs=3, lr=0.01, device="cuda", **options).fit(train, validation)
    assert next(model.networks_[role].parameters()).is_cuda
    model.save(tmp_path / "m.safetensors")
    host = grm.load(tmp_path / "m.safetensors", device="cpu", **net())
    torch.testing.assert_close(model.logits(test[0]).cpu(), host.logits(test[0]), atol=2e-3, rtol=2e-3)


@needs_gpu
@pytest.mark.parametrize("method", ["erm", "dann", "gsat", "grm"])
def test_networks_at_graph_level(method, tmp_path, motifs):
    from test_own_networks import make

    more = {"encoder_input": "raw"} if method == "grm" else {}
    model = grm.Classifier(method, encoder=make(0, 3, 8), hidden=8, batch=8, epochs=3, device="cuda", **more)
    model.fit(motifs[:24], motifs[24:32])
    model.save(tmp_path / "m.safetensors")
    host = grm.load(tmp_path / "m.safetensors", device="cpu", encoder=make(0, 3, 8))
    torch.testing.assert_close(model.logits(motifs[32:]).cpu(), host.logits(motifs[32:]), atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("layer", ["GCNConv", "GATv2Conv", "GINConv"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_layers_of_pytorch_geometric_are_backbones(layer, device, pyg):
    layers = pytest.importorskip("torch_geometric.nn")
    from torch_geometric.data import Data

    make = getattr(layers, layer)
    if layer == "GINConv":
        make = lambda a, b: layers.GINConv(torch.nn.Linear(a, b))

    class Net(torch.nn.Module):
        def __init__(self, features, classes):
            super().__init__()
            self.first, self.second = make(features, 16), make(16, classes)

        def forward(self, x, edge_index):
            return self.second(torch.relu(self.first(x, edge_index)), edge_index)

    train, validation, test = ([Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in role] for role in pyg)
    net = Net(train[0].x.shape[1], 10)
    model = grm.Classifier("erm", backbone=net, epochs=5, device=device).fit(train, validation)
    assert model.predict_proba(test[0]).shape == (test[0].num_nodes, 10)
    encoder = Net(train[0].x.shape[1], 16)
    grm.Classifier("grm:centred", encoder=encoder, hidden=16, epochs=2, device=device).fit(train, validation)
