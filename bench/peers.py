#!/usr/bin/env python3
"""The work of `grm bench --method erm`, done with PyTorch Geometric as its users write it.

`grm bench --peers` writes the training data to FILE (.npz), runs this script, and prints its times
beside its own. One JSON object goes to standard output:
  seconds_per_epoch   plain: edge lists and the layers' defaults
  best_seconds        the fastest of the variants tried (cached norms, sparse matrices, larger kernels)
Usage: peers.py FILE --options JSON [--device cuda] [--epochs 20] [--out FILE]
"""
import argparse
import json
import statistics
import sys
import time

import numpy as np

try:
    import torch
    import torch_geometric
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GCNConv, GINConv, GINEConv, global_mean_pool
except ImportError as missing:
    sys.exit(f"python3 cannot import what the comparison needs: {missing}")

MOST_DENSE = 8e9  # bytes of a dense feature matrix


def features(arrays, rows, prefix):
    """Rows of features; what the program keeps sparse becomes dense, as PyG's datasets have it."""
    width = int(arrays[prefix + "width"])
    if rows * width * 4 > MOST_DENSE:
        sys.exit(f"a dense feature matrix of {rows} x {width} is too large for the comparison")
    x = torch.zeros(rows, width)
    if prefix + "row" in arrays:
        at = torch.from_numpy(arrays[prefix + "row"]), torch.from_numpy(arrays[prefix + "column"])
        x[at] = torch.from_numpy(arrays[prefix + "value"])
    if prefix + "dense" in arrays:
        dense = torch.from_numpy(arrays[prefix + "dense"])
        x[:, width - dense.shape[1]:] = dense
    return x


class Gcn(torch.nn.Module):
    def __init__(self, width, classes, o, cached):
        super().__init__()
        sizes = [width] + [o["hidden"]] * (o["layers"] - 1) + [classes]
        self.convs = torch.nn.ModuleList(
            GCNConv(a, b, cached=cached) for a, b in zip(sizes, sizes[1:]))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(o["hidden"]) for _ in sizes[2:])
        self.dropout = o["dropout"]

    def forward(self, x, edges):
        for conv, norm in zip(self.convs, self.norms):
            x = torch.relu(norm(conv(x, edges)))
            x = torch.nn.functional.dropout(x, self.dropout, self.training)
        return self.convs[-1](x, edges)


class Gin(torch.nn.Module):
    def __init__(self, width, edge_width, classes, o):
        super().__init__()
        h = o["hidden"]

        def mlp():
            return torch.nn.Sequential(torch.nn.Linear(h, 2 * h), torch.nn.BatchNorm1d(2 * h),
                                       torch.nn.ReLU(), torch.nn.Linear(2 * h, h))

        self.embed = torch.nn.Linear(width, h)
        self.convs = torch.nn.ModuleList(
            GINEConv(mlp(), edge_dim=edge_width) if edge_width else GINConv(mlp())
            for _ in range(o["layers"]))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(h) for _ in range(o["layers"]))
        self.dropout = o["dropout"]
        self.head = torch.nn.Sequential(torch.nn.Linear(h, 2 * h), torch.nn.ReLU(),
                                        torch.nn.Linear(2 * h, classes))

    def forward(self, batch):
        x = self.embed(batch.x)
        for conv, norm in zip(self.convs, self.norms):
            more = (batch.edge_attr,) if batch.edge_attr is not None else ()
            x = torch.relu(norm(conv(x, batch.edge_index, *more)))
            x = torch.nn.functional.dropout(x, self.dropout, self.training)
        return self.head(global_mean_pool(x, batch.batch))


def timed(epoch, count, device):
    """Median seconds of an epoch, after three that warm up."""
    seconds = []
    for k in range(count + 3):
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        epoch()
        if device.type == "cuda":
            torch.cuda.synchronize()
        if k >= 3:
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def node_level(arrays, o, device, count):
    graphs = []
    for d in range(int(arrays["domains"])):
        y = torch.from_numpy(arrays[f"d{d}.y"])
        graphs.append((features(arrays, len(y), f"d{d}.x."),
                       torch.from_numpy(arrays[f"d{d}.edges"]), y,
                       torch.from_numpy(arrays[f"d{d}.loss"])))
    graphs = [tuple(t.to(device) for t in g) for g in graphs]
    classes = int(arrays["classes"])

    def trained(edges_of, cached):
        model = Gcn(graphs[0][0].shape[1], classes, o, cached).to(device)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
        inputs = [(x, edges_of(edges, len(y)), y, loss) for x, edges, y, loss in graphs]

        def epoch():
            optimiser.zero_grad()
            for x, edges, y, loss in inputs:
                out = model(x, edges)
                (torch.nn.functional.cross_entropy(out[loss], y[loss]) / len(inputs)).backward()
            optimiser.step()

        return timed(epoch, count, device)

    def as_csr(edges, nodes):
        values = torch.ones(edges.shape[1], device=device)
        return torch.sparse_coo_tensor(edges.flip(0), values, (nodes, nodes)).coalesce().to_sparse_csr()

    found = {"edge list": trained(lambda edges, nodes: edges, False)}
    variants = {"csr": (as_csr, False)}
    if len(graphs) == 1:
        variants["edge list, cached norm"] = (lambda edges, nodes: edges, True)
        variants["csr, cached norm"] = (as_csr, True)
    for name, (edges_of, cached) in variants.items():
        try:
            found[name] = trained(edges_of, cached)
        except (RuntimeError, ValueError, NotImplementedError) as error:
            print(f"peers.py: {name}: {error}", file=sys.stderr)
    return found, sum(len(g[3]) for g in graphs)


def graph_level(arrays, o, device, count):
    first, y = arrays["parts"], torch.from_numpy(arrays["y"])
    x = features(arrays, int(first[-1]), "x.")
    edges = torch.from_numpy(arrays["edges"])
    owner = np.searchsorted(first, arrays["edges"][1], side="right") - 1
    ends = np.searchsorted(owner, np.arange(len(first)))
    attr = features(arrays, edges.shape[1], "edge_x.") if "edge_x.width" in arrays else None
    graphs = []
    for g in arrays["loss"]:
        a, b, e, f = int(first[g]), int(first[g + 1]), int(ends[g]), int(ends[g + 1])
        graphs.append(Data(x=x[a:b], edge_index=edges[:, e:f] - a, y=y[g:g + 1],
                           edge_attr=None if attr is None else attr[e:f]))
    model = Gin(x.shape[1], 0 if attr is None else attr.shape[1], int(arrays["classes"]), o).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    most = o.get("most_graphs", 0)
    if most:
        graphs = graphs[:most]
    found = {}
    for workers in (0, 4):
        loader = DataLoader(graphs, batch_size=o["batch"], shuffle=True, num_workers=workers,
                            persistent_workers=workers > 0)

        def epoch():
            for batch in loader:
                batch = batch.to(device)
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(model(batch), batch.y).backward()
                optimiser.step()

        found["loader" if workers == 0 else f"loader, {workers} workers"] = timed(epoch, count, device)
    return found, len(graphs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--options", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", help="a file for the JSON object in place of standard output")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    arrays = dict(np.load(given.file))
    device = torch.device(given.device)
    level = graph_level if "parts" in arrays else node_level
    found, items = level(arrays, json.loads(given.options), device, given.epochs)
    best = min(found, key=found.get)
    text = json.dumps({"seconds_per_epoch": next(iter(found.values())), "best_seconds": found[best],
                       "best": best, "variants": found, "items": items, "torch": torch.__version__,
                       "torch_geometric": torch_geometric.__version__})
    if given.out:
        with open(given.out, "w") as file:
            file.write(text)
    else:
        print(text)


main()
