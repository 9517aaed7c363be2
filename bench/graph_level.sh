#!/usr/bin/env bash
# Speed of GRM on sets of graphs, as a user meets it: printed by grm train --json.
# Needs GRM_DATA with molhiv and, for the last line, mnist.   bench/graph_level.sh > bench/graph_level.md
set -euo pipefail
cd "$(dirname "$0")/.."
grm=build/grm
runs=$(mktemp -d)
export GRM_CACHE=$runs/cache  # influence is computed here, not read from a cache
trap 'rm -rf "$runs"' EXIT

sgemm=$($grm doctor --json | jq -r '.checks[] | select(.check == "sgemm") | .value')
echo "# Speed of GRM at graph level"
echo
echo "Made by \`bench/graph_level.sh\` with $($grm --version), $(nproc) threads, SGEMM 10,000 x 128 x 128 at $sgemm."
echo
echo "| dataset | preset | graphs an epoch | batch | graphs/s in training | at least | evaluation of validation and test, s | peak MiB |"
echo "|---|---|---|---|---|---|---|---|"

# measure DATASET PRESET GRAPHS EPOCHS LIMIT [--set ...]; sets batch to 32 unless told.
measure() {
  local dataset=$1 preset=$2 graphs=$3 epochs=$4 limit=$5
  shift 5
  $grm train --dataset "$dataset" --method grm --preset "$preset" --epochs "$epochs" \
    --set train.eval_every="$epochs" --set method.batch=32 "$@" --out "$runs" --json \
    > "$runs/out.json" 2> "$runs/err.txt"
  jq -r --arg d "$dataset" --arg p "$preset" --argjson n "$graphs" --arg limit "$limit" \
    '"| \($d) | \($p) | \($n) | 32 | \($n / .seconds_per_epoch | round) | \($limit) | \(.evaluate_seconds * 10 | round / 10) | \(.peak_memory_mib | round) |"' \
    "$runs/out.json"
  sed -n 's/.*\(influential nodes of .*\)/\1/p' "$runs/err.txt" >> "$runs/influence.txt"
}

measure spmotif paper 3000 5 1500
measure spmotif gin 3000 5 1500
measure molhiv paper 32901 1 1000
measure molhiv gin 32901 1 1000
echo
if [ -d "${GRM_DATA:-}/mnist" ]; then
  before=$(date +%s)
  $grm data describe mnist75sp --json > "$runs/mnist.json" 2> "$runs/err.txt"
  echo "* MNIST-75sp: 70,000 images to graphs of superpixels, packed and cached, in $(($(date +%s) - before)) s (at least 60,000 in 240 s)"
fi
sort -u "$runs/influence.txt" | sed 's/^/* /'
