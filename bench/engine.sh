#!/usr/bin/env bash
# Speed and memory of the engine on real data, as a user meets them: printed by grm train --json.
# Needs GRM_DATA with twitch and facebook100.   bench/engine.sh > bench/engine.md
set -euo pipefail
cd "$(dirname "$0")/.."
grm=build/grm
runs=$(mktemp -d)
export GRM_CACHE=$runs/cache  # influence is computed here, not read from a cache
trap 'rm -rf "$runs"' EXIT

sgemm=$($grm doctor --json | jq -r '.checks[] | select(.check == "sgemm") | .value')
echo "# Speed of the engine"
echo
echo "Made by \`bench/engine.sh\` with $($grm --version), $(nproc) threads, SGEMM 10,000 x 128 x 128 at $sgemm."
echo
echo "| what | limit | measured |"
echo "|---|---|---|"

$grm train --dataset twitch --method grm --preset paper --set dataset.symmetrise=true \
  --set method.influence=sampled --epochs 20 --set train.eval_every=20 --out "$runs" -q --json > "$runs/a.json"
jq -r '"| 500 targets of Twitch DE, preset paper, sampled influence (64): seconds an epoch | 0.8 | \(.seconds_per_epoch * 1000 | round / 1000) |
| evaluation of validation and test, 27,392 nodes, 5 samples: seconds | 57.7 (20 s per 9,498) | \(.evaluate_seconds * 100 | round / 100) |
| the same per 9,498 nodes | 20 | \(.evaluate_seconds * 9498 / 27392 * 100 | round / 100) |
| peak memory of this run, MiB | | \(.peak_memory_mib | round) |"' "$runs/a.json"

$grm train --dataset twitch --method grm --preset paper --set dataset.symmetrise=true \
  --set method.influence=exact --epochs 5 --set train.eval_every=5 --out "$runs" --json > "$runs/b.json" 2> "$runs/b.err"
seconds=$(sed -n 's/.*influential nodes of 9498 nodes: exact, \(.*\) members on average, \(.*\) s$/\2 s, \1 members on average/p' "$runs/b.err")
echo "| exact influence of Twitch DE | 20 s | $seconds |"
rm -rf "$GRM_CACHE"
$grm train --dataset twitch --method grm --preset paper --set dataset.symmetrise=true --threads 1 \
  --set method.influence=exact --epochs 1 --out "$runs" --json > "$runs/e.json" 2> "$runs/e.err"
seconds=$(sed -n 's/.*influential nodes of 9498 nodes: exact, .* \(.*\) s$/\1 s/p' "$runs/e.err")
echo "| the same with one thread | 6 s | $seconds |"
jq -r '"| the epoch above with exact influence: seconds | | \(.seconds_per_epoch * 1000 | round / 1000) |"' "$runs/b.json"

$grm train --dataset fb100 --method grm --preset paper --allow-missing --epochs 5 \
  --set train.eval_every=5 --out "$runs" -q --json > "$runs/c.json"
jq -r '"| FB-100 combination 1, preset paper, \(.missing | length) files missing: peak memory, MiB | 3072 | \(.peak_memory_mib | round) |
| the same: seconds an epoch (3 x 500 targets) | | \(.seconds_per_epoch * 1000 | round / 1000) |"' "$runs/c.json"
$grm train --dataset fb100 --method erm --allow-missing --epochs 20 \
  --set train.eval_every=20 --out "$runs" -q --json > "$runs/d.json"
jq -r '"| FB-100 combination 1, erm: seconds an epoch, peak MiB | | \(.seconds_per_epoch * 1000 | round / 1000), \(.peak_memory_mib | round) |"' "$runs/d.json"
