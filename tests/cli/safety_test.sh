#!/usr/bin/env bash
# Full disks, folders that cannot be written, files that cannot be read: exit code 3, a message with
# path and reason, and everything that was there before is as it was. Clocks that jump, names with
# quotes. And what progress and the doctor show.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive  # spares the program its restart
args=(--dataset sbm --set dataset.nodes=200 --method erm --set train.eval_every=5
  --set train.checkpoint_seconds=0 --threads 1 -q)
content() { find "$1" -type f ! -name log.txt -print0 | sort -z | xargs -0 sha256sum; }

# A limit on file sizes refuses in the middle of a write, as a full disk does.
expect_exit 0 "a run" "$grm" train "${args[@]}" --epochs 10 --out runs
before=$(content runs/sbm)
for limit in 1 4 16; do
  expect_exit 3 "a limit of $limit KiB" bash -c \
    "ulimit -f $limit; exec '$grm' train ${args[*]} --epochs 11 --out runs/limit$limit"
  check "path and reason are told" grep -qE "grm: .*runs/limit$limit/.* failed: File too large" err
  check "the old run is as it was" [ "$(content runs/sbm)" = "$before" ]
  check "no half of a file is left" [ -z "$(find runs -name '*.tmp*')" ]
done

# An interrupted run whose disk fills up keeps its checkpoint and goes on when there is room again.
"$grm" train "${args[@]}" --epochs 400 --out full > /dev/null 2>&1 &
process=$!
wait_until bash -c "ls full/sbm/erm/*/state.safetensors"
kill -9 $process
wait $process 2> /dev/null
run=$(echo full/sbm/erm/*)
sum=$(sha256sum "$run/state.safetensors")
expect_exit 3 "no room for the next checkpoint" bash -c \
  "ulimit -f 4; exec '$grm' train ${args[*]} --epochs 400 --out full --resume"
check "the message says how to resume" grep -q -- "--resume continues from the last checkpoint" err
check "the checkpoint is the old one" [ "$(sha256sum "$run/state.safetensors")" = "$sum" ]
check "and the run resumes from it" "$grm" train "${args[@]}" --epochs 400 --out full --resume
check "in the same folder" [ "$(echo full/sbm/erm/*)" = "$run" ]
check "to the bits of an undisturbed run" bash -c "
  '$grm' train ${args[*]} --epochs 400 --out plain > /dev/null 2>&1
  cmp full/sbm/erm/*/model.safetensors plain/sbm/erm/*/model.safetensors"

# A clock that jumps by years: names of folders carry its time, nothing else depends on it.
if ${CC:-cc} -shared -fPIC -O1 -o jumps.so "$source_dir/tests/cli/clock_jumps.c" -ldl; then
  jumping() { LD_PRELOAD=$work/jumps.so "$grm" train "${args[@]}" --epochs 400 --out jumps "$@"; }
  # Not the function: the kill below must hit the program, not a shell that waits for it.
  (LD_PRELOAD=$work/jumps.so exec "$grm" train "${args[@]}" --epochs 400 --out jumps) > /dev/null 2>&1 &
  process=$!
  wait_until bash -c "ls jumps/sbm/erm/*/state.safetensors"
  kill -9 $process
  wait $process 2> /dev/null
  check "the preloaded clock is the program's" bash -c \
    "! ls -d jumps/sbm/erm/$(date +%Y)* 2> /dev/null"
  expect_exit 0 "a run that resumes in another year" jumping --resume
  check "is the same run" [ "$(ls jumps/sbm/erm | wc -l)" = 1 ]
  check "with the same bits" bash -c \
    "cmp jumps/sbm/erm/*/model.safetensors plain/sbm/erm/*/model.safetensors"
  check "and no time runs backwards" bash -c \
    "jq -s -e 'all(.[]; .seconds >= 0 and .seconds < 60)' jumps/sbm/erm/*/metrics.jsonl"
  expect_exit 0 "and what is finished is found" jumping --resume
  check "in the same folder" [ "$(ls jumps/sbm/erm | wc -l)" = 1 ]
fi

# A real full disk, where mounting is allowed.
mkdir disk
if mount -t tmpfs -o size=128k none disk 2> /dev/null; then
  trap 'umount "$work/disk"; rm -rf "$work"' EXIT
  expect_exit 3 "a full disk" "$grm" train "${args[@]}" --epochs 3000 --out disk/runs
  check "path and reason are told" grep -qE "grm: disk/runs/.*No space left on device" err
  check "no half of a file is left" [ -z "$(find disk -name '*.tmp*')" ]
  head -c 200000 /dev/zero > disk/filler 2> /dev/null
  GRM_CACHE=disk/cache expect_exit 0 "a full cache costs nothing but time" "$grm" train \
    --dataset sbm --set dataset.nodes=200 --method grm --epochs 1 --out cached -q
  check "and is told" grep -q "warning: .*No space left" err
  expect_exit 3 "output that does not fit" bash -c "'$grm' methods --json > disk/methods.json"
  check "is told" grep -q "standard output: writing failed: No space left" err
  mount -o remount,ro disk
  expect_exit 3 "a read-only disk" "$grm" train "${args[@]}" --epochs 1 --out disk/more
  check "is told" grep -q "grm: disk/more.*Read-only file system" err
else
  echo "mounting is not allowed: the full disk is a size limit only"
fi
expect_exit 3 "output to a full device" bash -c "'$grm' methods --json > /dev/full"

# Folders that cannot be made and files that cannot be read.
touch file
expect_exit 3 "a run below a file" "$grm" train "${args[@]}" --epochs 1 --out file/runs
check "path and reason are told" grep -q "grm: file/runs.*Not a directory" err
GRM_CACHE=file/cache expect_exit 0 "a cache below a file" "$grm" train --dataset sbm \
  --set dataset.nodes=200 --method grm --epochs 1 --out cached2 -q
check "is told and costs nothing but time" grep -q "warning: .*file/cache" err
expect_exit 3 "a model that cannot be read" "$grm" eval /proc/self/mem
check "path and reason are told" grep -q "grm: /proc/self/mem: reading failed: Input/output error" err
expect_exit 3 "a configuration that is a folder" "$grm" train --config runs
cp -r plain damaged
run=$(echo damaged/sbm/erm/*)
rm "$run/summary.json"
: > "$run/metrics.jsonl"
expect_exit 3 "a run that lost its metrics" "$grm" train "${args[@]}" --epochs 400 --out damaged --resume
check "is told" grep -q "metrics.jsonl: has 0 bytes" err

# A name with quotes and a space survives training, resuming, scoring and prediction.
own=$work/"my \"own\" data's"
mkdir "$own"
printf '%s\n' 'name = "own"' 'domain = "d"' '[train]' 'domains = ["a"]' '[validation]' \
  'domains = ["b"]' > "$own/dataset.toml"
awk -v folder="$own/" 'BEGIN {
  nodes = folder "nodes.csv"; edges = folder "edges.csv"
  print "id,label,d,x,y" > nodes; print "source,target" > edges
  for (i = 0; i < 60; ++i) {
    printf "%d,%d,%s,%g,%g\n", i, i % 2, i < 30 ? "a" : "b", i % 2 + i % 7 / 7, i % 5 > nodes
    printf "%d,%d\n", i, i < 30 ? (i + 2) % 30 : 30 + (i - 28) % 30 > edges
  } }'
quoted=(train --dataset "$own" --method erm --set train.checkpoint_seconds=0 --threads 1 -q)
expect_exit 0 "own data in a folder with quotes" "$grm" "${quoted[@]}" --epochs 30 --out straight
"$grm" "${quoted[@]}" --epochs 3000 --out stopped > /dev/null 2> err &
process=$!
wait_until bash -c "ls stopped/own/erm/*/state.safetensors"
kill -INT $process
wait $process
check "Ctrl-C names a command" grep -q -- "--resume" err
expect_exit 0 "which resumes" timeout 100 bash -c "$(tail -n 1 err)"
check "in the same run" [ "$(ls stopped/own/erm | wc -l)" = 1 ]
expect_exit 0 "eval" "$grm" eval straight/own/erm/*
expect_exit 0 "predict" "$grm" predict straight/own/erm/* --data "$own" --out predictions.csv
check "60 predictions" [ "$(wc -l < predictions.csv)" = 61 ]
expect_exit 0 "the configuration it left behind" "$grm" train --config straight/own/erm/*/config.toml \
  --out again -q
check "leads to the same bits" bash -c \
  "cmp straight/own/erm/*/model.safetensors again/own/erm/*/model.safetensors"

# Two programs never work in the same run.
"$grm" train "${args[@]}" --epochs 100000 --out shared > /dev/null 2>&1 &
process=$!
wait_until bash -c "ls shared/sbm/erm/*/state.safetensors"
expect_exit 3 "a second program in the same run" "$grm" train "${args[@]}" --epochs 100000 \
  --out shared --resume
check "is told" grep -q "another process works in this run" err
kill -9 $process
wait $process 2> /dev/null

# Progress: a line every tenth off a terminal, one line that fits on it.
show=(--dataset sbm --set dataset.nodes=200 --method grm --epochs 20 --out shown)
expect_exit 0 "a run that is watched" "$grm" train "${show[@]}"
check "ten lines" [ "$(grep -cE '^grm seed 1000  [0-9]+/20' err)" = 10 ]
check "rate, terms by name, validation, time left" grep -qE \
  '18/20  .*(epochs/s|s/epoch)  loss .*supervision .*invariance .*val [0-9.]+ \(best [0-9.]+\).* left' err
check "at the end, the time it took" grep -qE '20/20  .*  took [0-9]+ s$' err
if command -v script > /dev/null; then
  for width in 40 80 200; do
    script -qec "stty cols $width; exec '$grm' train ${show[*]}" typescript > /dev/null
    longest=$(tr '\r' '\n' < typescript | sed 's/\x1b\[[0-9;]*[mK]//g' | grep -aE '^grm seed [0-9]+  ' |
      LC_ALL=C.UTF-8 wc -L)
    check "the line fits $width columns" [ "$longest" -gt 20 -a "$longest" -lt $width ]
  done
fi

# The doctor.
expect_exit 0 "doctor" "$grm" doctor --json
check "it looks at all it should" jq -e '[.checks[].check] | contains(["torch", "threads", "blas",
  "sgemm", "cuda", "memory", "disk, here", "cache", "gnuplot", "graphviz", "chromium",
  "clang", "nvcc", "data root"])' out
check "what is to be fixed has advice" jq -e 'all(.checks[]; .ok or (.advice | length) > 0)' out
check "CUDA: what this build has" jq -e '.checks[] | select(.check == "cuda") | .value | test("CPU only; .*GPU")' out
for reference in /usr/lib/*/blas/libblas.so.3; do
  [ -e "$reference" ] || continue
  LD_LIBRARY_PATH=${reference%/*}:${reference%/blas/*}/lapack expect_exit 0 "doctor" "$grm" doctor --json
  check "the reference BLAS is to be fixed" jq -e '.checks[] | select(.check == "blas") |
    .level == "fix" and (.value | test("libblas")) and (.advice | test("14 times slower.*libopenblas"))' out
done
GRM_CACHE=file/cache expect_exit 3 "doctor --strict" "$grm" doctor --strict
check "the fix is named" grep -q "set GRM_CACHE to a folder that can be written" out
mkdir -p data/twitch/DE
echo x > data/twitch/DE/musae_DE_target.csv
expect_exit 0 "doctor --hashes" "$grm" doctor --hashes --data-root data --json
check "hashes are those of sha256sum" jq -e \
  --arg h "$(sha256sum data/twitch/DE/musae_DE_target.csv | cut -d' ' -f1)" \
  '.checks[] | select(.check == "data twitch") | .level == "fix" and .files[0].sha256 == $h' out
mkdir -p cache/data
touch cache/data/x.safetensors.tmp12-3
expect_exit 0 "doctor with leftovers" "$grm" doctor --json
check "leftovers of killed writers are told" jq -e \
  '.checks[] | select(.check == "cache") | .advice | test("^1 unfinished file ")' out
finish
