#!/usr/bin/env bash
# Fuzzes every reader for SECONDS each: scripts/fuzz.sh SECONDS [READER...]
# Inputs that crash, hang or take too much memory end up in BUILD/fuzz/found/; put the ones worth
# keeping into tests/fuzz/corpus/READER/, where the unit tests replay them.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: scripts/fuzz.sh SECONDS [READER...]}
shift
build=${BUILD:-build}
readers=("$@")
[ ${#readers[@]} -gt 0 ] || readers=($(ls tests/fuzz/corpus))
[ -f "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G Ninja > /dev/null
cmake --build "$build" --target fuzz
mkdir -p "$build/fuzz/found"
# Some readers take folders, which are made and removed for each input: in memory where possible.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
failed=()
for reader in "${readers[@]}"; do
  echo "== $reader"
  mkdir -p "$build/fuzz/grown/$reader"
  # New inputs go to the first folder; the kept ones stay as they are.
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=0 OMP_NUM_THREADS=1 \
    "$build/fuzz/fuzz_$reader" "$build/fuzz/grown/$reader" "tests/fuzz/corpus/$reader" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="$build/fuzz/found/$reader-" -print_final_stats=1 \
    > "$build/fuzz/$reader.log" 2>&1 || failed+=("$reader")
  grep -aE "^(stat::number_of_executed_units|Done|SUMMARY|allocation of|ERROR)" \
    "$build/fuzz/$reader.log" || true
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "found something: ${failed[*]}; see $build/fuzz/found and the logs beside it" >&2
  exit 1
fi
