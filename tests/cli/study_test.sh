#!/usr/bin/env bash
# The verbs of `grm study`: exit codes, messages and the JSON names that scripts rely on.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
cat > s.toml <<'TOML'
name = "s"
about = "A small study."
seeds = 2
expected_minutes = 3
methods = ["erm"]
datasets = ["sbm", "cora"]
[set]
train.epochs = 4
train.test = "selected"
[[when]]
dataset = "sbm"
set.dataset.nodes = 100
[tune]
trials = 3
seeds = 1
[tune.space]
"method.lr" = [0.01, 0.05]
TOML
flags=(--jobs 2 --threads 1)

for verb in run tune status list; do
  expect_exit 0 "study $verb --help" "$grm" study $verb --help
done
expect_exit 0 "list" "$grm" study list --json
check "ready studies have the promised names" jq -e \
  'all(.studies[]; has("name") and has("about") and has("cells") and has("expected_minutes"))' out
expect_exit 2 "no study of this name" "$grm" study run nothing
sed 's/epochs = 4/epoch = 4/' s.toml > wrong.toml
expect_exit 2 "a mistake in the file" "$grm" study run wrong.toml
check "is named by line, with the nearest word" grep -q "wrong.toml:8:15: .*did you mean 'epochs'" err
expect_exit 3 "no database" "$grm" study status

expect_exit 0 "dry run" "$grm" study run s.toml --dry-run
check "prints the cells" grep -qx "sbm erm seed 1001" out
check "and the expected duration" grep -q "4 cells, 0 done already, expected duration about 3 min" out
check "and makes no database" [ ! -e results.db ]

expect_exit 0 "run, one dataset without files" "$grm" study run s.toml "${flags[@]}" --json
check "stdout is one JSON object" jq -e '.study == "s" and .states == {"done": 2, "no_data": 2}
  and (.no_data | length) == 2 and .failed == [] and .interrupted == false' out
check "the duration was printed before the start" grep -q "expected duration about 3 min" err
check "a line for each cell" grep -q "sbm erm seed 1000: validation .*test min" err
check "no status line off a terminal" bash -c "! grep -q $'\r' err"
expect_exit 0 "status" "$grm" study status s --json
check "status has the promised names" jq -e '.study == "s" and (.cells | length) == 4
  and ([.cells[] | select(.state == "done")] | length == 2 and all(.[]; (.chosen.val.test | length) == 8
    and .metric == "accuracy" and .attempts == 1))' out
expect_exit 0 "status as text" "$grm" study status
check "tells what is missing" grep -q "no data: cora erm seed 1000: cora: no data folder" out
expect_exit 2 "status of an unknown study" "$grm" study status t

expect_exit 1 "cells that fail" "$grm" study run s.toml "${flags[@]}" --db other.db --out s.toml/x -q
check "are listed" grep -q "sbm erm seed 1000: s.toml/x/sbm/erm: folder cannot be made" err
expect_exit 0 "and tried again on request" "$grm" study run s.toml "${flags[@]}" --db other.db -q \
  --retry-failed

# Two processes share one study.
sed 's/seeds = 2/seeds = 6/; s/, "cora"//; s/name = "s"/name = "shared"/' s.toml > shared.toml
"$grm" study run shared.toml --jobs 1 --threads 1 --db shared.db -q > /dev/null 2>&1 &
expect_exit 0 "the first of two" "$grm" study run shared.toml --jobs 1 --threads 1 --db shared.db -q
check "the second of two" wait $!
"$grm" study status shared --db shared.db --json > out
check "did each cell once" jq -e 'all(.cells[]; .state == "done" and .attempts == 1)
  and ([.cells[].folder] | unique | length) == 6' out

# Ctrl-C.
sed 's/seeds = 2/seeds = 1/; s/, "cora"//; s/epochs = 4/epochs = 100000/' s.toml > long.toml
"$grm" study run long.toml "${flags[@]}" --db long.db > out 2> err &
process=$!
for _ in $(seq 100); do
  [ -n "$(find runs -newer long.toml -name metrics.jsonl -size +0 2> /dev/null)" ] && break
  sleep 0.1
done
kill -INT $process
wait $process
check "Ctrl-C ends a study with 130" [ $? = 130 ]
check "and the way on is named" grep -q "'grm study run long.toml'" err
check "the cell left a checkpoint" [ -n "$(find runs -newer long.toml -name state.safetensors)" ]
check "and is free" bash -c \
  "'$grm' study status s --db long.db --json | jq -e '[.cells[].state] == [\"todo\"]'"

sed -i 's/, "cora"//' s.toml
expect_exit 0 "tune" "$grm" study tune s.toml "${flags[@]}" --db tune.db
expect_exit 0 "status shows winners" "$grm" study status s --db tune.db --json
check "chosen among equal numbers of trials" jq -e '.tuned and (.winners | length) == 1
  and .winners[0].trials == 3 and ([.cells[] | select(.phase == "trial")] | length) == 3' out
check "no trial has test scores" jq -e \
  'all(.cells[] | select(.phase == "trial") | .chosen[]; .test == [])' out
check "the winner ran on fresh seeds" jq -e \
  '[.cells[] | select(.phase == "final") | .seed] == [1000, 1001]' out
finish
