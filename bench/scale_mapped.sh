#!/usr/bin/env bash
# Steps on samples of mapped graphs, by size: seconds a step, the memory that the process holds of its own (RssAnon, looked at
# while it runs) and with pages of files (VmHWM), and the size of the graph. Part of bench/scale.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
grm=${GRM:-build/grm}
line="bench/scale.sh mapped $*"
sizes=(${SIZES:-1000000 10000000})
batch=1024 targets=20480
work=$(mktemp -d -p "${WORK:-/tmp}")
export GRM_CACHE=$work/cache
trap 'rm -rf "$work"' EXIT

# held PID: the most that a process holds of its own, in KiB, until it ends.
held() {
  local most=0 now
  while now=$(awk '/^RssAnon/ { print $2 }' "/proc/$1/status" 2> /dev/null) && [ -n "$now" ]; do
    [ "$now" -le "$most" ] || most=$now
    sleep 0.1
  done
  echo "$most"
}

# run NODES METHOD ARGUMENTS...: one row of the table.
run() {
  local nodes=$1 name=$2
  shift 2
  "$grm" bench --dataset "$work/graph" --set train.batch=$batch --set train.fanout=15,10 --epochs 2 --no-evaluation \
    --threads "${THREADS:-1}" -q --json "$@" > "$work/bench.json" &
  local pid=$! own
  own=$(held $pid)
  wait $pid
  jq -r --arg n "$nodes" --arg name "$name" --argjson own "$own" --argjson batch $batch --argjson write "$write" \
    --argjson disk "$disk" '(.targets_per_epoch / $batch | ceil) as $steps
    | "| \($n) | \($name) | \(.fastest_epoch / $steps * 1e3 | round) | \(.cpu_seconds_per_epoch / $steps * 1e3 | round) | \($own / 1024 | round) | \(.peak_memory_mib | round) | \(.estimated_mib | round) | \($disk) | \($write) |"' \
    "$work/bench.json"
}

out=$work/mapped.md
{
  echo "# Mapped graphs, steps on samples"
  echo
  echo "Made by \`${line% }\` with $($grm --version), ${THREADS:-1} thread: \`scale\` written by"
  echo "\`grm data convert scale --mapped\` (mean degree 10, 32 features), \`train.batch = $batch\`, \`train.fanout = 15,10\`, about $targets labelled"
  echo "nodes, the faster of two epochs. \"Held\" is the most of RssAnon, \"with pages\" VmHWM: pages of the files that happen to be in"
  echo "memory and are given up when it is short."
  echo
  echo "| nodes | method | ms a step | of a processor | held, MiB | with pages, MiB | estimated, MiB | graph on disk, MB | written in, s |"
  echo "|---|---|---|---|---|---|---|---|---|"
} > "$out"
for nodes in "${sizes[@]}"; do
  rm -rf "$work/graph"
  begin=$(date +%s)
  "$grm" data convert scale --set nodes="$nodes" --set labelled="$(jq -n "$targets / $nodes")" --mapped --out "$work/graph" -q > /dev/null
  write=$(($(date +%s) - begin)) disk=$(du -sm "$work/graph" | cut -f 1)
  run "$nodes" erm --method erm >> "$out"
  [ "$nodes" -gt "${MOST_GRM:-20000000}" ] || run "$nodes" grm:best --method grm --preset best >> "$out"
done
cat "$out"
{
  printf '%s\n\n' "$(sed '/^# Mapped graphs/,$d' bench/scale.md)"
  cat "$out"
  echo
  sed -n '/^## A hundred million/,$p' bench/scale.md  # written by hand
} > "$work/scale.md"
cp "$work/scale.md" bench/scale.md
