#!/usr/bin/env bash
# A run killed by SIGKILL at random moments and resumed ends with the same bits.
source "$(dirname "$0")/lib.sh" "$@"
args=(--dataset sbm --set dataset.nodes=300 --method grm --epochs 40 --set train.eval_every=8
  --set train.checkpoint_seconds=0.05 -q --json)
"$grm" train "${args[@]}" --out straight > /dev/null || exit 1
expected=$(sha256sum straight/sbm/grm/*/model.safetensors | cut -d' ' -f1)
essence() { jq -c 'del(.seconds)' "$1"/sbm/grm/*/metrics.jsonl | sha256sum; }

RANDOM=7
for round in $(seq 10); do
  "$grm" train "${args[@]}" --out killed --resume > /dev/null 2>&1 &
  process=$!
  sleep 0.$((RANDOM % 80 + 10))
  kill -9 $process 2> /dev/null
  wait $process 2> /dev/null
done
check "the resumed run ends" "$grm" train "${args[@]}" --out killed --resume
check "one folder, not several" bash -c "[ \$(ls killed/sbm/grm | wc -l) = 1 ]"
check "the model has the same bits" bash -c \
  "[ \$(sha256sum killed/sbm/grm/*/model.safetensors | cut -d' ' -f1) = $expected ]"
check "the metrics are the same" [ "$(essence killed)" = "$(essence straight)" ]

# Ctrl-C writes a checkpoint and says how to go on.
"$grm" train "${args[@]}" --set train.checkpoint_seconds=1000 --out stopped > /dev/null 2> err &
process=$!
sleep 1.5
kill -INT $process
wait $process
code=$?
if [ $code = 130 ]; then
  check "the way on is named" grep -q -- "--resume" err
else
  check "or it had finished" [ $code = 0 ]
fi
check "the stopped run goes on" "$grm" train "${args[@]}" --out stopped --resume
check "to the same bits" bash -c \
  "[ \$(sha256sum stopped/sbm/grm/*/model.safetensors | cut -d' ' -f1) = $expected ]"
finish
