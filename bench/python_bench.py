#!/usr/bin/env python3
"""What Python costs, and what our propagation costs beside others.

    PYTHONPATH=build/python GRM=build/grm GRM_DATA=... /usr/bin/python3 bench/python_bench.py [--device cuda]
    ... bench/python_bench.py --only epochs --threads 1 --json overhead.json

epochs       an epoch of the program and of Python with a callback, on Twitch where GRM_DATA has it, else on sbm.
             Both are processes that train for ever and take turns of a few epochs, while the other one is stopped,
             so that what else the machine does meets both alike. Processor time of all threads by epochs is what an
             epoch costs with all that is done between epochs.
propagation  `grm.ops.propagate`, forward and backward, against index_add in plain torch, torch.sparse, and GCNConv
             of PyTorch Geometric where it is installed: 10^4 to 10^6 nodes, 16 edges a node, 64 columns.
networks     GCNConv, GATv2Conv and GINConv of PyTorch Geometric as backbones, where it is installed.

--json FILE keeps all numbers; it is written anew after each part, so that a run that is stopped leaves some.
"""

import argparse
import glob
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

FOR_EVER = 10**6
WARM = 3  # epochs that build operators and touch memory for the first time
PARTS = ("epochs", "propagation", "networks")


class Results:
    def __init__(self, path):
        self.path, self.all = path, {}

    def add(self, part, row):
        self.all.setdefault(part, []).append(row)
        if self.path:
            with open(self.path, "w") as file:
                json.dump(self.all, file, indent=1)


# --- an epoch of the program and of Python ------------------------------------------------------------------


class Run:
    """A process that trains for ever, with what it has used and how far it has come."""

    def __init__(self, words, folder):
        self.folder, self.size, self.lines, self.seconds = folder, 0, 0, []
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def epochs(self):
        """How many epochs are over; their seconds by the engine's clock are kept."""
        found = glob.glob(self.folder + "/*/*/*/metrics.jsonl")
        if found:
            with open(found[0]) as file:
                file.seek(self.size)
                text = file.read()
            whole = text[:text.rfind("\n") + 1]
            self.size += len(whole.encode())
            self.seconds += [json.loads(line)["seconds"] for line in whole.splitlines()]
        return len(self.seconds)

    def processor(self):
        """Seconds of all threads on a processor, to the nanosecond."""
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            try:
                with open(path) as file:
                    total += int(file.read().split()[0])
            except OSError:  # the thread has just ended
                pass
        return total * 1e-9

    def wait_for(self, epochs):
        while self.epochs() < epochs:
            if self.process.poll() is not None:
                self.log.seek(0)
                raise RuntimeError(self.log.read().decode()[-2000:])
            time.sleep(0.05)

    def go(self, on):
        self.process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)

    def end(self):
        self.process.kill()
        self.process.wait()


def start(side, method, dataset, given, folder):
    if side == "python":
        asked = json.dumps([method, dataset, given.device, given.threads, folder])
        return Run([sys.executable, os.path.abspath(__file__), "--child", asked], folder)
    words = [os.environ.get("GRM", "build/grm"), "train", "--dataset", dataset, "--method", method, "--epochs",
             str(FOR_EVER), "--out", folder, "--quiet", "--device", given.device, "--set", "train.first_seed=0",
             "--set", f"train.eval_every={FOR_EVER}"]
    return Run(words + (["--threads", str(given.threads)] if given.threads else []), folder)


def child(method, dataset, device, threads, folder):
    import grm

    if threads:
        grm.set_threads(threads)
    seen = []  # a callback is part of what is measured
    model = grm.Classifier(method, device=device, epochs=FOR_EVER, eval_every=FOR_EVER)
    model.fit(grm.Dataset(dataset), callbacks=lambda epoch: seen.append(epoch.loss["total"]), out=folder)


def in_turns(runs, given):
    """(processor seconds, epochs) of each turn: one of the two runs at a time, for a part of a second."""
    used = {name: [] for name in runs}
    for run in runs.values():
        run.wait_for(WARM)
        run.go(False)
    for turn in range(given.rounds):
        for name in list(runs) if turn % 2 == 0 else list(runs)[::-1]:
            run = runs[name]
            before, done = run.processor(), run.epochs()
            run.go(True)
            run.wait_for(done + given.epochs)
            run.go(False)
            time.sleep(0.02)
            used[name].append((run.processor() - before, run.epochs() - done))
    return used


def epochs(results, given):
    twitch = os.path.isdir(os.path.join(os.environ.get("GRM_DATA", ""), "twitch"))
    dataset = "twitch" if twitch else "sbm"
    for method in given.methods:
        with tempfile.TemporaryDirectory() as folder:
            runs = {name: start(name, method, dataset, given, f"{folder}/{name}") for name in ("program", "python")}
            try:
                used = in_turns(runs, given)
                seconds = {name: run.seconds[WARM:] for name, run in runs.items()}
            finally:
                for run in runs.values():
                    run.end()
        row = {"dataset": dataset, "method": method, "device": given.device, "threads": given.threads,
               "rounds": given.rounds, "epochs": given.epochs, "processor": used}

        def of_turns(begin, end):  # an epoch that a turn cuts goes on in the next one
            each = {k: [sum(x) for x in zip(*v[begin:end])] for k, v in used.items()}
            return {k: processor / count for k, (processor, count) in each.items()}

        def cost(of):
            return 100 * (of["python"] / of["program"] - 1)

        measures = {"processor time": of_turns(0, None),
                    "median by the clock": {k: statistics.median(v) for k, v in seconds.items()},
                    "fastest by the clock": {k: min(v) for k, v in seconds.items()}}
        for name, of in measures.items():
            row[name] = {**of, "overhead_percent": cost(of)}
            print(f"{dataset} {method} on {given.device}, an epoch, {name}: program {1000 * of['program']:.2f} ms, "
                  f"Python {1000 * of['python']:.2f} ms, {cost(of):+.2f} %", flush=True)
        fifth = max(1, given.rounds // 5)
        row["overhead of fifths"] = [cost(of_turns(k, k + fifth)) for k in range(0, fifth * 5, fifth)
                                     if k < given.rounds]
        print("  by fifths of the turns: " + ", ".join(f"{c:+.2f} %" for c in row["overhead of fifths"]), flush=True)
        results.add("epochs", row)


# --- propagation ----------------------------------------------------------------------------------------------


def timed(body, device, seconds=1.0):
    import torch

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


def propagation(results, given):
    for nodes in given.nodes:
        propagation_of(results, nodes, 64, given.device)


def propagation_of(results, nodes, width, device):
    import grm
    import torch

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
    row = {"nodes": nodes, "edges": index.shape[1], "width": width, "device": device, "seconds": {}}
    with torch.no_grad():
        expected = bodies["grm.ops.propagate"]()
        row["largest_difference"] = {name: float((body() - expected).abs().max()) for name, body in bodies.items()}
    for name, body in bodies.items():
        def both():
            x.grad = None
            body().backward(gradient)

        row["seconds"][name] = timed(both, device)
        times = row["seconds"][name] / row["seconds"]["grm.ops.propagate"]
        print(f"{nodes} nodes, {index.shape[1]} edges, {width} columns, {device}, {name}: "
              f"{1000 * row['seconds'][name]:.2f} ms, {times:.2f} x ours", flush=True)
    results.add("propagation", row)


# --- networks of PyTorch Geometric ----------------------------------------------------------------------------


def networks(results, given):
    try:
        from torch_geometric.nn import GATv2Conv, GCNConv, GINConv
    except ImportError:
        print("skipped: PyTorch Geometric is not installed")
        return
    import grm
    import torch

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
            model = grm.Classifier(method, backbone=net, epochs=20, device=given.device).fit(data)
            row = {"method": method, "layer": name, "device": given.device, "test": model.score(data),
                   "seconds_per_epoch": model.record_["seconds_per_epoch"]}
            print(f"{method} with {name} on {given.device}: test {100 * row['test']:.1f} %, "
                  f"{1000 * row['seconds_per_epoch']:.1f} ms an epoch", flush=True)
            results.add("networks", row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=30, help="turns of program and Python")
    parser.add_argument("--epochs", type=int, default=20, help="epochs in a turn")
    parser.add_argument("--threads", type=int, default=0, help="0: what the program takes by itself")
    parser.add_argument("--methods", nargs="*", default=["erm", "grm:best"])
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", default="")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(*json.loads(given.child))
        return 0
    results = Results(given.json)
    import grm

    if given.threads:
        grm.set_threads(given.threads)
    config = grm.show_config()
    print(config)
    results.add("config", {k: str(v) for k, v in config.items()})
    failed = 0
    for part in given.only:
        try:
            {"epochs": epochs, "propagation": propagation, "networks": networks}[part](results, given)
        except Exception:  # the other parts are worth something by themselves
            traceback.print_exc()
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
