#!/usr/bin/env python3
"""What a step on many GPUs would cost, and where its bound is: more GPUs, and larger graphs, than we can test.

Every process has a GPU and a part of the graph. A step takes a batch of targets, draws their neighbours, fetches
the rows and lists that other parts hold (a batch ahead of use), copies the rows to the GPU, computes, and sums
gradients. The times come from rates, each of which says whether it was measured or is assumed.

  bench/plan_cluster.py                                the table of docs/cluster.md
  bench/plan_cluster.py --nodes 1e9 --edges 1e10       a larger graph
  bench/plan_cluster.py --remote 0.1 --hits 0.5        a good partition, and a cache that hits half of the time
  bench/plan_cluster.py --set network_gbyte=25         another network
  bench/plan_cluster.py --measure > mine.json          rates of this machine; then --rates mine.json
"""
import argparse
import json
import os
import socket
import sys
import threading
import time

FLOAT, NUMBER = 4, 8  # bytes
RATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster-rates.json")


def layers(args):
    """Rows in and out of each layer, and its widths: GraphSAGE on sampled neighbours, own row beside their mean."""
    sizes = [args.batch]
    for fanout in args.fanout:
        sizes.append(sizes[-1] * fanout)
    widths = [args.features] + [args.hidden] * len(args.fanout)
    found = []
    for depth in range(len(args.fanout)):
        rows = sum(sizes[: len(args.fanout) - depth])
        found.append((rows, 2 * widths[depth], widths[depth + 1]))
    return sum(sizes), found + [(args.batch, args.hidden, args.classes)]


def step(args, rates, processes):
    """Seconds of each stage of a step, and the bytes that a process receives from others in it."""
    rows, products = layers(args)
    parameters = sum(i * o for _, i, o in products)
    # Forward, and twice as much backward.
    flop = 3 * 2 * sum(r * i * o for r, i, o in products)
    per_machine = min(processes, args.per_machine)
    apart = 1 - 1 / processes if args.remote is None else (args.remote if processes > 1 else 0.0)
    row_bytes, list_bytes = rows * args.features * FLOAT, rows * NUMBER
    fetched = apart * ((1 - args.hits) * row_bytes + list_bytes)
    # Of what other processes hold, some are on this machine.
    others = (processes - 1) or 1
    off_machine = (processes - per_machine) / others
    gradient = parameters * FLOAT
    # Each process sums a share of the numbers over all shards, and sends it back (docs: Training on several processes).
    summed = gradient * (1 + args.shards) * (1 - 1 / processes)
    messages = 2 * (processes - 1)
    exchanges = len(args.fanout) + 1  # lists of each depth, and the rows; a message to each other process, and back
    network = rates["network_gbyte"] * 1e9 / per_machine
    local = rates["loopback_gbyte"] * 1e9
    wire = lambda count: count * off_machine / network + count * (1 - off_machine) / local
    per_message = rates["message_microseconds"] * 1e-6
    stages = {
        "draw": rows / (rates["drawn_rows_per_second_per_core"] * rates["cores_per_gpu"]),
        "fetch": wire(fetched) + exchanges * messages * per_message,
        "gather": row_bytes / (rates["gather_gbyte_per_core"] * 1e9 * rates["cores_per_gpu"]),
        "copy": row_bytes / (rates["copy_to_gpu_gbyte"] * 1e9),
        "compute": max(flop / (rates["gpu_gflops"] * 1e9), rates["least_step_microseconds"] * 1e-6),
        "gradients": wire(summed) + messages * per_message if processes > 1 else 0.0,
    }
    # What is drawn, fetched and copied is for the next batch; gradients follow the step.
    ahead = max(("draw", "fetch", "gather", "copy"), key=stages.get)
    own = stages["compute"] + stages["gradients"]
    stages["step"] = max(stages[ahead], own)
    if stages[ahead] > own:
        bound = ahead
    else:
        bound = "compute" if stages["compute"] >= stages["gradients"] else "gradients"
    memory = (args.nodes * args.features * FLOAT + args.edges * NUMBER + args.nodes * NUMBER) / processes
    return {"processes": processes, "stages": stages, "bound": bound, "fetched": fetched, "summed": summed,
            "messages": (exchanges + 1) * messages, "memory": memory,
            "epoch": args.targets / (args.batch * processes) * stages["step"]}


def table(args, rates):
    rows, products = layers(args)
    print(f"{args.nodes:.3g} nodes, {args.edges:.3g} edges, {args.features} features; {args.targets:.3g} targets; batches of "
          f"{args.batch} for each GPU, fan-out {args.fanout}: {rows:,} rows, "
          f"{sum(i * o for _, i, o in products):,} weights")
    print()
    print("| GPUs | part, GiB | fetched, MB a step | gradients, MB a step | messages | draw | fetch | gather | copy | compute | "
          "gradients | step, ms | bound | epoch | against the first |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    first = None
    for processes in args.gpus:
        plan = step(args, rates, processes)
        first = first or plan["stages"]["step"]
        times = [f"{plan['stages'][name] * 1e3:.2f}"
                 for name in ("draw", "fetch", "gather", "copy", "compute", "gradients", "step")]
        cells = [f"{processes:,}", f"{plan['memory'] / 2**30:.1f}", f"{plan['fetched'] / 1e6:.1f}",
                 f"{plan['summed'] / 1e6:.2f}", f"{plan['messages']:,}", *times, plan["bound"], seconds(plan["epoch"]),
                 f"{first / plan['stages']['step']:.2f}"]
        print("| " + " | ".join(cells) + " |")


def seconds(value):
    return f"{value:.3g} s" if value < 60 else f"{value / 60:.1f} min" if value < 3600 else f"{value / 3600:.1f} h"


def talk(size, count):
    """Seconds for `count` messages of `size` bytes and an answer of one byte each, over loopback."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffer = bytearray(min(size, 1 << 20))
        for _ in range(count):
            left = size
            while left > 0:
                got = peer.recv_into(buffer, min(left, len(buffer)))
                if got == 0:
                    return
                left -= got
            peer.sendall(b"x")
        peer.close()

    thread = threading.Thread(target=answer)
    thread.start()
    with socket.create_connection(listener.getsockname()) as mine:
        mine.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        message = bytes(size)
        begin = time.perf_counter()
        for _ in range(count):
            mine.sendall(message)
            mine.recv(1)
        took = time.perf_counter() - begin
    thread.join()
    listener.close()
    return took


def measure():
    """Rates of this machine: loopback, random rows of memory, and of a GPU where torch has one."""
    import numpy

    found = {}
    where = f"measured by --measure, {os.cpu_count()} cores"

    def note(name, value):
        found[name] = {"value": float(f"{value:.4g}"), "from": where}

    note("message_microseconds", min(talk(64, 500) for _ in range(20)) / 500 / 2 * 1e6)
    note("loopback_gbyte", 8 * (1 << 22) / min(talk(1 << 22, 8) for _ in range(20)) / 1e9)
    # Of one core: rows of 512 bytes from anywhere, and neighbours of anybody.
    draws = numpy.random.default_rng(0)
    rows, wanted = numpy.ones((2_000_000, 128), numpy.float32), draws.integers(0, 2_000_000, 50_000)
    note("gather_gbyte_per_core", wanted.size * rows[0].nbytes / fastest(lambda: rows[wanted], 30) / 1e9)
    lists = draws.integers(0, 2_000_000, 32_000_000)

    def draw():
        return lists[wanted[:, None] * 16 + draws.integers(0, 16, (wanted.size, 10))]

    note("drawn_rows_per_second_per_core", 10 * wanted.size / fastest(draw, 30))
    try:
        import torch
    except ImportError:
        torch = None
    if torch and torch.cuda.is_available():
        where += ", " + torch.cuda.get_device_name()
        measure_gpu(torch, note)
    json.dump(found, sys.stdout, indent=2)
    print()


def fastest(work, times):
    took = []
    for _ in range(times + 1):
        begin = time.perf_counter()
        work()
        took.append(time.perf_counter() - begin)
    return min(took[1:])


def measure_gpu(torch, note):
    def timed(work, times):
        work()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(times):
            work()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / times

    host = torch.empty(1 << 28, dtype=torch.uint8).pin_memory()
    device = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    note("copy_to_gpu_gbyte", host.numel() / timed(lambda: device.copy_(host, non_blocking=True), 10) / 1e9)
    # The step of the plan, with the default shapes.
    args = arguments([])
    rows, products = layers(args)
    flop = 3 * 2 * sum(r * i * o for r, i, o in products)

    def steps(batch):
        first, second = args.fanout
        weights = [torch.randn(i, o, device="cuda", requires_grad=True) for _, i, o in products]
        own = torch.randn(batch, args.features, device="cuda")
        near = torch.randn(batch * first, args.features, device="cuda")
        far = torch.randn(batch * first, second, args.features, device="cuda")
        labels = torch.randint(0, args.classes, (batch,), device="cuda")

        def once():
            hidden = torch.relu(torch.cat([near, far.mean(1)], 1) @ weights[0])
            mine = torch.relu(torch.cat([own, near.view(batch, first, -1).mean(1)], 1) @ weights[0])
            top = torch.relu(torch.cat([mine, hidden.view(batch, first, -1).mean(1)], 1) @ weights[1])
            torch.nn.functional.cross_entropy(top @ weights[2], labels).backward()

        return timed(once, 100)

    note("gpu_gflops", 8 * flop / steps(8 * args.batch) / 1e9)
    note("least_step_microseconds", steps(8) * 1e6)


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    count = lambda text: int(float(text))
    parser.add_argument("--nodes", type=count, default=100_000_000)
    parser.add_argument("--edges", type=count, default=1_600_000_000)
    parser.add_argument("--features", type=count, default=128, help="numbers of a row")
    parser.add_argument("--targets", type=count, default=10_000_000, help="labelled nodes of an epoch")
    parser.add_argument("--classes", type=count, default=64)
    parser.add_argument("--hidden", type=count, default=256)
    parser.add_argument("--batch", type=count, default=1024, help="targets of a step, for each GPU")
    parser.add_argument("--fanout", type=count, nargs="+", default=[10, 5])
    parser.add_argument("--shards", type=count, default=1, help="shards that each process computes (train.shards / GPUs)")
    parser.add_argument("--remote", type=float, help="share of rows that other parts hold (default: as parts by hash)")
    parser.add_argument("--hits", type=float, default=0.0, help="share of those that the cache of hot rows has")
    parser.add_argument("--per-machine", type=count, default=8, help="GPUs of a machine; they share its network and memory")
    parser.add_argument("--gpus", type=count, nargs="+", default=[1, 8, 64, 256, 1000])
    parser.add_argument("--rates", default=RATES, help="file of rates")
    parser.add_argument("--set", action="append", default=[], metavar="RATE=VALUE", help="another value for one of them")
    parser.add_argument("--show-rates", action="store_true", help="print the rates, and where each is from")
    parser.add_argument("--measure", action="store_true", help="measure rates of this machine and print them")
    return parser.parse_args(words)


def main():
    args = arguments(sys.argv[1:])
    if args.measure:
        return measure()
    with open(RATES, encoding="utf-8") as file:
        rates = json.load(file)
    if args.rates != RATES:
        with open(args.rates, encoding="utf-8") as file:
            rates.update(json.load(file))
    for word in args.set:
        name, _, value = word.partition("=")
        if name not in rates:
            sys.exit(f"there is no rate '{name}'; there are: {', '.join(rates)}")
        rates[name] = {"value": float(value), "from": "--set"}
    if args.show_rates:
        print("| rate | value | from |\n|---|---|---|")
        for name, rate in rates.items():
            print(f"| `{name}` | {rate['value']:g} | {rate['from']} |")
        return None
    return table(args, {name: rate["value"] for name, rate in rates.items()})


if __name__ == "__main__":
    main()
