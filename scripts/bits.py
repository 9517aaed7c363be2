#!/usr/bin/env python3
"""Fingerprints of what a program computes: scripts/bits.py PROGRAM [--epochs N] [METHOD...]

Trains every preset of every method on the generated datasets (sbm, spmotif) for a few epochs with one
thread, and prints one line for each: dataset, method, and digests of the model's tensors, of its metrics
without times, and of its configuration. Two programs compute the same bits if their lines are equal:

  scripts/bits.py old/build/grm > old.txt; scripts/bits.py build/grm | diff old.txt -
"""
import argparse, hashlib, json, pathlib, struct, subprocess, sys, tempfile

SMALL = {
    "sbm": ["dataset.nodes=200"],
    "spmotif": ["dataset.train_per_class=20", "dataset.val_per_class=10", "dataset.test_per_class=10"],
}


def tensors(path):
    """Name, type, shape and bytes of each tensor, without the metadata."""
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + size])
    digest = hashlib.sha256()
    for name in sorted(head):
        if name == "__metadata__":
            continue
        begin, end = head[name]["data_offsets"]
        digest.update(f"{name} {head[name]['dtype']} {head[name]['shape']}\n".encode())
        digest.update(raw[8 + size + begin : 8 + size + end])
    return digest.hexdigest()[:16]


def metrics(path):
    digest = hashlib.sha256()
    for line in path.read_text().splitlines():
        record = json.loads(line)
        digest.update(json.dumps({k: v for k, v in record.items() if "second" not in k}).encode())
    return digest.hexdigest()[:16]


def text(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("methods", nargs="*", help="all by default")
    parser.add_argument("--epochs", default="2")
    given = parser.parse_args()
    methods = json.loads(subprocess.check_output([given.program, "methods", "--json"]))
    for entry in methods:
        if given.methods and entry["name"] not in given.methods:
            continue
        dataset = "sbm" if "node" in entry["levels"] else "spmotif"
        for preset in entry["presets"]:
            name = f"{entry['name']}:{preset}"
            with tempfile.TemporaryDirectory() as folder:
                command = [given.program, "train", "--dataset", dataset, "--method", name, "--epochs",
                           given.epochs, "--threads", "1", "--quiet", "--out", folder]
                for value in SMALL[dataset]:
                    command += ["--set", value]
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if done.returncode != 0:
                    print(dataset, name, "failed:", done.stderr.strip(), flush=True)
                    continue
                run = next(pathlib.Path(folder).rglob("summary.json")).parent
                print(dataset, name, tensors(run / "model.safetensors"), metrics(run / "metrics.jsonl"),
                      text(run / "config.toml"), flush=True)


if __name__ == "__main__":
    sys.exit(main())
