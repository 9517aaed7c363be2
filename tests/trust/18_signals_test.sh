#!/usr/bin/env bash
# One signal asks for a checkpoint, a second one of any kind ends the program; a terminal that goes away
# counts as one signal, and nohup makes it count as none.
source "$(dirname "$0")/../cli/lib.sh" "$@"
# An epoch of many seconds, and one of some milliseconds.
slow=(train --dataset sbm --method erm --epochs 2 -q --threads 1 --set dataset.nodes=4000
  --set method.hidden=2000 --set method.layers=16)
short=(train --dataset sbm --method erm --epochs 1000000 -q --set dataset.nodes=60)

# start OUT FLAGS...: in the background, until its run has begun.
start() {
  local out=$1
  shift
  # Whoever runs this test may ignore a signal, which is passed on.
  env --default-signal=HUP,INT,TERM "$grm" "$@" --out "$out" > "$out.log" 2>&1 &
  process=$!
  wait_until bash -c "grep -q . $out/sbm/*/*/$begun"
}
# ended_within SECONDS: its exit code, or "runs on", in $got.
ended_within() {
  got="runs on"
  for _ in $(seq $(($1 * 20))); do
    if ! kill -0 $process 2> /dev/null; then
      wait $process
      got=$?
      return
    fi
    sleep 0.05
  done
}

for pair in "TERM TERM 143" "TERM INT 130" "HUP TERM 143" "TERM HUP 129"; do
  read -r first second code <<< "$pair"
  begun=log.txt start "two-$first-$second" "${slow[@]}"
  sleep 0.5
  kill -$first $process
  sleep 0.2
  kill -$second $process
  ended_within 5
  check "$first, then $second ends it at once: $got" test "$got" = "$code"
  kill -KILL $process 2> /dev/null
  wait $process 2> /dev/null
  check "and nothing is taken for finished" bash -c "! ls two-$first-$second/sbm/*/*/summary.json"
done

for signal in HUP TERM INT; do
  begun=metrics.jsonl start "one-$signal" "${short[@]}"
  kill -$signal $process
  [ $signal = HUP ] && kill -HUP $process  # the shell and the system may both tell
  ended_within 20
  check "$signal stops with a checkpoint: $got" test "$got" = 130
  check "it is there" test -s one-$signal/sbm/*/*/state.safetensors
  check "and the way on is told" grep -q -- "--resume" one-$signal.log
done

nohup "$grm" "${short[@]}" --out kept > kept.log 2>&1 &
process=$!
wait_until bash -c "grep -q . kept/sbm/*/*/metrics.jsonl"
kill -HUP $process
ended_within 1
check "under nohup it runs on" test "$got" = "runs on"
kill -TERM $process
ended_within 20
check "until it is asked otherwise" test "$got" = 130
finish
