#!/usr/bin/env bash
# A graph in parts against the graph in one piece: the most memory that each process holds while it trains, of its own (RssAnon)
# and with pages of mapped files (VmHWM), and the time of a step. Writes the table of docs/cluster.md.
#   bench/parts.sh [NODES...]        the last one goes into the document
set -euo pipefail
cd "$(dirname "$0")/.."
grm=${GRM:-build/grm}
sizes=("${@:-1000000}")
batch=1024 targets=${TARGETS:-20480}
work=$(mktemp -d -p "${WORK:-/tmp}")
export GRM_CACHE=$work/cache OMP_WAIT_POLICY=passive
trap 'rm -rf "$work"' EXIT

# watch_one PID FILE: the most of RssAnon, RssFile and both together, in KiB, until the process ends.
watch_one() {
  local anon=0 file=0 now_anon now_file
  while read -r now_anon now_file < <(awk '/^RssAnon/ { a = $2 } /^RssFile/ { f = $2 } END { if (a) print a, f }' \
    "/proc/$1/status" 2> /dev/null); do
    [ "$now_anon" -le "$anon" ] || anon=$now_anon
    [ "$now_file" -le "$file" ] || file=$now_file
    echo "$anon $file" > "$2"
    sleep 0.1
  done
}

# run WORLD NAME FOLDER ARGUMENTS...: one row of the table.
run() {
  local world=$1 name=$2 folder=$3 rank pids=() watchers=()
  shift 3
  export WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 12000))
  for ((rank = 0; rank < world; ++rank)); do
    RANK=$rank "$grm" bench --dataset "$folder" --method erm --set train.batch=$batch --set train.fanout=15,10 \
      --set train.shards=2 --epochs 2 --no-evaluation --threads 1 -q --json "$@" > "$work/bench.$rank" &
    pids+=($!)
    watch_one $! "$work/held.$rank" &
    watchers+=($!)
  done
  wait "${pids[@]}" "${watchers[@]}"
  unset WORLD_SIZE MASTER_ADDR MASTER_PORT
  local anon file
  anon=$(cat "$work"/held.* | awk '{ printf "%s%d", (NR > 1 ? " and " : ""), $1 / 1024 }')
  file=$(cat "$work"/held.* | awk '{ printf "%s%d", (NR > 1 ? " and " : ""), $2 / 1024 }')
  rm "$work"/held.*
  jq -r --arg name "$name" --arg anon "$anon" --arg file "$file" --argjson world "$world" --argjson batch $batch \
    --arg disk "$(du -sm "$folder" | cut -f 1)" '(.targets_per_epoch / $batch | ceil) as $steps
    | "| \($name) | \($world) | \($anon) | \($file) | \($disk) | \(.fastest_epoch / $steps * 1e3 | round) |"' "$work/bench.0"
}

table() {
  local nodes=$1 by
  "$grm" data convert scale --set nodes="$nodes" --set labelled="$(jq -n "$targets / $nodes")" --mapped --out "$work/whole" -q > /dev/null
  echo "| $nodes nodes | processes | own, MiB | pages of files, MiB | on disk, MB | ms a step |"
  echo "|---|---|---|---|---|---|"
  run 1 "one piece" "$work/whole"
  run 2 "one piece" "$work/whole"
  for by in ${BY:-hash metis}; do
    "$grm" data partition "$work/whole" --parts 2 --by $by --out "$work/parts" --json -q > "$work/cut.json"
    run 2 "$(jq -r --arg by $by '"2 parts by \($by), cut \(.graphs[0].cut_share * 1000 | round / 10) %"' "$work/cut.json")" "$work/parts"
    [ "$by" != hash ] || run 2 "the same, no cache" "$work/parts" --row-cache 0
    rm -r "$work/parts"
  done
  rm -r "$work/whole"
}

for nodes in "${sizes[@]}"; do
  table "$nodes" | tee "$work/table.md"
done
awk -v table="$work/table.md" '/^<!-- bench\/parts.sh -->$/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
  skip && /^\|/ { next } { skip = 0; print }' docs/cluster.md > "$work/cluster.md"
cp "$work/cluster.md" docs/cluster.md
