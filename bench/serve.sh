#!/usr/bin/env bash
# serve.sh [GRM] [SECONDS] [RATE]: a small model behind `grm serve`, asked RATE times a second (default: 200 for 60 s).
# Prints one JSON object: how many were answered, how fast, and what memory did.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
grm=$(readlink -f "${1:-$here/../build/grm}")
seconds=${2:-60} rate=${3:-200}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
export GRM_CACHE=$work/cache
"$grm" train --dataset sbm --set dataset.nodes=60 --method erm --epochs 2 --threads 1 --out run --quiet > /dev/null
model=$(find run -name model.safetensors)
"$grm" serve "$model" --threads 1 > address 2> log &
server=$!
for _ in $(seq 200); do [ -s address ] && break; sleep 0.1; done
python3 "$here/serve.py" "$(head -n 1 address)" "$server" "$seconds" "$rate"
