#!/usr/bin/env bash
# Ours beside PyTorch Geometric in one run, as a table of Markdown: node-level GCN, a million nodes, graph-level GIN.
#   bench/peers.sh PROGRAM [--device cuda]      (GRM_DATA names the folder of the published data)
set -euo pipefail
program=$1
shift
work() {
  local name=$1
  shift
  "$program" bench --method erm --no-evaluation --peers --json -q "$@" > "${OUT:-/tmp}/peers.json" || return 0
  python3 - "$name" "${OUT:-/tmp}/peers.json" << 'PY'
import json, sys
r = json.load(open(sys.argv[2]))
p, ours = r["peers"], r["seconds_per_epoch"]
print(f"| {sys.argv[1]} | {1e3 * ours:.2f} ms | {1e3 * p['seconds_per_epoch']:.2f} ms | {p['seconds_per_epoch'] / ours:.1f} x | "
      f"{1e3 * p['best_seconds']:.2f} ms ({p['best']}) | {p['best_seconds'] / ours:.1f} x | {r['device']}, torch {p['torch']}, PyG {p['torch_geometric']} |")
PY
}
echo "| work | grm | PyG as written | ratio | PyG at best | ratio | with |"
echo "|---|---|---|---|---|---|---|"
work "GCN, Twitch" --dataset twitch --epochs 50 "$@"
work "GCN, 1,000,000 nodes" --dataset scale --set dataset.nodes=1000000 --epochs 10 "$@"
work "GIN, SP-Motif, batch 32" --dataset spmotif --epochs 3 "$@"
work "GIN, Molhiv, width 300, batch 32" --dataset molhiv --set method.hidden=300 --epochs 2 "$@"
