#!/usr/bin/env bash
# A run that goes on with another arithmetic says so: env.json names each leg, a warning names what
# differs, --strict refuses. A run that goes on as it began is silent.
source "$(dirname "$0")/../cli/lib.sh" "$@"
export OMP_WAIT_POLICY=passive
args=(train --dataset sbm --set dataset.nodes=150 --method erm --set train.checkpoint_seconds=0 -q)
# begin NAME THREADS: a run that is killed after some epochs.
begin() {
  "$grm" "${args[@]}" --epochs 100000 --threads "$2" --out "$1" > /dev/null 2>&1 &
  local process=$!
  wait_until bash -c "ls $1/sbm/erm/*/state.safetensors"
  kill -9 $process
  wait $process 2> /dev/null
}
# go_on NAME FLAGS...: the same run until its next checkpoint, then Ctrl-C; the program's exit code.
go_on() {
  local name=$1
  shift
  touch marker
  "$grm" "${args[@]}" --epochs 100000 --out "$name" --resume "$@" &
  local process=$!
  wait_until bash -c "! kill -0 $process || [ -n \"\$(find $name -name state.safetensors -newer marker)\" ]"
  kill -INT $process 2> /dev/null
  wait $process
}
env_of() { jq "${@:2}" "$1"/sbm/erm/*/env.json; }

begin same 1
check "the first leg names its arithmetic" env_of same -e '.legs | length == 1 and (.[0] |
  .from_epoch == 1 and .threads == 1 and (.blas | length > 0) and has("blas_core") and
  (.cpu_capability | test("AVX|DEFAULT|VSX|Z|NEON"; "i")) and (.device | test("cpu")) and
  has("grm") and has("git") and has("torch") and has("started"))'
expect_exit 130 "a run that goes on as it began" go_on same --threads 1 --strict
check "without a warning" bash -c "! grep -q warning err"
check "has a second leg" env_of same -e '.legs | length == 2 and .[1].from_epoch > 1 and
  (.[0] | del(.from_epoch, .started)) == (.[1] | del(.from_epoch, .started))'

begin other 1
state=$(sha256sum other/sbm/erm/*/state.safetensors)
before=$(env_of other -c .)
expect_exit 2 "other threads with --strict" go_on other --threads 2 --strict
check "are named" grep -q "threads: 1, now 2" err
check "and nothing is touched" [ "$state$before" = \
  "$(sha256sum other/sbm/erm/*/state.safetensors)$(env_of other -c .)" ]
expect_exit 130 "other threads" go_on other --threads 2
check "are warned of" grep -q "warning: .*another arithmetic (threads: 1, now 2)" err
check "and written down" env_of other -e '.threads == 1 and ([.legs[].threads] == [1, 2])'
expect_exit 2 "a mixed run stays mixed" go_on other --threads 2 --strict
check "and has no leg of a refused process" env_of other -e '.legs | length == 2'

# A leg that is killed before its first checkpoint leaves no epoch behind, and no leg.
env_file=$(echo other/sbm/erm/*/env.json)
jq '.legs += [.legs[1] | .from_epoch = 99999999 | .threads = 7]' "$env_file" > changed
cp changed "$env_file"
expect_exit 130 "after a leg that left nothing" go_on other --threads 2
check "that leg is gone" env_of other -e '[.legs[].threads] == [1, 2, 2]'

# Another BLAS core, where OpenBLAS has one to choose.
if [ -n "$(env_of same -r '.blas_core')" ]; then
  OPENBLAS_CORETYPE=Prescott begin core 1
  if [ "$(env_of core -r .blas_core)" != "$(env_of same -r .blas_core)" ]; then
    OPENBLAS_CORETYPE=$(env_of same -r .blas_core) \
      expect_exit 2 "another BLAS core with --strict" go_on core --threads 1 --strict
    check "is named" grep -q "blas_core: $(env_of core -r .blas_core), now " err
  fi
fi
# Another capability of torch.
expect_exit 2 "another CPU capability" env ATEN_CPU_CAPABILITY=default \
  "$grm" "${args[@]}" --epochs 100000 --threads 1 --out same --resume --strict
check "is named" grep -q "cpu_capability: .*, now " err

# Kernels of ours for another level of x86-64.
env_file=$(echo same/sbm/erm/*/env.json)
cp "$env_file" own
jq '.legs[-1].kernels = "v9"' own > "$env_file"
expect_exit 2 "other kernels with --strict" go_on same --threads 1 --strict
check "are named" grep -q "kernels: v9, now " err
cp own "$env_file"

# Runs of before there were legs: the keys at the top are the first.
jq 'del(.legs, .blas_core, .cpu_capability)' "$env_file" > changed
cp changed "$env_file"
expect_exit 2 "an old run with other threads" go_on same --threads 2 --strict
expect_exit 130 "an old run as it began" go_on same --threads 1 --strict
check "gets its legs" env_of same -e '[.legs[].threads] == [1, 1]'
echo '{"legs": 3}' > "$env_file"
expect_exit 3 "a damaged environment" go_on same --threads 1
check "is told with its path" grep -q "env.json: damaged" err
finish
