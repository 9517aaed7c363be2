#!/usr/bin/env bash
# A study on a real Slurm, of this one machine: tasks are killed and queued again, whoever follows them is killed and
# comes again, and the table is that of an undisturbed run on SQLite.
source "$(dirname "$0")/lib.sh" "$@"
source "$source_dir/tests/cli/services.sh"
start_service slurm
export SLURM_CONF=$work/slurm/slurm.conf
cat > s.toml <<'TOML'
name = "s, on slurm"
seeds = 4
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
dataset.blocks = 4
train.epochs = 12
train.eval_every = 3
train.test = "selected"
[[when]]
method = "erm"
set.train.epochs = 6000
set.train.eval_every = 100
TOML
flags=(--threads 1 --checkpoint-seconds 0.1)
check "an undisturbed study in a file" "$grm" study run s.toml --jobs 2 "${flags[@]}" -q --db straight.db --out straight

# Messages.
expect_exit 2 "with a file" "$grm" study run s.toml --on slurm --db results.db
check "is refused" grep -q "SQLite file" err
mkdir empty
expect_exit 2 "without Slurm" env PATH="$work/empty" "$grm" study run s.toml --on slurm --db "$url"
check "says what is missing, and what to do" grep -q "sbatch, which is not in \$PATH.*--on workers" err
expect_exit 2 "with a password" "$grm" study run s.toml --on slurm --db "postgresql://postgres:secret@/postgres?host=$work/postgres"
check "which belongs into a file" grep -q pgpass err
expect_exit 2 "a partition that does not exist" "$grm" study run s.toml --on slurm --partition none --db "$url"
check "is Slurm's to refuse" grep -qi "sbatch refused a job: .*partition" err

follow=("$grm" study run s.toml --on slurm "${flags[@]}" --patience 4 --tasks-at-once 2 --time 10 --db "$url" --out tasks)
tasks() { squeue -h -r -t PENDING,RUNNING -o '%A %T %j' | grep -v table; }
"${follow[@]}" > follow.out 2>&1 &
follower=$!
check "tasks run" wait_until bash -c "squeue -h -t RUNNING | grep -q ."

# The follower dies and comes again: it follows the same jobs.
kill -9 $follower
wait $follower 2> /dev/null
before=$(squeue -h -r -o %F | sort -u | wc -l)
"${follow[@]}" > follow2.out 2>&1 &
follower=$!
sleep 4
check "no job was submitted twice" bash -c "! grep -q 'tasks of Slurm' follow2.out"
[ "$before" -ge 1 ] || echo "the first array had ended already"

seed=${GRM_KILL_SEED:-$$}
RANDOM=$seed
kills=0 requeues=0
for round in $(seq 6); do
  kill -0 $follower 2> /dev/null || break
  sleep 1.$((RANDOM % 90 + 10))
  job=$(squeue -h -r -t RUNNING -o %A | shuf -n 1 --random-source=<(yes "$seed$round"))
  [ -n "$job" ] || continue
  if [ $((round % 2)) = 0 ]; then
    scontrol requeue "$job" 2> /dev/null && requeues=$((requeues + 1))
  else
    # The batch script has become the worker.
    for process in $(pgrep -f -- "--job slurm-$job\$"); do
      kill -9 "$process" 2> /dev/null && kills=$((kills + 1))
    done
  fi
done
wait $follower
check "the follower saw it end" [ $? = 0 ]

"$grm" study status "s, on slurm" --db "$url" --json > killed.json
"$grm" study status "s, on slurm" --db straight.db --json > straight.json
check "all cells are done" jq -e '(.cells | length) == 8 and all(.cells[]; .state == "done")' killed.json
essence='[.cells[] | {dataset, method, variant, seed, chosen}]'
check "the results are those of the undisturbed study" \
  [ "$(jq -c "$essence" killed.json)" = "$(jq -c "$essence" straight.json)" ]
check "each cell was finished in one folder" bash -c "[ \$(find tasks -name summary.json | wc -l) = 8 ]"
"$grm" study table "s, on slurm" --db straight.db --out straight.txt
check "a job at the end wrote the table" wait_until cmp straight.txt tasks/slurm/s__on_slurm/table.txt
expect_exit 0 "another run has nothing to do" "${follow[@]}" --json
check "and submits nothing" bash -c "! grep -q 'tasks of Slurm' err"
check "and says so" jq -e '.states == {"done": 8}' out

# Several cells for a task, and a search.
cat > t.toml <<'TOML'
name = "t"
methods = ["erm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
train.epochs = 3
[tune]
trials = 3
[tune.space]
"method.lr" = [0.01, 0.05]
TOML
expect_exit 0 "a search, in one task for each phase" "$grm" study tune t.toml --on slurm "${flags[@]}" --cells-per-task 4 \
  --db "$url" --out tasks
check "of several cells" grep -q "3 cells in 1 tasks of Slurm" err
check "and its winner" grep -q "1 cells in 1 tasks of Slurm" err
echo "$kills kills, $requeues requeues, $(jq '[.cells[].attempts] | add' killed.json) attempts at 8 cells," \
  "$(cat tasks/*/*/*/log.txt | grep -c 'resuming after epoch') from a checkpoint"
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"
finish
