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
# Nodes: directed edges with a loop, a node without edges, and a pair that is given twice. Sets of graphs: the same, with
# features and weights of edges, where the first of equal pairs stays.
cat > make.py <<'EOF'
import numpy as np
r = np.random.default_rng(1)
for name in "abc":
    e = r.integers(0, 39, (2, 120)); e[:, 0] = 5; e[:, 1] = e[:, 2]
    y = r.integers(0, 3, 40)
    x = (r.normal(size=(40, 6)) + y[:, None]).astype("f4")
    np.savez(f"d/{name}.npz", x=x, edge_index=e, y=y)
    np.savez(f"v/{name}.npz", x=x, edge_index=e, y=y, edge_weight=r.random(120).astype("f4"))
    np.savez(f"sums/{name}.npz", x=x, edge_index=e, y=(50 + 9 * x[:, :2]).astype("f4"))
    np.savez(f"tags/{name}.npz", x=x, edge_index=e, y=(x[:, :3] > 1).astype("f4"))
    graph = np.repeat(np.arange(12), r.integers(2, 9, 12))
    begin = np.searchsorted(graph, graph, "left"); size = np.bincount(graph)[graph]
    target = r.integers(0, len(graph), 150)
    e = np.stack([begin[target] + r.integers(0, 1 << 30, 150) % size[target], target]); e[:, 1] = e[:, 2]
    y = np.arange(12) % 3
    g = dict(x=(r.normal(size=(len(graph), 4)) + y[graph][:, None]).astype("f4"), edge_index=e, graph=graph, y=y)
    np.savez(f"g/{name}.npz", **g)
    np.savez(f"h/{name}.npz", **g, edge_attr=r.normal(size=(150, 3)).astype("f4"))
    np.savez(f"w/{name}.npz", **g, edge_weight=(0.1 + r.random(150)).astype("f4"))
EOF
mkdir d v sums tags g h w
check "data" $python make.py
for name in d v sums tags g h w; do
  printf 'name = "%s"\n' $name > $name/dataset.toml
  case $name in
    g | h | w) echo 'level = "graph"' >> $name/dataset.toml ;;
    sums) echo 'target = "regression"' >> $name/dataset.toml ;;
    tags) echo 'target = "multi-label"' >> $name/dataset.toml ;;
  esac
  printf '[train]\ndomains = ["a"]\n[validation]\ndomains = ["b"]\n' >> $name/dataset.toml
done
cat > compare.py <<'EOF'
import csv, glob, numpy as np, sys, torch
names, wrong = sorted(glob.glob("models/*.pt")), 0
for name in names:
    d = np.load(open(name[:-3] + ".data").read().strip())
    given = [torch.tensor(d["edge_index"]), torch.tensor(d["x"])]
    if "graph" in d: given.append(torch.tensor(d["graph"]))
    more = {k: torch.tensor(d[k]) for k in ("edge_attr", "edge_weight") if k in d}
    model = torch.jit.load(name)
    p = model.values(*given, **more) if hasattr(model, "values") else model.probabilities(*given, **more)
    rows = list(csv.DictReader(open(name[:-3] + ".csv")))
    columns = [k for k in rows[0] if k.startswith("p_")] or [k for k in rows[0] if k not in ("domain", "id")]
    wanted = torch.tensor([[float(r[k]) for k in columns] for r in rows])
    scale = max(1.0, wanted.abs().max().item())
    worst = (p - wanted).abs().max().item() / scale if p.shape == wanted.shape else 1.0
    spread = wanted.std(0).max().item()  # what is told apart; the fit of the temperature may leave little
    if worst >= 1e-5 or worst >= 1e-2 * spread:
        print(name, worst, spread, p.shape, wanted.shape)
        wrong += 1
assert len(names) == int(sys.argv[1]) and wrong == 0, (len(names), wrong)
EOF
mkdir models
count=0
export_model() {  # export_model NAME DATA TRAIN_WORDS...
  local name=$1 data=$2
  shift 2
  "$grm" train --dataset "./$data" --epochs 3 --json --set train.test=never "$@" > trained 2> err
  run=$(jq -r '.runs[0]' trained)
  check "$name is exported" "$grm" export "$run" --out "models/$name.pt"
  check "$name predicts" "$grm" predict "$run" --data "$data/c.npz" --out "models/$name.csv"
  echo "$data/c.npz" > "models/$name.data"
  count=$((count + 1))
}
for backbone in gcn sage gat gpr gcnii mlp; do
  export_model "erm-$backbone" d --method erm --set method.backbone=$backbone --set method.hidden=8
done
export_model one-layer d --method erm --set method.layers=1 --set method.batch_norm=false --set method.conv=sum
export_model centred d --method erm --set method.layers=3 --set dataset.symmetrise=true --set dataset.centre=domain
for method in drnn mmd dann eerm lisa isgib mario srgnn mixup; do export_model "$method" d --method $method; done
export_model numbers sums --method erm --set method.backbone=mlp
export_model several tags --method erm
# A context of all nodes; GRM at the mean of its latent variable.
mean="--set method.samples=0"
# shellcheck disable=SC2086 # several words are meant
{
  export_model arm d --method arm --set method.support=40
  export_model grm-best d --method grm --preset best $mean
  export_model grm-centred d --method grm --preset centred $mean --set method.presence=gate
  export_model grm-gcn d --method grm --preset centred $mean --set method.encoder=gcn2 --set method.encoder_input=raw \
    --set method.encoder_norm=true
  export_model graph-gin h --method erm --set method.layer=gin --set method.virtual_node=true --set method.pooling=sum
  export_model graph-gcn h --method irm --set method.layer=gcn --set method.pooling=max --set dataset.symmetrise=true
  export_model graph-le w --method erm --set method.layer=le --set method.pooling=weighted
  export_model graph-sum w --method coral --set method.layer=graph --set method.pooling=log-mean-exp --set method.pool=logits
  export_model graph-arma w --method mixup --set method.layer=arma --set method.head_layers=1 --set method.batch_norm=false
  export_model graph-bare g --method dann --set method.embed=false --set method.relu_last=true --set dataset.centre=domain
  export_model trivial-size g --method trivial --preset size
  export_model trivial-mean g --method trivial --preset mean-features
  export_model graph-grm h --method grm --preset best $mean
  export_model graph-nodes h --method grm --preset nodes $mean --set method.pooling=weighted
  export_model graph-raw g --method grm --preset paper-raw $mean
}
check "all have the probabilities or values of predict" $python compare.py $count

# Samples concern predictions alone: a model with them is exported as its twin without.
# shellcheck disable=SC2086
for samples in 0 5; do
  "$grm" train --dataset ./d --epochs 3 --method grm --preset best --set method.samples=$samples --set train.selection=last \
    --json > trained 2> err
  expect_exit 0 "with $samples samples" "$grm" export "$(jq -r '.runs[0]' trained)" --out "twin$samples.pt"
done
check "what differs is said" grep -q "mean of its latent variable" err
check "they are twins" $python -c 'import numpy as np, torch
d = np.load("d/c.npz"); given = [torch.tensor(d["edge_index"]), torch.tensor(d["x"])]
a, b = (torch.jit.load(f"twin{k}.pt")(*given) for k in (0, 5))
assert torch.equal(a, b) and a.std() > 0.1'

expect_exit 0 "the code can be read" "$grm" export "$run" --source
check "it is a function of a set of graphs" grep -q "def forward(self, edge_index: Tensor, x: Tensor, graph: Tensor" out
refused() {  # refused REASON DATA TRAIN_WORDS...
  local reason=$1 data=$2
  shift 2
  "$grm" train --dataset "./$data" --epochs 1 --json --set train.test=never "$@" > trained 2> err
  expect_exit 2 "$* is refused" "$grm" export "$(jq -r '.runs[0]' trained)"
  check "with the reason: $reason" grep -q "$reason" err
  check "and those that can be" grep -q "node level: arm, .*graph level: " err
}
refused "influential nodes" d --method grm --preset paper
refused "draws the ego-net" d --method grm --preset paper-raw
refused "cuts the nodes at random" d --method arm --set method.inference=batched
refused "reads features of edges" d --method erm --set method.backbone=gatv2
refused "weighted edges" v --method erm
refused "ranks the edges" g --method dir
expect_exit 0 "json" "$grm" export "$run" --out here.pt --json
check "names the file and its hash" jq -e --arg hash "$(sha256sum here.pt | cut -d' ' -f1)" '.sha256 == $hash and .out == "here.pt"' out
expect_exit 3 "no model" "$grm" export none
finish
