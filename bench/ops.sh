#!/usr/bin/env bash
# Every operator beside its plain libtorch formulation, as ratios in one run: writes bench/ops.md, and
# fails where a target is missed.   bench/ops.sh [folder with the programs, default build]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} OPENBLAS_THREAD_TIMEOUT=${OPENBLAS_THREAD_TIMEOUT:-10}

# The fastest of some repetitions, with ours and theirs in turns, so that what else runs on the
# machine meets both.
for program in ops_bench generated_bench; do
  for round in 1 2 3; do
    "$build/$program" --benchmark_filter='/d:(1|128)/' --benchmark_format=json \
      > "$work/$program.$round.json" 2> /dev/null
  done
done

jq -s '
  [.[].benchmarks[] | {name: (.name | sub("/min_time.*"; "")), ms: .real_time, mib: .peak_mib}]
  | group_by(.name) | map({name: .[0].name, ms: (map(.ms) | min), mib: (map(.mib) | max)})
  | map(. + (.name | capture("^(?<op>[^/]*)/(?<pass>[^/]*)/(?<form>[^/]*)/d:(?<d>[0-9]+)/threads:(?<threads>[0-9]+)")))
  | . as $all
  | [ $all[] | select(.form != "ours") as $plain
      | ($all[] | select(.form == "ours" and .op == $plain.op and .pass == $plain.pass
                         and .d == $plain.d and .threads == $plain.threads)) as $ours
      | {op: $plain.op, pass: $plain.pass, form: $plain.form, d: $plain.d, threads: $plain.threads,
         ours: $ours.ms, plain: $plain.ms, ratio: ($plain.ms / $ours.ms),
         memory: (if $plain.mib > 0 then $ours.mib / $plain.mib else null end)} ]
  | map(. + {at_least:
      (if .op == "spmm" and .pass == "both" and .form == "index_add" then 5
       elif .op == "spmm" and .pass == "forward" and .form == "torch_csr" then 1.5
       elif .op == "generator" and .form == "batched" then 3
       else null end)})
  | map(. + {memory_below: (if .op == "generator" and .form == "batched" and .pass == "both" then 0.5 else null end)})
  | map(. + {ok: ((.at_least == null or .ratio >= .at_least)
                  and (.memory_below == null or .memory < .memory_below))})
' "$work"/*.json > "$work/all.json"

{
  echo "# Speed of the operators"
  echo
  echo "Made by \`bench/ops.sh\`: ours against the plain libtorch formulation in the same run, the fastest of"
  echo "three rounds. \`both\` is forward and backward; memory is the peak of one pass as a share of theirs, kernels'"
  echo "work space included. Only ratios mean something: other work may have run on the machine."
  echo
  echo "| operator | pass | against | d | threads | times faster | at least | memory |"
  echo "|---|---|---|---|---|---|---|---|"
  jq -r '.[] | "| \(.op) | \(.pass) | \(.form) | \(.d) | \(.threads) | \(.ratio * 10 | round / 10) | \(.at_least // "") | \(if .memory == null then "" else (.memory * 100 | round / 100) end)\(if .memory_below then " (below \(.memory_below))" else "" end) |"' "$work/all.json"
} > bench/ops.md

missed=$(jq -r '.[] | select(.ok | not) | "missed: \(.op) \(.pass) against \(.form), d \(.d), \(.threads) threads: \(.ratio * 100 | round / 100) times faster, memory \(.memory)"' "$work/all.json")
if [ -n "$missed" ]; then
  echo "$missed" >&2
  exit 1
fi
