#!/usr/bin/env python3
"""What Python costs, and what our propagation costs beside others.

    PYTHONPATH=build/python GRM=build/grm GRM_DATA=... /usr/bin/python3 bench/python_bench.py [--device cuda]

1. Seconds of an epoch of the program and of Python, in turns, the fastest and the median of all: on Twitch where
   GRM_DATA has it, else on sbm.
2. `grm.ops.propagate`, forward and backward, against index_add in plain torch, torch.sparse, and GCNConv of
   PyTorch Geometric where it is installed: 10^4 to 10^6 nodes, 16 edges a node, 64 columns.
3. Networks of PyTorch Geometric (GCNConv, GATv2Conv, GINConv) as backbones, where it is installed.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import tempfile
import time

import grm
import torch


WARM = 3  # epochs that build operators and touch memory for the first time


def epoch_seconds(method, dataset, options, rounds, epochs, device):
    program = os.environ.get("GRM", "build/grm")
    found = {"program": [], "python": [], "python with a callback": []}
    processor = {"program": [], "python with a callback": []}  # all threads: hardly moved by what else runs
    words = [w for key, value in options.items() for w in ("--set", f"{key}={value}")]
    data = grm.Dataset(dataset, **{k.split(".")[1]: v for k, v in options.items() if k.startswith("dataset.")})
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, "train", "--dataset", dataset, "--method", method, "--epochs", str(epochs),
                            "--out", folder, "--quiet", "--device", device, "--set", "train.first_seed=0",
                            "--set", f"train.eval_every={epochs}", *words], check=True, capture_output=True)
            with open(glob.glob(folder + "/*/*/*/metrics.jsonl")[0]) as file:
                found["program"] += [json.loads(line)["seconds"] for line in file][WARM:]
        done = subprocess.run([program, "bench", "--dataset", dataset, "--method", method, "--device", device,
                               "--json", *words], check=True, capture_output=True)
        processor["program"].append(json.loads(done.stdout)["cpu_seconds_per_epoch"])
        ticks = []
        for name, callback in (("python", ()), ("python with a callback",
                                                lambda e: ticks.append(time.process_time()))):
            more = {k.replace(".", "__"): v for k, v in options.items() if not k.startswith("dataset.")}
            model = grm.Classifier(method, device=device, epochs=epochs, eval_every=epochs, **more)
            model.fit(data, callbacks=callback)
            found[name] += [line["seconds"] for line in model.history_][WARM:]
        steps = [b - a for a, b in zip(ticks, ticks[1:])][WARM:-1]  # the last epoch is evaluated
        processor["python with a callback"].append(statistics.median(steps))
    for name, seconds in processor.items():
        print(f"{dataset} {method} {name}: {1000 * min(seconds):.2f} ms of processor time an epoch "
              f"({100 * (min(seconds) / min(processor['program']) - 1):+.1f} %; all: "
              f"{', '.join(f'{1000 * s:.1f}' for s in seconds)})")
    for name, seconds in found.items():
        fastest, median = min(seconds), statistics.median(seconds)
        print(f"{dataset} {method} {name}: fastest epoch {1000 * fastest:.2f} ms "
              f"({100 * (fastest / min(found['program']) - 1):+.1f} %), median {1000 * median:.2f} ms "
              f"({100 * (median / statistics.median(found['program']) - 1):+.1f} %)", flush=True)


def timed(body, device, seconds=1.0):
    def wait():
        if device != "cpu":
            torch.cuda.synchronize()

    for _ in range(3):
        body()
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        wait()
        start = time.perf_counter()
        body()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def propagation(nodes, width, device):
    generator = torch.Generator().manual_seed(0)
    index = torch.randint(nodes, (2, 16 * nodes), generator=generator)
    index = torch.unique(index, dim=1)
    index = index[:, index[0] != index[1]].contiguous()
    x = torch.rand(nodes, width, generator=generator).to(device).requires_grad_()
    there = index.to(device)
    pattern = grm.ops.pattern(index, nodes)
    loops = torch.arange(nodes, device=device)
    looped = torch.cat([there, torch.stack([loops, loops])], 1)
    degree = torch.bincount(looped[1], minlength=nodes).float()
    weight = degree.rsqrt()[looped[0]] * degree.rsqrt()[looped[1]]
    matrix = torch.sparse_coo_tensor(looped.flip(0), weight, (nodes, nodes)).coalesce()

    def index_add():
        return torch.zeros_like(x).index_add(0, looped[1], x[looped[0]] * weight[:, None])

    bodies = {"grm.ops.propagate": lambda: grm.ops.propagate(x, pattern), "index_add": index_add,
              "torch.sparse": lambda: torch.sparse.mm(matrix, x)}
    try:
        from torch_geometric.nn import GCNConv

        conv = GCNConv(width, width, bias=False, cached=True).to(device)
        conv.lin = torch.nn.Identity()
        bodies["GCNConv"] = lambda: conv(x, there)
    except ImportError:
        pass
    gradient = torch.rand(nodes, width, device=device)
    ours = None
    for name, body in bodies.items():
        def both():
            x.grad = None
            body().backward(gradient)

        seconds = timed(both, device)
        ours = ours or seconds
        print(f"{nodes} nodes, {index.shape[1]} edges, {width} columns, {device}, {name}: "
              f"{1000 * seconds:.2f} ms, {seconds / ours:.2f} x ours")


def backbones(device):
    try:
        from torch_geometric.nn import GATv2Conv, GCNConv, GINConv
    except ImportError:
        print("skipped: PyTorch Geometric is not installed")
        return
    data = grm.datasets.sbm()
    width = data.train[0].num_features

    class Net(torch.nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x, edge_index):
            return self.second(torch.relu(self.first(x, edge_index)), edge_index)

    linear = torch.nn.Linear
    for name, make in (("GCNConv", GCNConv), ("GATv2Conv", GATv2Conv),
                       ("GINConv", lambda a, b: GINConv(linear(a, b)))):
        for method in ("erm", "drnn:fast"):
            net = Net(make(width, 64), make(64, data.classes))
            model = grm.Classifier(method, backbone=net, epochs=20, device=device).fit(data)
            print(f"{method} with {name} on {device}: test {100 * model.score(data):.1f} %, "
                  f"{1000 * model.record_['seconds_per_epoch']:.1f} ms an epoch")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--skip-epochs", action="store_true")
    given = parser.parse_args()
    print(grm.show_config())
    if not given.skip_epochs:
        twitch = os.path.isdir(os.path.join(os.environ.get("GRM_DATA", ""), "twitch"))
        for chosen in ("erm", "grm:best"):
            epoch_seconds(chosen, "twitch" if twitch else "sbm", {}, given.rounds, given.epochs, given.device)
    for count in given.nodes:
        propagation(count, 64, given.device)
    backbones(given.device)
