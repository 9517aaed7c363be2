#!/usr/bin/env bash
# Runs killed by SIGKILL at forty random moments and resumed end with the same bits. A run that got
# to its end before a kill is compared, and another one begins. write_kill_test.sh and
# study_kill_test.sh kill those who write caches and results.
source "$(dirname "$0")/lib.sh" "$@"
args=(--dataset sbm --set dataset.nodes=100 --method grm --set train.eval_every=4
  --set train.checkpoint_seconds=0.02 --threads 1 -q --json)
short=("${args[@]}" --epochs 40)
export OMP_WAIT_POLICY=passive  # spares the program its restart
begin=$(date +%s%N)
"$grm" train "${short[@]}" --out straight > /dev/null || exit 1
lasts=$((($(date +%s%N) - begin) / 1000000))  # milliseconds of an undisturbed run
model_hash() { sha256sum "$1"/sbm/grm/*/model.safetensors | cut -d' ' -f1; }
essence() { jq -c 'del(.seconds)' "$1"/sbm/grm/*/metrics.jsonl | sha256sum; }
expected=$(model_hash straight)
expected_metrics=$(essence straight)

seed=${GRM_KILL_SEED:-$$}
RANDOM=$seed
kills=0
runs=1
# The run in killed$runs has ended: nothing may tell it from the undisturbed one.
compare() {
  check "one folder, not several" [ "$(ls "$1/sbm/grm" | wc -l)" = 1 ]
  check "the model has the same bits" [ "$(model_hash "$1")" = "$expected" ]
  check "the metrics are the same" [ "$(essence "$1")" = "$expected_metrics" ]
  # A folder that was killed before it got its name is hidden, and nobody's run.
  check "no half of a file is left" [ -z "$(find "$1" -name '.new-*' -prune -o -name '*.tmp*' -print)" ]
}
while [ $kills -lt 40 ]; do
  "$grm" train "${short[@]}" --out killed$runs --resume > /dev/null 2> err &
  process=$!
  moment=$((RANDOM % lasts))
  sleep $((moment / 1000)).$(printf %03d $((moment % 1000)))
  kill -9 $process 2> /dev/null
  wait $process 2> /dev/null
  code=$?
  case $code in
    137) kills=$((kills + 1)) ;;
    0)
      compare killed$runs
      runs=$((runs + 1))
      lasts=$((lasts * 3 / 4 + 1))  # faster than the first run: kill earlier
      ;;
    *) echo "FAILED: exit code $code"; tail -n 3 err; failures=$((failures + 1)); break ;;
  esac
done
check "the last run is resumed" "$grm" train "${short[@]}" --out killed$runs --resume
compare killed$runs
resumed=$(cat killed*/sbm/grm/*/log.txt | grep -c "resuming after epoch")
echo "$kills kills, $runs runs, $resumed from a checkpoint"
check "some resumed from a checkpoint" [ "$resumed" -gt 0 ]

# Ctrl-C writes a checkpoint and says how to resume; --resume takes that advice.
long=(train "${args[@]}" --epochs 100000 --set train.checkpoint_seconds=1000)
"$grm" "${long[@]}" --out "it's stopped" > /dev/null 2> err &
process=$!
wait_until bash -c "grep -q '\"epoch\":3,' *stopped/sbm/grm/*/metrics.jsonl"
kill -INT $process
wait $process
check "an interrupted run ends with 130" [ $? = 130 ]
check "Ctrl-C is answered at once" grep -q "stopping after this epoch" err
check "a checkpoint is there" test -s "it's stopped"/sbm/grm/*/state.safetensors
check "the exact command is named" bash -c \
  "tail -n 1 err | grep -qF -- \"--out 'it'\\''s stopped' --resume\""
before=$(jq -s 'last.epoch' "it's stopped"/sbm/grm/*/metrics.jsonl)
bash -c "$(tail -n 1 err)" > /dev/null 2> err &
process=$!
wait_until bash -c "[ \$(jq -s last.epoch *stopped/sbm/grm/*/metrics.jsonl) -gt $before ]"
check "that command resumes" [ "$(ls "it's stopped/sbm/grm" | wc -l)" = 1 ]
check "in the same run" grep -q "resuming after epoch" "it's stopped"/sbm/grm/*/log.txt
# Two in a row: no waiting for the epoch.
child=$(pgrep -P $process || echo $process)
kill -INT "$child" $process 2> /dev/null
sleep 0.05
kill -INT "$child" $process 2> /dev/null
wait $process
check "a second Ctrl-C ends it" [ $? -ge 130 ]

# The same stop in a short run, to its end.
"$grm" train "${short[@]}" --set train.checkpoint_seconds=1000 --out short > /dev/null 2>&1 &
process=$!
wait_until bash -c "grep -q '\"epoch\":3,' short/sbm/grm/*/metrics.jsonl"
kill -INT $process 2> /dev/null  # unless it was faster
wait $process
check "a stopped run resumes" "$grm" train "${short[@]}" --out short --resume
check "to the same bits" [ "$(model_hash short)" = "$expected" ]
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"
finish
