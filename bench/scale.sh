#!/usr/bin/env bash
# Cost per target node from 10,000 to 1,000,000 nodes, as grm bench prints it: it must grow by less
# than 1.5 times, and the million-node run must peak below 8 GiB.
#   bench/scale.sh [raw|centred]        writes bench/scale.md; more arguments go to grm bench
#   bench/scale.sh mapped               mapped graphs and steps on samples (train.batch), the last part of bench/scale.md;
#                                       SIZES="1000000 10000000", WORK=DIR for the graphs (30 GB free for 100 million nodes)
# Sizes take turns (ROUNDS of them), so that all see the same load; the fastest epoch counts.
set -euo pipefail
cd "$(dirname "$0")/.."
grm=${GRM:-build/grm}
[ "${1:-}" != mapped ] || exec bench/scale_mapped.sh "${@:2}"
line="bench/scale.sh $*"
input=${1:-raw}
shift || true
rounds=${ROUNDS:-3}
sizes=(${SIZES:-10000 100000 1000000})
work=$(mktemp -d)
export GRM_CACHE=$work/cache  # nothing is read that an earlier run computed
trap 'rm -rf "$work"' EXIT

for ((round = 1; round <= rounds; ++round)); do
  for nodes in "${sizes[@]}"; do
    $grm bench --dataset scale --set dataset.nodes="$nodes" --set dataset.mean_degree=10 \
      --method grm --preset paper --set method.encoder_input="$input" --set method.fanout=10,5 \
      --set method.influence=local \
      --epochs "${EPOCHS:-5}" --no-evaluation -q --json "$@" > "$work/$nodes.$round.json"
  done
done

out=$work/scale.md
{
  echo "# Cost per target as the graph grows"
  echo
  echo "Made by \`${line% }\` with $($grm --version), $(jq -r '"\(.threads) threads, \(.device)"' "$work/${sizes[0]}.1.json"):"
  echo "GRM, preset \`paper\`, \`encoder_input = $input\`, fan-out (10, 5), local influence, generated graphs of mean degree 10,"
  echo "the fastest epoch of $rounds rounds."
  echo
  echo "| nodes | microseconds per target | against the smallest | CPU microseconds per target | set-up, s | peak MiB | estimated MiB |"
  echo "|---|---|---|---|---|---|---|"
} > "$out"
first=
for nodes in "${sizes[@]}"; do
  row=$(jq -s --argjson first "${first:-0}" 'min_by(.fastest_epoch) as $b
    | ($b.fastest_epoch / $b.targets_per_epoch * 1e6) as $us
    | {us: $us, ratio: (if $first > 0 then $us / $first else 1 end),
       cpu: ([.[] | .cpu_seconds_per_epoch / .targets_per_epoch] | min * 1e6),
       setup: $b.setup_seconds, peak: ([.[].peak_memory_mib] | max), estimated: $b.estimated_mib}' \
    "$work/$nodes".*.json)
  [ -n "$first" ] || first=$(jq .us <<< "$row")
  jq -r --arg n "$nodes" '"| \($n) | \(.us * 10 | round / 10) | \(.ratio * 100 | round / 100) | \(.cpu * 10 | round / 10) | \(.setup * 100 | round / 100) | \(.peak | round) | \(.estimated | round) |"' <<< "$row" >> "$out"
done
last=$row
{
  echo
  jq -r '"Limits: ratio below 1.5 (\(.ratio * 100 | round / 100)), peak below 8192 MiB (\(.peak | round))."' <<< "$last"
} >> "$out"
[ ! -e bench/scale.md ] || sed -n '/^# Mapped graphs/,$p' bench/scale.md > "$work/mapped.md"
[ ! -s "$work/mapped.md" ] || { echo; cat "$work/mapped.md"; } >> "$out"
cp "$out" bench/scale.md
cat bench/scale.md
jq -e '.ratio < 1.5 and .peak < 8192' <<< "$last" > /dev/null || { echo "a limit is exceeded" >&2; exit 1; }
