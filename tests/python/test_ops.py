"""Operators against plain torch, and their gradients by finite differences in double precision."""

import grm
import pytest
import torch
from torch.autograd import gradcheck

N, D = 7, 3


def some_graph(seed=0):
    generator = torch.Generator().manual_seed(seed)
    dense = (torch.rand(N, N, generator=generator) < 0.4).double()
    dense.fill_diagonal_(0)
    return dense.nonzero().t().contiguous(), dense  # source, target; dense[source, target]


def kipf(dense):
    """D^-1/2 (A + I) D^-1/2 by target rows, degrees of both ends are in-degrees."""
    operator = dense.t() + torch.eye(N, dtype=dense.dtype)
    scale = operator.sum(1).rsqrt()
    return scale[:, None] * operator * scale[None, :]


@pytest.mark.parametrize("conv", ["kipf", "sum", "mean"])
def test_propagate_is_the_product_with_a_dense_matrix(conv):
    index, dense = some_graph()
    x = torch.rand(N, D, dtype=torch.double, requires_grad=True)
    operator = {"kipf": kipf(dense), "sum": dense.t(),
                "mean": dense.t() / dense.t().sum(1, keepdim=True).clamp(min=1)}[conv]
    y = grm.ops.propagate(x, index, conv=conv)
    torch.testing.assert_close(y, operator @ x)
    assert gradcheck(lambda v: grm.ops.propagate(v, index, conv=conv), (x,))


@pytest.mark.parametrize("conv", ["kipf", "sum"])
def test_weights_bias_and_relu(conv):
    index, dense = some_graph(1)
    x = torch.rand(N, D, dtype=torch.double, requires_grad=True)
    w = torch.rand(index.shape[1], dtype=torch.double, requires_grad=True)
    b = torch.rand(D, dtype=torch.double, requires_grad=True)
    weighted = torch.zeros(N, N, dtype=torch.double)
    weighted[index[0], index[1]] = w.detach()
    operator = kipf(weighted) if conv == "kipf" else weighted.t()
    y = grm.ops.propagate(x, index, w, conv=conv, bias=b, relu=True)
    torch.testing.assert_close(y, torch.relu(operator @ x + b).detach(), check_dtype=False)
    assert gradcheck(lambda v, u, c: grm.ops.propagate(v, index, u, conv=conv, bias=c), (x, w, b))
    # The order of the pairs does not matter, their weights go with them.
    order = torch.randperm(index.shape[1])
    again = grm.ops.propagate(x, index[:, order], w[order], conv=conv, bias=b, relu=True)
    torch.testing.assert_close(again, y)


def test_a_pattern_is_made_once_and_follows_changes():
    index, _ = some_graph()
    assert grm.ops.pattern(index, N) is grm.ops.pattern(index, N)
    before = grm.ops.pattern(index, N)
    index[0, 0] = (index[0, 0] + 1) % N  # in place
    assert grm.ops.pattern(index, N) is not before
    x = torch.rand(N, D)
    torch.testing.assert_close(grm.ops.propagate(x, before), grm.ops.propagate(x, before))


def test_generate():
    offsets = torch.tensor([0, 4, 7])
    f = torch.randn(N, 2, dtype=torch.double, requires_grad=True)
    x = torch.randn(N, D, dtype=torch.double, requires_grad=True)
    y, kl = grm.ops.generate(f, x, offsets, theta=0.3)
    for g, (a, b) in enumerate([(0, 4), (4, 7)]):
        e = torch.sigmoid(f[a:b] @ f[a:b].t())
        scale = e.sum(1).rsqrt()
        torch.testing.assert_close(y[a:b], scale[:, None] * e * scale[None, :] @ x[a:b])
        divergence = e * torch.log(e / 0.3) + (1 - e) * torch.log((1 - e) / 0.7)
        torch.testing.assert_close(kl[g], divergence.mean())
    assert gradcheck(lambda p, q: grm.ops.generate(p, q, offsets, theta=0.3), (f, x))
    assert gradcheck(lambda p, q: grm.ops.generate(p, q, offsets, normalised=False, reduction="sum"), (f, x))


def test_latent_sample():
    heads = torch.randn(5, 6, dtype=torch.double, requires_grad=True)
    eps = torch.randn(5, 3, dtype=torch.double)
    z, kl = grm.ops.latent_sample(heads, eps, shift=-1.0)
    mu, log_sigma = heads[:, :3], heads[:, 3:] - 1.0
    torch.testing.assert_close(z, mu + log_sigma.exp() * eps)
    expected = ((log_sigma.exp() ** 2 + mu ** 2 - 1) / 2 - log_sigma).sum(1)
    torch.testing.assert_close(kl, expected)
    assert gradcheck(lambda h: grm.ops.latent_sample(h, eps, shift=-1.0), (heads,))


def test_influence_sets_against_counts_of_paths():
    """By networkx: mean length and geometric mean of the number of shortest paths to the neighbours."""
    nx = pytest.importorskip("networkx")
    graph = nx.gnp_random_graph(14, 0.25, seed=3)
    edges = torch.tensor(list(graph.edges)).t()
    both = torch.cat([edges, edges.flip(0)], 1)
    sets = grm.ops.influence_sets(both, 14, length=2.5, paths=1.2)
    found = {i: set() for i in range(14)}
    for u, i in sets.edge_index.t().tolist():
        found[i].add(u)
    for i in graph:
        near = list(graph[i])
        members = set()
        for u in graph:
            if not near or any(not nx.has_path(graph, u, v) for v in near):
                continue
            paths = [len(list(nx.all_shortest_paths(graph, u, v))) for v in near]
            lengths = [nx.shortest_path_length(graph, u, v) for v in near]
            product = 1
            for p in paths:
                product *= p
            if sum(lengths) / len(near) <= 2.5 + 1e-12 and product >= 1.2 ** len(near) - 1e-9:
                members.add(u)
        assert found[i] == (members or {i, *near}), i
    x = torch.rand(14, D, dtype=torch.double, requires_grad=True)
    mean = grm.ops.propagate(x, sets, conv="mean")
    torch.testing.assert_close(mean[0], x[sorted(found[0])].mean(0))
    assert gradcheck(lambda v: grm.ops.propagate(v, sets, conv="mean"), (x,))


def test_grm_as_a_module_in_a_loop_of_ones_own(sbm):
    graph = sbm.train[0]
    net = grm.nn.GRM(graph.num_features, 10, preset="centred", latent=16, hidden=16)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        terms = net.losses(graph)
        terms["total"].backward()
        optimiser.step()
        losses.append(float(terms["supervision"]))
    assert all(p.grad is not None for p in net.parameters())
    assert losses[-1] < 0.7 * losses[0]
    net.eval()
    first = net(graph)
    assert torch.equal(first, net(graph))  # evaluation repeats
    state = {k: v.clone() for k, v in net.state_dict().items()}
    other = grm.nn.GRM(graph.num_features, 10, preset="centred", latent=16, hidden=16, seed=0)
    other.load_state_dict(state)
    other.eval()
    assert torch.equal(other(graph), first)
    with pytest.raises(RuntimeError, match="stays where it was made"):
        net.double()


def test_the_module_computes_what_the_method_predicts(sbm):
    """Its weights are those of a model file by name, and its logits those of the trained model."""
    model = grm.Classifier("grm:centred", seed=4, epochs=2, latent=8, hidden=8).fit(
        sbm.train, sbm.validation)
    net = grm.nn.GRM(sbm.train[0].num_features, 10, preset="centred", latent=8, hidden=8, seed=4)
    net.load_state_dict(model.weights())
    net.eval()
    torch.testing.assert_close(torch.softmax(net(sbm.test[0]), 1),
                               torch.softmax(model.logits(sbm.test[0]), 1), atol=2e-5, rtol=1e-4)


def test_gradients_reach_the_features_of_the_module():
    net = grm.nn.GRM(4, 2, preset="paper-raw", latent=8, hidden=8)
    x = torch.rand(6, 4)
    index = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    out = net(x, index)
    out.sum().backward()
    assert out.shape == (6, 2) and all(torch.isfinite(p.grad).all() for p in net.parameters()
                                       if p.grad is not None)
