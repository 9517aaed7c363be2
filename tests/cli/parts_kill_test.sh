#!/usr/bin/env bash
# A graph in parts, from the command line: cut, counted, trained on by 1, 2 and 4 processes to the bits of the graph in one
# piece; a process that is killed ends the others.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive
unset RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_PROCID SLURM_STEP_NUM_TASKS
check "a mapped graph" "$grm" data convert sbm --set nodes=80 --mapped --out whole -q
expect_exit 0 "parts by hash" "$grm" data partition whole --parts 4 --by hash --out parts --json
check "all edges are there" jq -e '.graphs | all(([.parts[].edges] | add) == .edges and ([.parts[].nodes] | add) == .nodes)' out
check "the cut of a hash is three quarters" jq -e '.graphs[0].cut_share > 0.6 and .graphs[0].cut_share < 0.9' out
cp out cut
expect_exit 0 "stats" "$grm" data stats parts --json
check "are what was written" cmp out cut
expect_exit 0 "stats as a table" "$grm" data stats parts
check "names the cut" grep -q "edges from other parts" out
expect_exit 0 "check" "$grm" data check parts
if "$grm" data partition whole --parts 2 --by metis --out by-metis --json > metis 2> err; then
  check "METIS cuts less than a hash would" jq -e '.graphs[0].cut_share < 0.5 and .graphs[0].node_balance < 1.2' metis
else
  check "what is missing is named" grep -q "libmetis-dev" err
  echo "skipped: built without METIS"
fi
expect_exit 2 "stats of another folder" "$grm" data stats whole
expect_exit 2 "a verb that wants the whole" "$grm" data describe ./parts
check "is told what to give" grep -q "the folder that was cut" err

run=(train --method erm --set train.batch=20 --set train.fanout=4,3 --set train.shards=4 --threads 1 -q)
short=("${run[@]}" --epochs 4)
tensors() {  # without the head, whose text names the folder
  /usr/bin/env python3 - "$1"/*/erm/*/model.safetensors << 'PY'
import hashlib, struct, sys
data = open(sys.argv[1], "rb").read()
print(hashlib.sha256(data[8 + struct.unpack("<Q", data[:8])[0]:]).hexdigest())
PY
}
essence() { jq -c 'del(.seconds)' "$1"/*/erm/*/metrics.jsonl | sha256sum; }
check "the graph in one piece" "$grm" "${short[@]}" --dataset ./whole --out one
check "parts, one process" "$grm" "${short[@]}" --dataset ./parts --out parts1
worlds=(1)
if "$grm" "${short[@]}" --dataset ./parts --processes 2 --out parts2 2>&1 > /dev/null | grep -q 'headers of Gloo'; then
  echo "skipped: built without Gloo"
else
  check "four processes" "$grm" "${short[@]}" --dataset ./parts --processes 4 --row-cache 0 --out parts4
  worlds=(1 2 4)
fi
for world in "${worlds[@]}"; do
  check "$world: the same model" [ "$(tensors parts$world)" = "$(tensors one)" ]
  check "$world: the same metrics" [ "$(essence parts$world)" = "$(essence one)" ]
done
[ ${#worlds[@]} = 3 ] || finish
expect_exit 2 "grm" "$grm" train --method grm --dataset ./parts --processes 2 --out none -q
check "does not read parts" grep -q "does not read a graph in parts" err
check "whole steps of mmd" "$grm" train --method mmd --dataset ./parts --set train.batch=20 --set method.domains=natural \
  --epochs 1 --threads 1 --processes 2 --out mmd -q

# A rank that is killed while others wait for its rows.
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 12000))
long=("${run[@]}" --dataset ./parts --epochs 100000 --process-timeout 5 --out killed)
RANK=0 "$grm" "${long[@]}" > /dev/null 2> said.0 &
first=$!
RANK=1 "$grm" "${long[@]}" > /dev/null 2> said.1 &
second=$!
trains() { [ "$(cat killed/*/erm/*/metrics.jsonl | wc -l)" -gt 3 ]; }
check "it trains" wait_until trains
kill -9 $second
wait $second 2> /dev/null
begin=$SECONDS
wait $first
check "the other one ends with an error" [ $? = 4 ]
check "at once" [ $((SECONDS - begin)) -lt 10 ]
check "and names it" grep -q "rank 1[ ,(].*has ended" said.0
finish
