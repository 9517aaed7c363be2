#!/usr/bin/env bash
# Epochs of every method on a GPU, one line each: milliseconds, share of the time inside kernels,
# launches and waits of an epoch.   bench/gpu.sh PROGRAM [DATASET [METHOD[:PRESET]...]]
set -euo pipefail
program=$1
dataset=${2:-twitch}
shift $(($# > 1 ? 2 : 1))
methods=("$@")
if [ ${#methods[@]} -eq 0 ]; then
  methods=(erm drnn mmd arm isgib eerm lisa mario grm:paper grm:best)
fi
for each in "${methods[@]}"; do
  preset=()
  case $each in *:*) preset=(--preset "${each#*:}") ;; esac
  "$program" bench --device cuda --dataset "$dataset" --method "${each%%:*}" "${preset[@]}" \
    --epochs "${EPOCHS:-50}" --no-evaluation --json > "${OUT:-.}/gpu-$dataset-${each/:/-}.json" 2> /dev/null ||
    { echo "$each: failed" && continue; }
  python3 - "$each" "${OUT:-.}/gpu-$dataset-${each/:/-}.json" << 'PY'
import json, sys
r = json.load(open(sys.argv[2]))
print(f"{sys.argv[1]:12} {1e3 * r['seconds_per_epoch']:9.3f} ms  kernels {100 * (r['kernel_share'] or 0):5.1f} %  "
      f"launches {r.get('launches_per_epoch', 0):6}  waits {r.get('waits_per_epoch', 0):3}")
PY
done
