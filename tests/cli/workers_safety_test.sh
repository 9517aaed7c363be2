#!/usr/bin/env bash
# What may happen to workers on a PostgreSQL: a silent one, one without the data, a server that is started anew,
# searches, several studies, databases that are not there.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
source "$source_dir/tests/cli/services.sh"
psql=$(ls /usr/lib/postgresql/*/bin/psql 2> /dev/null | tail -1)
sql() { "${psql:-psql}" -qtAX "$url" -c "$1"; }
cat > s.toml <<'TOML'
name = "s"
seeds = 2
methods = ["erm"]
datasets = ["sbm"]
[set]
dataset.nodes = 40
dataset.blocks = 4
train.epochs = 4
train.test = "selected"
TOML
flags=(--threads 1 -q --db "$url")

# The store's own tests, on this server.
tests=$(dirname "$grm")/study_tests
if [ -x "$tests" ]; then
  check "the store's tests on a server" env GRM_TEST_DATABASE="$url" "$tests" --gtest_filter='StoreTest.*'
  sql 'DROP TABLE IF EXISTS cell, study, worker, grm_results'
else
  echo "skipped: study_tests are not built"
fi

# Messages.
expect_exit 3 "a database without tables" "$grm" study status --db "$url"
check "says what makes them" grep -q "not a result database" err
expect_exit 3 "no server" "$grm" study status --db "postgresql://nobody:secret@/x?host=$work/none"
check "is named, without the password" bash -c 'grep -q "nobody@" err && ! grep -q secret err'
expect_exit 2 "workers on a file" "$grm" study work --db results.db
check "is refused, with what to do" grep -q "postgresql://HOST/NAME" err
check "and makes no file" [ ! -e results.db ]
expect_exit 2 "--on workers with a file" "$grm" study run s.toml --on workers --db results.db
check "is refused" grep -q "SQLite file" err

# A study of one's own on the server, as with a file.
expect_exit 0 "run on a server" "$grm" study run s.toml --jobs 2 "${flags[@]}" --out runs
expect_exit 0 "again, with nothing to do" "$grm" study run s.toml --jobs 2 "${flags[@]}" --out runs --json
check "did nothing" jq -e '.states == {"done": 2} and .processes == 0' out
expect_exit 0 "a report of it" "$grm" report --study s --db "$url" --out s.html --no-data
expect_exit 2 "an unknown study" "$grm" study work t --db "$url"
expect_exit 0 "a worker with nothing to do" "$grm" study work "${flags[@]}"

# A silent worker (SIGSTOP) loses its cell after its patience; when it wakes it notices, and does no harm.
sed 's/name = "s"/name = "slow"/; s/seeds = 2/seeds = 1/; s/epochs = 4/epochs = 4000/' s.toml > slow.toml
"$grm" study run slow.toml --on workers "${flags[@]}" --out runs > planner.out 2>&1 &
planner=$!
states() { "$grm" study status slow --db "$url" --json | jq -e "$1"; }
check "planned" wait_until states '.cells | length == 1'
"$grm" study work slow --jobs 1 "${flags[@]}" --patience 1 --checkpoint-seconds 0.2 --out silent 2> silent.err > silent.out &
silent=$!
check "the first worker has the cell" wait_until states '.workers[0].running == 1 and .workers[0].slots == 1'
check "of whom status tells" states '.workers[0] | .alive and .process == '$silent' and .host != "" and .silent_seconds < 60'
check "and its child trains" wait_until bash -c 'compgen -G "silent/sbm/erm/*/metrics.jsonl"'
child=$(pgrep -P $silent | head -1)
kill -STOP $silent $child
"$grm" study work slow --jobs 1 "${flags[@]}" --patience 1 --checkpoint-seconds 0.2 --out runs > second.out 2>&1 &
second=$!
check "another one takes the cell" wait_until states '.cells[0].attempts == 2 and (.workers | length) == 1'
kill -CONT $silent $child
wait $second
check "and finishes it" [ $? = 0 ]
wait $silent
check "the silent one ends" [ $? = 0 ]
check "having noticed" grep -q "silent for too long" silent.err
wait $planner
check "the planner saw the end" [ $? = 0 ]
check "the cell is the second's" states '(.cells[0].folder | startswith("runs/")) and .cells[0].state == "done"'

# A cluster that ends a job ends all of its processes, a child before it can hear: the cell is free, and has not failed.
sed 's/name = "slow"/name = "ended"/; s/nodes = 40/nodes = 41/' slow.toml > ended.toml
"$grm" study run ended.toml --on workers "${flags[@]}" --out runs > planner.out 2>&1 &
planner=$!
check "planned" wait_until bash -c "'$grm' study status ended --db '$url'"
"$grm" study work ended --jobs 1 "${flags[@]}" --out runs > ended.out 2>&1 &
worker=$!
check "the worker has a child" wait_until pgrep -P $worker
kill -TERM "$(pgrep -P $worker | head -1)"
sleep 0.02
kill -TERM $worker
wait $worker
check "the worker is ended by the signal" [ $? = 130 ]
"$grm" study status ended --db "$url" --json > out
check "its cell is free" jq -e '.states == {"todo": 1} and .workers == []' out
kill -INT $planner
wait $planner

# A server that crashes and comes back in the middle of a study.
sed 's/name = "s"/name = "crash"/; s/seeds = 2/seeds = 6/; s/epochs = 4/epochs = 2000/' s.toml > crash.toml
"$grm" study run crash.toml --jobs 2 "${flags[@]}" --out crash > crash.out 2>&1 &
process=$!
check "it has begun" wait_until bash -c "'$grm' study status crash --db '$url' --json | jq -e '.states.running >= 1'"
bash "$support/postgres.sh" crash "$work/postgres"
sleep 1
bash "$support/postgres.sh" again "$work/postgres"
wait $process
check "the study goes on after a crash of the server" [ $? = 0 ]
"$grm" study status crash --db "$url" --json > out
check "with every cell done" jq -e '[.cells[].state] | length == 6 and all(. == "done")' out
check "and a rate" jq -e '.cells_per_hour > 100 and .seconds_left == 0 and .workers == []' out

# Cells whose data is not here are left to others.
sed 's/name = "s"/name = "far"/; s/\["sbm"\]/["sbm", "cora"]/; /^dataset\./d' s.toml > far.toml
printf '[[when]]\ndataset = "sbm"\nset.dataset.nodes = 48\n' >> far.toml
"$grm" study run far.toml --on workers "${flags[@]}" --out runs > planner.out 2>&1 &
planner=$!
check "planned" wait_until bash -c "'$grm' study status far --db '$url'"
expect_exit 0 "a worker without Cora" "$grm" study work far "${flags[@]}" --out runs
"$grm" study status far --db "$url" --json > out
check "did what it could" jq -e '.states == {"done": 2, "todo": 2}' out
kill -INT $planner
wait $planner
check "Ctrl-C ends the planner" [ $? = 130 ]
check "and says that others go on" grep -q "follows it again; others go on" planner.out
sql "DELETE FROM cell WHERE study = 'far'; DELETE FROM study WHERE name = 'far'"

# A search: whoever ends the last trial plans the winners' runs. Two workers that take a few cells each.
sed 's/name = "s"/name = "search"/' s.toml > search.toml
printf '[tune]\ntrials = 3\nseeds = 1\n[tune.space]\n"method.lr" = [0.01, 0.05]\n' >> search.toml
"$grm" study tune search.toml --on workers "${flags[@]}" --out runs > planner.out 2>&1 &
planner=$!
check "planned" wait_until bash -c "'$grm' study status search --db '$url'"
expect_exit 0 "a worker that takes one cell" "$grm" study work search "${flags[@]}" --cells 1 --out runs
"$grm" study status search --db "$url" --json > out
check "took one" jq -e '.states.done == 1' out
"$grm" study work search --jobs 1 "${flags[@]}" --out runs > /dev/null 2>&1 &
worker=$!
expect_exit 0 "one of two workers" "$grm" study work --jobs 1 "${flags[@]}" --out runs
wait $worker
check "the other one" [ $? = 0 ]
wait $planner
check "the planner" [ $? = 0 ]
"$grm" study tune search.toml --jobs 2 --threads 1 -q --db search.db --out file
"$grm" study status search --db "$url" --json > out
"$grm" study status search --db search.db --json > in_file
essence='[.winners, [.cells[] | {phase, dataset, method, variant, trial, seed, chosen}]]'
check "the search is that of one machine" [ "$(jq -c "$essence" out)" = "$(jq -c "$essence" in_file)" ]
check "no trial has test scores" jq -e 'all(.cells[] | select(.phase == "trial") | .chosen[]; .test == [])' out

# A worker that waits takes what comes later.
sed 's/name = "s"/name = "later"/; s/seeds = 2/seeds = 3/; s/nodes = 40/nodes = 44/' s.toml > later.toml
"$grm" study work --wait "${flags[@]}" --jobs 1 --out runs > waiting.out 2>&1 &
waiting=$!
expect_exit 0 "a study that comes later" timeout 60 "$grm" study run later.toml --on workers "${flags[@]}" --out runs
kill -TERM $waiting
wait $waiting
check "the waiting worker is ended by a signal" [ $? = 130 ]
expect_exit 0 "status of all as text" "$grm" study status --db "$url"
check "no worker is left" [ "$(sql 'SELECT COUNT(*) FROM worker')" = 0 ]
finish
