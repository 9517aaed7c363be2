"""Networks of one's own in places of their own: what each method hands over, and gradients through it.

The references are the methods' formulas in pure Python, with autograd of torch alone.
"""

import pickle
import tempfile

import grm
import numpy as np
import pytest
import torch
from grm import _grm
from grm._classifier import make_task
from grm._network import Networks

F = torch.nn.functional


class Net(torch.nn.Module):
    """Two layers in plain torch that read weights of edges, and the graph of a node where there are many."""

    def __init__(self, width, out, hidden=7, pair=False, fails=False, wide=1.0):
        super().__init__()
        self.first = torch.nn.Linear(width, hidden)
        self.second = torch.nn.Linear(hidden, out)
        self.pair, self.fails, self.batches = pair, fails, []
        with torch.no_grad():
            self.first.weight *= wide
            self.second.weight *= wide

    def forward(self, x, edge_index, edge_weight=None, batch=None):
        if self.fails:
            raise ZeroDivisionError("in the network")
        self.batches.append(batch)

        def gather(rows):
            sent = rows.index_select(0, edge_index[0])  # rows[edge_index[0]] has no repeatable gradient
            if edge_weight is not None:
                sent = sent * edge_weight[:, None]
            return rows + torch.zeros_like(rows).index_add(0, edge_index[1], sent) / 4

        h = torch.tanh(gather(self.first(x)))
        if batch is not None:  # a node against the others of its graph
            count = torch.bincount(batch).clamp(min=1)[:, None]
            mean = h.new_zeros(len(count), h.shape[1]).index_add(0, batch, h) / count
            h = h - 0.5 * mean[batch]
        return (h, self.second(h)) if self.pair else self.second(h)


def make(seed, *words, **more):
    torch.manual_seed(seed)
    return Net(*words, **more)


def one_step(method, networks, train, validation, **options):
    """Gradients of one step that changes nothing: (trained networks, the model's weights by name)."""
    model = grm.Classifier(method, **networks, epochs=1, lr=0.0, **options)
    task = make_task(train, validation, None, None, None, 0)
    config = model._config(_grm.memory_name(task.level))
    given = Networks(networks)
    with tempfile.TemporaryDirectory() as folder:
        run = _grm.create_run_folder(folder, config, 0)
        _grm.fit(config, config.take(task), 0, run, None, bool, given)
        weights = _grm.Model(run + "/model.safetensors", "cpu", Networks(networks)).weights()
    return {role: adapter.module for role, adapter in given.adapters.items()}, weights


def assert_same_gradients(ours, theirs):
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters()):
        assert b.grad.abs().max() > 0, name
        assert (a.grad - b.grad).abs().max() <= 1e-6 * max(1.0, float(b.grad.abs().max())), name


def canonical(graph):
    return grm.graph(graph.edge_index, graph.x).edge_index


def linear(rows, weights, name):
    return rows @ weights[name + ".weight"] + weights[name + ".bias"]


GRM = dict(ablation="V", alpha=0.0, beta=0.0, latent=4, hidden=6, decoder_width=5, edge_width=3,
           weight_decay=0.0, input_dropout=0.0, encoder_input="raw")


def generated_logits(weights, encoder, classifier, x, edges, pairs, gated, **more):
    """GRM without noise: z = mu; xhat, ehat (times p_j); the classifier on them."""
    rows = encoder(x, edges, **more)
    z = linear(rows, weights, "encoder.heads")[:, :4]
    f = linear(z, weights, "decoder.edges")
    e = torch.sigmoid((f[pairs[0]] * f[pairs[1]]).sum(1))
    if gated:
        e = e * torch.sigmoid(linear(z, weights, "decoder.presence"))[pairs[0], 0]
    return classifier(linear(z, weights, "decoder.features"), pairs, e, **more)


@pytest.mark.parametrize("gated", [False, True])
def test_classifier_and_encoder_of_grm(gated, pyg):
    train, validation, _ = pyg
    graph = train[0]
    nets = lambda: {"encoder": make(1, graph.x.shape[1], 6), "classifier": make(2, 5, 10)}
    ours, weights = one_step("grm:paper-raw", nets(), [graph], validation, scope="whole",
                             edge_support="observed", presence="gate" if gated else "none",
                             presence_weight=0.0, **GRM)
    plain, edges, n = nets(), canonical(graph), graph.x.shape[0]
    loops = torch.arange(n).repeat(2, 1)
    pairs = torch.unique(torch.cat([edges, loops], 1), dim=1)
    every = torch.zeros(n, dtype=torch.int64)  # an ego-net or a domain graph is one graph
    rows = plain["encoder"](graph.x, edges)
    z = linear(rows, weights, "encoder.heads")[:, :4]
    f = linear(z, weights, "decoder.edges")
    e = torch.sigmoid((f[pairs[0]] * f[pairs[1]]).sum(1))
    if gated:
        e = e * torch.sigmoid(linear(z, weights, "decoder.presence"))[pairs[0], 0]
    logits = plain["classifier"](linear(z, weights, "decoder.features"), pairs, e, batch=every)
    F.cross_entropy(logits, graph.y).backward()
    assert_same_gradients(ours["classifier"], plain["classifier"])
    assert_same_gradients(ours["encoder"], plain["encoder"])  # through z, xhat, ehat and p


def packed(graphs):
    starts = np.cumsum([0] + [g.x.shape[0] for g in graphs])
    x = torch.cat([g.x for g in graphs])
    index = torch.cat([g.edge_index + int(s) for g, s in zip(graphs, starts)], 1)
    batch = torch.cat([torch.full((g.x.shape[0],), k) for k, g in enumerate(graphs)])
    pairs = torch.cat([torch.cartesian_prod(torch.arange(a, b), torch.arange(a, b)).t()
                       for a, b in zip(starts, starts[1:])], 1)
    return x, index, batch, pairs, torch.cat([g.y for g in graphs])


def mean_of(rows, batch, graphs):
    return torch.zeros(graphs, rows.shape[1]).index_add(0, batch, rows) / torch.bincount(batch)[:, None]


def test_classifier_and_encoder_of_grm_at_graph_level(motifs):
    train, validation = motifs[:12], motifs[24:32]
    nets = lambda: {"encoder": make(1, 3, 6), "classifier": make(2, 5, 2)}
    ours, weights = one_step("grm:paper-raw", nets(), train, validation, batch=100, edge_support="all", **GRM)
    plain = nets()
    x, index, batch, pairs, y = packed(train)
    logits = generated_logits(weights, plain["encoder"], plain["classifier"], x, index, pairs, False,
                              batch=batch)
    F.cross_entropy(mean_of(logits, batch, len(train)), y).backward()
    assert_same_gradients(ours["classifier"], plain["classifier"])
    assert_same_gradients(ours["encoder"], plain["encoder"])


def test_predictor_of_arm(pyg):
    train, validation, _ = pyg
    graph = train[0]
    net = lambda: {"backbone": make(3, graph.x.shape[1] + 3, 10)}
    ours, weights = one_step("arm", net(), [graph], validation, batches=1, support=1000, steps_cap=1,
                             domains="natural", batch_norm=False, dropout=0.0, weight_decay=0.0, hidden=6)
    plain, edges = net()["backbone"], canonical(graph)

    def layer(rows, number):
        w, b = (weights[f"context.conv{number}.{k}"] for k in ("weight", "bias"))
        return grm.ops.propagate(rows @ w, edges) + b

    context = layer(torch.relu(layer(graph.x, 1)), 2).mean(0)
    logits = plain(torch.cat([graph.x, context.expand(len(graph.x), -1)], 1), edges)
    F.cross_entropy(logits, graph.y).backward()
    assert_same_gradients(ours["backbone"], plain)


def test_network_of_isgib(pyg):
    train, validation, _ = pyg
    graph = train[0]
    net = lambda: {"backbone": make(4, 6, 10, hidden=7, pair=True)}
    w = dict(w_same=1e-5, w_diff=1e-6, w_individual=1e-3, w_second=1e-4)
    ours, weights = one_step("isgib", net(), [graph], validation, input_width=6, hidden=7,
                             pair_nodes=100000, **w)
    plain = net()["backbone"]
    a = linear(graph.x, weights, "input")
    z, logits = plain(a, canonical(graph))
    u, same = z @ z.t(), graph.y[:, None] == graph.y
    loss = (F.cross_entropy(logits, graph.y)
            + w["w_same"] * F.softplus(-u)[same].sum() + w["w_diff"] * F.softplus(u)[~same].sum()
            + w["w_individual"] * F.softplus(((a @ weights["critic.weight"]) * z).sum(1)).sum()
            + w["w_second"] * torch.linalg.norm(a @ a.t() - z @ z.t()))
    loss.backward()
    assert_same_gradients(ours["backbone"], plain)
    with pytest.raises(grm.ShapeError, match="hidden with method.hidden = 9 columns"):
        grm.Classifier("isgib", **net(), input_width=6, hidden=9, epochs=1).fit(train, validation)


def test_encoder_of_mario(pyg):
    train, validation, _ = pyg
    graph = train[0]
    net = lambda: {"encoder": make(5, graph.x.shape[1], 6, wide=8.0)}  # far from what is all rounding
    ours, weights = one_step("mario", net(), [graph], validation, hidden=6, pf1=0.0, pf2=0.0, pe1=0.0, pe2=0.0,
                             ad_aug=False, gamma=0.0, prototypes=4, prototype_steps=0, tau=0.5, head_epochs=0)
    plain = net()["encoder"]
    h = linear(plain(graph.x, canonical(graph)), weights, "projector.first")
    z = F.normalize(linear(torch.relu(F.batch_norm(h, None, None, training=True)), weights,
                           "projector.second"))
    e = torch.exp(z @ z.t() / 0.5)  # both views are the graph as it is
    own = torch.diagonal(e)
    torch.log((e.sum(1) - own + e.sum(1)) / own).mean().backward()
    assert_same_gradients(ours["encoder"], plain)


def test_encoder_of_erm_at_graph_level(motifs):
    train, validation = motifs[:12], motifs[24:32]
    net = lambda: {"encoder": make(6, 3, 8)}
    ours, weights = one_step("erm", net(), train, validation, hidden=8, batch=100, weight_decay=0.0)
    plain = net()["encoder"]
    x, index, batch, _, y = packed(train)
    rows = mean_of(plain(x, index, batch=batch), batch, len(train))
    out = linear(torch.relu(linear(rows, weights, "head.linear1")), weights, "head.linear2")
    F.cross_entropy(out, y).backward()
    assert_same_gradients(ours["encoder"], plain)
    assert all(b is not None for b in ours["encoder"].batches)


NODE = {"grm:paper-raw": ("classifier", lambda d: make(0, 128, 10), {}),
        "grm:centred": ("classifier", lambda d: make(0, 16, 10), dict(decoder_width=16, latent=8)),
        "arm": ("backbone", lambda d: make(0, d + 3, 10), {}),
        "isgib": ("backbone", lambda d: make(0, 16, 10, hidden=8, pair=True), dict(input_width=16, hidden=8)),
        "mario": ("encoder", lambda d: make(0, d, 16), dict(hidden=16, prototypes=8, head_epochs=50))}


@pytest.mark.parametrize("spec", NODE)
def test_it_trains_in_its_place(spec, tmp_path, pyg):
    train, validation, test = pyg
    role, build, options = NODE[spec]
    net = build(train[0].x.shape[1])
    seen = []
    model = grm.Classifier(spec, **{role: net}, epochs=12, lr=0.01, **options)
    model.fit(train, validation, callbacks=seen.append)
    assert seen[-1].loss["total"] < seen[0].loss["total"]
    assert not torch.equal(model.networks_[role].first.weight, net.first.weight)
    again = grm.Classifier(spec, **{role: net}, epochs=12, lr=0.01, **options).fit(train, validation)
    assert model._bytes == again._bytes
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(grm.Error, match="of the user's own"):
        grm.load(tmp_path / "m.safetensors")
    other = "encoder" if role != "encoder" else "backbone"
    with pytest.raises(grm.ConfigError, match=f"{role}=net"):
        grm.load(tmp_path / "m.safetensors", **{other: net})
    back = grm.load(tmp_path / "m.safetensors", **{role: build(train[0].x.shape[1])})
    np.testing.assert_array_equal(back.predict_proba(test[0]), model.predict_proba(test[0]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(test[0]), model.predict(test[0]))
    broken = build(train[0].x.shape[1])
    broken.fails = True
    with pytest.raises(ZeroDivisionError, match="in the network"):
        grm.Classifier(spec, **{role: broken}, epochs=1, **options).fit(train, validation)


def test_arm_predicts_batches_with_a_network(pyg):
    train, validation, test = pyg
    net = make(0, train[0].x.shape[1] + 3, 10)
    model = grm.Classifier("arm", backbone=net, epochs=2, inference="batched", support=40).fit(train, validation)
    assert np.isfinite(model.predict_proba(test[0])).all()
    # One batch that is the whole graph has one context: that of all nodes.
    both = [grm.Classifier("arm", backbone=net, epochs=2, inference=i, support=100000).fit(train, validation)
            for i in ("batched", "one_context")]
    torch.testing.assert_close(both[0].logits(test[0]), both[1].logits(test[0]), atol=1e-5, rtol=1e-4)
    with pytest.raises(grm.ConfigError, match="train.batch"):
        grm.Classifier("arm", backbone=net, epochs=1, train__batch=200).fit(train, validation)


ONE_ENCODER = ["erm", "irm", "vrex", "groupdro", "coral", "dann", "mixup", "gsat", "grm"]


@pytest.mark.parametrize("method", ONE_ENCODER)
def test_graph_level_methods_with_one_encoder_take_it(method, tmp_path, motifs):
    options = dict(hidden=8, batch=8, epochs=3, **({"encoder_input": "raw"} if method == "grm" else {}))
    net = make(0, 3, 8)
    model = grm.Classifier(method, encoder=net, **options).fit(motifs[:24], motifs[24:32])
    assert not torch.equal(model.network_.first.weight, net.first.weight)
    p = model.predict_proba(motifs[32:])
    assert p.shape == (8, 2) and np.isfinite(p).all()
    model.save(tmp_path / "m.safetensors")
    back = grm.load(tmp_path / "m.safetensors", encoder=make(5, 3, 8))
    np.testing.assert_array_equal(back.predict_proba(motifs[32:]), p)
    with pytest.raises(ZeroDivisionError, match="in the network"):
        grm.Classifier(method, encoder=make(0, 3, 8, fails=True), **options).fit(motifs[:24], motifs[24:32])


def test_a_network_learns_at_graph_level(motifs):
    model = grm.Classifier("erm", encoder=make(0, 3, 16), hidden=16, epochs=60, batch=8, lr=0.01)
    assert model.fit(motifs[:24], motifs[24:32]).score(motifs[32:]) >= 0.75
    generated = grm.Classifier("grm", classifier=make(0, 128, 2), epochs=3, batch=8)
    assert generated.fit(motifs[:24], motifs[24:32]).predict(motifs[32:]).shape == (8,)


def test_methods_of_several_networks_refuse_one(motifs):
    for method in ("dir", "ciga", "gil", "leci"):
        with pytest.raises(grm.ConfigError, match=f"{method} takes no encoder"):
            grm.Classifier(method, encoder=make(0, 3, 8)).fit(motifs[:24], motifs[24:32])
    with pytest.raises(grm.ConfigError, match="takes: encoder=net"):
        grm.Classifier("erm", backbone=make(0, 3, 2)).fit(motifs[:24], motifs[24:32])


def test_weights_and_features_of_edges_reach_a_network(pyg):
    train, validation, _ = pyg
    graph = train[0]
    seen = {}

    class Looks(torch.nn.Linear):
        def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
            seen.update(index=edge_index, weight=edge_weight, attr=edge_attr)
            return super().forward(x)

    n = graph.edge_index.shape[1]
    weighted = type(graph)(x=graph.x, edge_index=graph.edge_index, y=graph.y,
                           edge_weight=1 + graph.edge_index[0] / 1000,
                           edge_attr=torch.stack([graph.edge_index[1].float(), torch.ones(n)], 1))
    net = Looks(graph.x.shape[1], 10)
    grm.Classifier("erm", backbone=net, epochs=1).fit([weighted], [weighted])
    torch.testing.assert_close(seen["weight"], 1 + seen["index"][0] / 1000)
    torch.testing.assert_close(seen["attr"][:, 0], seen["index"][1].float())
