#!/usr/bin/env bash
# Limits of memory end in a message, soon, and never in a program that cannot be stopped.
source "$(dirname "$0")/../cli/lib.sh" "$@"
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS
train=(train --dataset sbm --method erm --epochs 2 --set dataset.nodes=60)
if nm "$(dirname "$grm")/grm-engine" 2> /dev/null | grep -q __asan_init; then
  echo "skipped: the address sanitizer needs all of the address space"
  exit 77
fi

# within KIB COMMAND...: under ulimit -v, killed after 30 seconds.
within() {
  local limit=$1
  shift
  (ulimit -v "$limit" && exec timeout -s KILL 30 "$@")
}
for limit in 300000 600000 700000; do
  expect_exit 4 "too little address space: $limit" within $limit "$grm" "${train[@]}" --threads 1
  check "says why" grep -q "ulimit -v" err
  expect_exit 0 "help needs no room" within $limit "$grm" --help
done
expect_exit 4 "too little data" bash -c "ulimit -d 200000; exec timeout -s KILL 30 '$grm' methods"
check "says which" grep -q "ulimit -d 200000" err
expect_exit 4 "the same as JSON" within 600000 "$grm" "${train[@]}" --json
check "kind memory" jq -e '.error.kind == "memory"' out
expect_exit 0 "enough for one thread" within 1200000 "$grm" "${train[@]}" --threads 1
expect_exit 4 "but not for sixty" within 1200000 "$grm" "${train[@]}" --threads 60
check "says how many fit" grep -qE -- "--threads [1-9][0-9]* fits" err
expect_exit 4 "a run that does not fit is refused before it begins" within 1200000 "$grm" train \
  --dataset scale --method erm --threads 1 --set dataset.nodes=200000 --set method.hidden=4096
check "the limit is named" grep -q "left under ulimit -v" err

# Data larger than the limit: refused before it is read. Only its size is looked at, so a sparse file will do.
"$grm" data init big > /dev/null
mkdir -p big/first
truncate -s 8G big/first/nodes.csv
begin=$SECONDS
expect_exit 4 "data beyond the limit" within 4000000 "$grm" train --dataset ./big --method erm --threads 1
check "is not read" test $((SECONDS - begin)) -lt 20
check "says so" grep -q "reading .* needs at least 20" err
model=$source_dir/tests/fixtures/models/sbm-grm-format1.safetensors
mkdir new && truncate -s 8G new/nodes.csv
expect_exit 4 "prediction, too" within 4000000 "$grm" predict "$model" --data ./new --threads 1
check "says so" grep -q "reading .* needs at least 20" err
expect_exit 4 "a limit that is given counts" "$grm" predict "$model" --data sbm --memory-limit 50
check "says which" grep -q -- "--memory-limit" err
finish
