#!/usr/bin/env bash
# TorchScript of every method and backbone that is exported, loaded by Python's torch, against grm predict; and
# what cannot be exported. Logs against metrics.jsonl, event files through a decoder in Python.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive

# --- logs -----------------------------------------------------------------------------------------
expect_exit 0 "train with logs" "$grm" train --dataset sbm --set dataset.nodes=60 --method erm --epochs 4 \
  --set train.eval_every=2 --set train.log=both --set train.patience=0 --json
run=$(jq -r '.runs[0]' out)
check "a row for each epoch" test "$(wc -l < "$run/metrics.csv")" = 5
check "its numbers are those of metrics.jsonl" bash -c "diff <(tail -n +2 $run/metrics.csv | cut -d, -f3,4) \
  <(jq -r '[.loss.total, .validation // \"\"] | map(tostring) | join(\",\")' $run/metrics.jsonl)"
python=/usr/bin/python3
if ! $python -c 'import torch' 2> /dev/null; then
  echo "skipped: $python has no torch"
  [ "$failures" = 0 ] && exit 77
  finish
fi
cat > events.py <<'EOF'
import json, struct, sys
def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 127) << s; s += 7; i += 1
        if b[i - 1] < 128: return v, i
def fields(b):
    i, out = 0, []
    while i < len(b):
        k, i = varint(b, i)
        w = k & 7
        if w == 0: v, i = varint(b, i)
        else:
            n = {1: 8, 5: 4}.get(w)
            if n is None: n, i = varint(b, i)
            v, i = b[i:i + n], i + n
        out.append((k >> 3, v))
    return out
data, at, found = open(sys.argv[1], "rb").read(), 0, {}
while at < len(data):
    n, = struct.unpack_from("<Q", data, at)
    event = dict(fields(data[at + 12:at + 12 + n]))
    at += 16 + n
    for _, value in fields(event.get(5, b"")):
        v = dict(fields(value))
        found[event[2], v[1].decode()] = struct.unpack("<f", v[2])[0]
wanted = {}
for line in open(sys.argv[2]):
    m = json.loads(line)
    for k, v in m["loss"].items(): wanted[m["epoch"], "loss/" + k] = v
    for k in ("seconds", "validation", "validation_loss"):
        if k in m: wanted[m["epoch"], k] = m[k]
    for k, v in m.get("test_for_analysis", {}).items(): wanted[m["epoch"], "test/" + k] = v
assert found.keys() == wanted.keys(), (found.keys() ^ wanted.keys())
assert all(abs(found[k] - v) <= 1e-6 * max(1, abs(v)) for k, v in wanted.items())
EOF
check "the event file holds the same numbers" $python events.py "$run/events.out.tfevents.grm" "$run/metrics.jsonl"

# --- TorchScript ----------------------------------------------------------------------------------
# Directed edges with a loop, a node without edges, and a pair that is given twice.
cat > make.py <<'EOF'
import numpy as np
r = np.random.default_rng(1)
for name in "abc":
    e = r.integers(0, 39, (2, 120)); e[:, 0] = 5; e[:, 1] = e[:, 2]
    y = r.integers(0, 3, 40)
    np.savez(f"d/{name}.npz", x=(r.normal(size=(40, 6)) + y[:, None]).astype("f4"), edge_index=e, y=y)
EOF
mkdir d
check "data" $python make.py
printf 'name = "d"\n[train]\ndomains = ["a"]\n[validation]\ndomains = ["b"]\n' > d/dataset.toml
cat > compare.py <<'EOF'
import csv, glob, numpy as np, torch
d = np.load("d/c.npz")
e, x = torch.tensor(d["edge_index"]), torch.tensor(d["x"])
names, wrong = sorted(glob.glob("models/*.pt")), 0
for name in names:
    p = torch.jit.load(name).probabilities(e, x)
    rows = list(csv.DictReader(open(name[:-3] + ".csv")))
    wanted = torch.tensor([[float(v) for k, v in r.items() if k.startswith("p_")] for r in rows])
    worst = (p - wanted).abs().max().item() if p.shape == wanted.shape else 1.0
    spread = wanted.std(0).max().item()  # what is told apart; the fit of the temperature may leave little
    if worst >= 1e-5 or worst >= 1e-2 * spread:
        print(name, worst, spread)
        wrong += 1
assert len(names) == 15 and wrong == 0, (len(names), wrong)
EOF
mkdir models
export_model() {  # export_model NAME TRAIN_WORDS...
  local name=$1
  shift
  "$grm" train --dataset ./d --epochs 3 --json "$@" > trained 2> err
  run=$(jq -r '.runs[0]' trained)
  check "$name is exported" "$grm" export "$run" --out "models/$name.pt"
  check "$name predicts" "$grm" predict "$run" --data d/c.npz --out "models/$name.csv"
}
for backbone in gcn sage gat gpr gcnii mlp; do
  export_model "erm-$backbone" --method erm --set method.backbone=$backbone --set method.hidden=8
done
export_model one-layer --method erm --set method.layers=1 --set method.batch_norm=false --set method.conv=sum
export_model centred --method erm --set method.layers=3 --set dataset.symmetrise=true --set dataset.centre=domain
for method in drnn mmd dann eerm lisa isgib mario; do export_model "$method" --method $method; done
check "all have the probabilities of predict" $python compare.py

expect_exit 0 "the code can be read" "$grm" export "$run" --source
check "it is a function of edge_index and x" grep -q "def forward(self, edge_index: Tensor, x: Tensor)" out
for method in grm arm; do
  "$grm" train --dataset ./d --epochs 1 --method $method --json > trained 2> err
  expect_exit 2 "$method is refused" "$grm" export "$(jq -r '.runs[0]' trained)"
  check "with those that can be" grep -q "models that can be: erm, drnn" err
done
expect_exit 0 "json" "$grm" export "$run" --out here.pt --json
check "names the file and its hash" jq -e --arg hash "$(sha256sum here.pt | cut -d' ' -f1)" '.sha256 == $hash and .out == "here.pt"' out
expect_exit 3 "no model" "$grm" export none
finish
