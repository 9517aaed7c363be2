#!/usr/bin/env bash
# One run on several processes, over real Gloo on loopback: the same bits on 1, 2 and 4 of them, under every launcher that is
# there; a rank that is killed or stopped, or a store that is lost, ends all others with a message that names it, and the run goes
# on from its checkpoint on another number of processes to the same bits. GRM_RANK_KILLS says how many ranks are killed.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_PROCID SLURM_STEP_NUM_TASKS
base=(train --dataset sbm --set dataset.nodes=60 --method grm --set method.batch=20 --set train.shards=4
  --set train.checkpoint_seconds=0.05 --set train.eval_every=5 -q --process-timeout 3)
run=("${base[@]}" --threads 1)
short=("${run[@]}" --epochs 12)
long=("${run[@]}" --epochs 100000)
model_of() { sha256sum "$1"/sbm/grm/*/model.safetensors | cut -d' ' -f1; }
essence() { jq -c 'del(.seconds)' "$1"/sbm/grm/*/metrics.jsonl | sha256sum; }

"$grm" "${short[@]}" --out one > /dev/null || exit 1
if "$grm" train --processes 2 "${short[@]:1}" --out two 2>&1 > /dev/null | grep -q 'headers of Gloo'; then
  echo "skipped: built without Gloo"
  exit 77
fi
expected=$(model_of one)
same_run() {
  check "$1: one folder, the same model" [ "$(model_of "$1")" = "$expected" ]
  check "$1: the same metrics" [ "$(essence "$1")" = "$(essence one)" ]
}
same_run two
check "4 processes" "$grm" "${short[@]}" --processes 4 --out four
same_run four
check "each rank has its log" test -s four/sbm/grm/*/log.txt -a -s four/sbm/grm/*/log-3.txt
check "no rank but the first writes more" [ "$(ls four/sbm/grm/*/ | grep -c -e '-[0-9].txt$')" = 3 ]
check "a finished run is read by all" "$grm" "${short[@]}" --processes 2 --out four --resume
expect_exit 0 "JSON comes from one" "$grm" "${short[@]}" --processes 2 --json --out json
check "it is one object" jq -e '.test | length > 0' out
expect_exit 0 "shards are chosen" "$grm" train --processes 2 --dataset sbm --set dataset.nodes=60 --epochs 1 --threads 1 --out chosen
check "and that is said" grep -q "train.shards = 2, one for each process" err
check "and recorded" grep -q "shards = 2" chosen/sbm/grm/*/config.toml

# What cannot be shared is refused, before anything is written.
expect_exit 2 "a method without batches" "$grm" train --method mmd --processes 2 --out none
check "gains nothing" grep -q "mmd gains nothing from 2 processes" err
expect_exit 2 "3 shards for 2" "$grm" "${run[@]}" --set train.shards=3 --processes 2 --out none
check "is told what fits" grep -q "train.shards = 4" err
expect_exit 2 "half an environment" env RANK=0 WORLD_SIZE=2 "$grm" "${short[@]}" --out none
check "is told what lacks" grep -q "MASTER_ADDR" err
check "nothing is written" test ! -e none

# A published graph.
if [ -n "${GRM_DATA:-}" ] && [ -d "$GRM_DATA/cora" ]; then
  real=(train --dataset cora --method grm --set train.shards=4 --epochs 2 --threads 1 -q)
  check "cora on one process" "$grm" "${real[@]}" --out real
  check "cora on four" "$grm" "${real[@]}" --processes 4 --out real4
  check "the same model" cmp real/cora/grm/*/model.safetensors real4/cora/grm/*/model.safetensors
else
  echo "skipped: cora, a published graph (GRM_DATA)"
fi

# Launchers.
if command -v mpirun > /dev/null; then
  check "mpirun" mpirun -n 4 --oversubscribe --bind-to none "$grm" "${short[@]}" --out mpi
  same_run mpi
else
  echo "skipped: mpirun is not installed"
fi
if /usr/bin/python3 -c 'import torch.distributed.run' 2> /dev/null; then
  check "torchrun" /usr/bin/python3 -m torch.distributed.run --nproc_per_node 2 -r 1 -t 1 --no_python "$grm" "${short[@]}" --out torchrun
  same_run torchrun
else
  echo "skipped: torchrun (python3-torch) is not installed"
fi
if command -v srun > /dev/null && srun -n 1 true 2> /dev/null; then
  check "srun" srun -n 2 --overcommit "$grm" "${short[@]}" --out srun
  same_run srun
else
  echo "skipped: there is no Slurm to run on"
fi

# start WORLD COMMAND...: its ranks, in `ranks`, each with its messages in said.RANK.
start() {
  local world=$1 rank
  shift
  export WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 12000))
  ranks=()
  for ((rank = 0; rank < world; ++rank)); do
    RANK=$rank "$@" > /dev/null 2> said.$rank &
    ranks+=($!)
  done
}
# all_end SECONDS BUT: the other ranks end within the time, with an error.
all_end() {
  local begin=$SECONDS rank code
  for rank in "${!ranks[@]}"; do
    [ "$rank" != "$2" ] || continue
    while kill -0 "${ranks[$rank]}" 2> /dev/null; do
      if [ $((SECONDS - begin)) -gt "$1" ]; then
        echo "FAILED: rank $rank goes on after $1 s without rank $2"
        failures=$((failures + 1))
        kill -9 "${ranks[$rank]}"
      fi
      sleep 0.05
    done
    wait "${ranks[$rank]}"
    code=$?
    check "rank $rank ends with an error ($code)" [ $code = 4 ]
    check "rank $rank names rank $2" grep -q "$3" said.$rank
  done
}
epochs_of() { jq -s 'last.epoch // 0' "$1"/sbm/grm/*/metrics.jsonl 2> /dev/null || echo 0; }
reaches() { [ "$(epochs_of "$1")" -ge "$2" ]; }

# One that dies before all have met is seen by the process that started it.
"$grm" "${long[@]}" --processes 2 --out early > /dev/null 2> said.early &
parent=$!
child_of() { child=$(pgrep -P $parent | head -n 1) && [ -n "$child" ]; }
check "a child is started" wait_until child_of $parent
child_of
kill -9 "$child"
begin=$SECONDS
wait $parent
check "its parent ends with an error" [ $? = 4 ]
check "soon" [ $((SECONDS - begin)) -lt 20 ]
check "and names it" grep -q "rank 1[ ,(].*has ended" said.early

# Ranks that are killed at random, in runs that go on with 4, 2, 1 process in turn.
seed=${GRM_KILL_SEED:-$$}
RANDOM=$seed
kills=${GRM_RANK_KILLS:-4}
worlds=(4 2)
undisturbed=("${run[@]}" --epochs $((10 * kills + 10)))
check "undisturbed" "$grm" "${undisturbed[@]}" --out undisturbed
for ((k = 0; k < kills; ++k)); do
  world=${worlds[$((k % 2))]}
  start $world "$grm" "${undisturbed[@]}" --out killed --resume
  # Ten more epochs than before, or its end.
  check "epoch $((10 * k + 3)) is reached" wait_until reaches killed $((10 * k + 3))
  victim=$((RANDOM % world))
  kill -9 "${ranks[$victim]}" 2> /dev/null
  wait "${ranks[$victim]}" 2> /dev/null
  all_end 8 $victim "rank $victim[ ,(].*has ended"
done
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
check "one process ends the run" "$grm" "${undisturbed[@]}" --out killed --resume
check "one folder" [ "$(ls killed/sbm/grm | wc -l)" = 1 ]
check "the model of an undisturbed run" [ "$(model_of killed)" = "$(model_of undisturbed)" ]
check "and its metrics" [ "$(essence killed)" = "$(essence undisturbed)" ]
check "runs were resumed" grep -q "resuming after epoch" killed/sbm/grm/*/log.txt
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"

# A rank that hangs: a member, then the one that keeps the store.
for victim in 1 0; do
  start 3 "$grm" "${long[@]}" --set train.shards=3 --out hung$victim
  check "it runs" wait_until reaches hung$victim 3
  kill -STOP "${ranks[$victim]}"
  all_end 14 $victim "rank $victim[ ,(].*no sign of life"
  kill -9 "${ranks[$victim]}"
  wait "${ranks[$victim]}" 2> /dev/null
done

# A store that the launcher keeps, as torchrun does, and loses.
if /usr/bin/python3 -c 'import torch.distributed' 2> /dev/null; then
  /usr/bin/python3 -c '
import datetime, sys, time, torch.distributed as dist
store = dist.TCPStore("127.0.0.1", 0, None, True, datetime.timedelta(seconds=30), False)
print(store.port, flush=True)
time.sleep(120)' > port 2> /dev/null &
  keeper=$!
  check "a store is there" wait_until test -s port
  export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$(cat port) TORCHELASTIC_USE_AGENT_STORE=True
  ranks=()
  for rank in 0 1; do
    RANK=$rank "$grm" "${long[@]}" --out storeless > /dev/null 2> said.$rank &
    ranks+=($!)
  done
  check "it runs with that store" wait_until reaches storeless 3
  kill -9 $keeper
  wait $keeper 2> /dev/null
  all_end 8 none "the store at 127.0.0.1:$MASTER_PORT is lost"
  unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT TORCHELASTIC_USE_AGENT_STORE
else
  echo "skipped: python3-torch, which keeps a store, is not installed"
fi

# An interrupt that one rank gets stops all of them with a checkpoint.
start 2 "$grm" "${long[@]}" --out stopped
check "it runs" wait_until reaches stopped 3
kill -INT "${ranks[1]}"
for rank in 0 1; do
  wait "${ranks[$rank]}"
  check "rank $rank was interrupted" [ $? = 130 ]
done
check "a checkpoint is there" test -s stopped/sbm/grm/*/state.safetensors

# Ranks that would part are told so before they train.
start 2 bash -c 'exec "$0" "$@" --threads $((RANK + 1))' "$grm" "${base[@]}" --epochs 3 --out parted
for rank in 0 1; do
  wait "${ranks[$rank]}"
  check "rank $rank refuses" [ $? = 2 ]
done
check "rank 1 says why" grep -q "rank 1 computes with another arithmetic than rank 0 (threads: 1, now 2)" said.1
finish
