#!/usr/bin/env bash
# Workers on a real PostgreSQL, each killed by SIGKILL at random moments: every cell is done once, nothing that
# was done is done again, and the table is that of an undisturbed run on SQLite.
# GRM_WORKER_CELLS=200 GRM_WORKER_KILLS=10 is the full size.
source "$(dirname "$0")/lib.sh" "$@"
source "$source_dir/tests/cli/services.sh"

cells=${GRM_WORKER_CELLS:-24} kills=${GRM_WORKER_KILLS:-5} workers=4
cat > s.toml <<TOML
name = "s"
seeds = $((cells / 2))
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
dataset.blocks = 4
train.epochs = 6
train.eval_every = 3
train.test = "selected"
[[when]]
method = "erm"
set.train.epochs = 5000
set.train.eval_every = 100
TOML
flags=(--threads 1 --checkpoint-seconds 0.05 -q)
check "an undisturbed study in a file" "$grm" study run s.toml --jobs 2 "${flags[@]}" --db straight.db --out straight

# The planner only looks on; it is there from the beginning to the end.
"$grm" study run s.toml --on workers "${flags[@]}" --db "$url" --out killed --json > planner.json 2> planner.err &
planner=$!
planned() { "$grm" study status s --db "$url" --json | jq -e ".cells | length == $cells"; }
check "the study is planned" wait_until planned

seed=${GRM_KILL_SEED:-$$}
echo 0 > killed_count
# victim NUMBER: one worker that is killed and started again, until it may end.
victim() {
  RANDOM=$((seed + $1))
  local round process child
  for round in $(seq "$kills"); do
    "$grm" study work s --jobs 1 "${flags[@]}" --patience 2 --db "$url" --out killed > /dev/null 2> "worker$1.err" &
    process=$!
    # Every other time from the moment when it has a cell, else when that is in training, with its folder locked.
    for _ in $(seq 200); do
      child=$(pgrep -P $process | head -1)
      [ -n "$child" ] && { [ $((round % 2)) = 0 ] || readlink /proc/$child/fd/* 2> /dev/null | grep -q '/lock$'; } && break
      kill -0 $process 2> /dev/null || break
      sleep 0.05
    done
    sleep 0.$((RANDOM % 80 + 10))
    kill -9 $process 2> /dev/null && echo "$1 $round" >> kills
    wait $process 2> /dev/null
  done
  "$grm" study work s --jobs 1 "${flags[@]}" --patience 2 --db "$url" --out killed > "worker$1.out" 2> "worker$1.err"
  echo $? > "worker$1.code"
}
begin=$SECONDS
victims=()
for w in $(seq $workers); do
  victim "$w" &
  victims+=($!)
done
# What is done now must still be the same at the end.
touch done_before
while kill -0 $planner 2> /dev/null; do
  "$grm" study status s --db "$url" --json 2> /dev/null |
    jq -c '.cells[] | select(.state == "done")' 2> /dev/null >> done_before
  [ $((SECONDS - begin)) -lt 1000 ] || break
  sleep 1
done
wait "${victims[@]}"
wait $planner
check "who planned it saw it end" [ $? = 0 ]
for w in $(seq $workers); do check "worker $w ends well" [ "$(cat "worker$w.code")" = 0 ]; done
check "$((workers * kills)) kills, nearly all in time" [ "$(wc -l < kills)" -ge $((workers * kills / 2)) ]

"$grm" study status s --db "$url" --json > killed.json
"$grm" study status s --db straight.db --json > straight.json
check "all cells are done" jq -e "(.cells | length) == $cells and all(.cells[]; .state == \"done\")" killed.json
check "workers have left" jq -e '.workers == [] and .seconds_left == 0' killed.json
essence='[.cells[] | {dataset, method, variant, seed, chosen}]'
check "the results are those of the undisturbed study" \
  [ "$(jq -c "$essence" killed.json)" = "$(jq -c "$essence" straight.json)" ]
for format in text csv; do
  "$grm" study table s --db "$url" --format $format > killed.table
  "$grm" study table s --db straight.db --format $format > straight.table
  check "the $format table is the same file" cmp killed.table straight.table
done
jq -c '.cells[]' killed.json > done_after
check "no cell that was done was run again" [ -z "$(sort -u done_before | grep -vxFf done_after)" ]
check "each cell was finished in one folder" [ "$(find killed -name summary.json | wc -l)" = "$cells" ]
check "of its own" jq -e "[.cells[].folder] | (unique | length) == $cells" killed.json

# The same runs, read into a file: what is exported does not say where it was kept.
check "the same runs in a file" "$grm" study run s.toml --jobs 2 "${flags[@]}" --db again.db --out killed
for format in csv json runs; do
  "$grm" study export s --db "$url" --format $format > killed.export
  "$grm" study export s --db again.db --format $format > again.export
  check "the $format export is the same file" cmp killed.export again.export
done
for format in json summary-csv; do
  "$grm" study table s --db "$url" --format $format > killed.table
  "$grm" study table s --db again.db --format $format > again.table
  check "the $format table is the same file" cmp killed.table again.table
done
attempts=$(jq '[.cells[].attempts] | add' killed.json)
check "some were killed in the middle of a cell" [ "$attempts" -gt "$cells" ]
resumed=$(cat killed/*/*/*/log.txt | grep -c "resuming after epoch")
echo "$cells cells, $(wc -l < kills) kills, $attempts attempts," \
  "$resumed from a checkpoint, $((SECONDS - begin)) s"
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"
finish
