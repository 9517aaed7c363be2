#!/usr/bin/env bash
# A study whose process is killed by SIGKILL ten times at random moments ends with the results of an
# undisturbed one, and repeats nothing that was done.
source "$(dirname "$0")/lib.sh" "$@"
cat > s.toml <<'TOML'
name = "s"
seeds = 4
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 150
train.epochs = 24
train.eval_every = 8
train.test = "selected"
[[when]]
method = "erm"
set.train.epochs = 1600
TOML
flags=(--jobs 2 --threads 1 --checkpoint-seconds 0.1 -q)
check "an undisturbed study" "$grm" study run s.toml "${flags[@]}" --db straight.db --out straight

seed=${GRM_KILL_SEED:-$$}
RANDOM=$seed
db=$work/killed.db
touch done_before
for round in $(seq 10); do
  "$grm" study run s.toml "${flags[@]}" --db "$db" --out killed > /dev/null 2>&1 &
  process=$!
  sleep $((RANDOM % 3)).$((RANDOM % 70 + 30))
  kill -9 $process 2> /dev/null
  wait $process 2> /dev/null
  # What is done now must still be the same at the end.
  [ $((round % 2)) = 0 ] && "$grm" study status s --db "$db" --json 2> /dev/null |
    jq -c '.cells[] | select(.state == "done")' 2> /dev/null >> done_before
done
sleep 0.3
orphans=0
for file in /proc/[0-9]*/cmdline; do
  case $(tr '\0' ' ' 2> /dev/null < "$file") in *" study cell --db $db "*) orphans=$((orphans + 1)) ;; esac
done
check "a killed study leaves no process behind" [ $orphans = 0 ]

check "the study is finished" "$grm" study run s.toml "${flags[@]}" --db "$db" --out killed
"$grm" study status s --db "$db" --json > killed.json
"$grm" study status s --db straight.db --json > straight.json
check "status of both" test -s killed.json -a -s straight.json
check "all cells are done" jq -e '(.cells | length) == 8 and all(.cells[]; .state == "done")' killed.json
essence='[.cells[] | {dataset, method, variant, seed, chosen}]'
check "the results are those of the undisturbed study" \
  [ "$(jq -c "$essence" killed.json)" = "$(jq -c "$essence" straight.json)" ]
jq -c '.cells[]' killed.json > done_after
check "no cell that was done was run again" \
  [ -z "$(sort -u done_before | grep -vxFf done_after)" ]
check "each cell was finished in one folder" bash -c \
  "[ \$(find killed -name summary.json | wc -l) = 8 ]"
check "of its own" jq -e '[.cells[].folder] | (unique | length) == 8' killed.json
cp killed.json before.json
check "another run has nothing to do" "$grm" study run s.toml "${flags[@]}" --db "$db" --out killed
check "and changes nothing" bash -c \
  "'$grm' study status s --db '$db' --json | cmp - before.json"
resumed=$(cat killed/*/*/*/log.txt | grep -c "resuming after epoch")
echo "$(jq '[.cells[].attempts] | add' killed.json) attempts at 8 cells, $resumed from a checkpoint"
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"
finish
