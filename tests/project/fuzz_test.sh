#!/usr/bin/env bash
# A short fuzzing of the readers of files, configurations, checkpoints and models. Compiling takes
# most of the time, once for each build folder. scripts/fuzz.sh runs all readers for as long as one
# likes, and the unit tests replay what it found. Skipped where there is no clang with libFuzzer.
build=$(cd "$(dirname "$1")" && pwd)
source_dir=$2
clang=
for name in clang++ clang++-{19,18,17,16,15,14}; do
  command -v $name > /dev/null && clang=$name && break
done
[ -n "$clang" ] || { echo "no clang++: apt-get install clang libclang-rt-dev"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' \
  > "$work/probe.cpp"
$clang -fsanitize=fuzzer,address "$work/probe.cpp" -o "$work/probe" 2> /dev/null ||
  { echo "clang has no libFuzzer: apt-get install libclang-rt-dev"; exit 77; }

failures=0
# Every kept input belongs to a reader that is fuzzed, and so to a test that replays it.
for folder in "$source_dir"/tests/fuzz/corpus/*/; do
  reader=$(basename "$folder")
  grep -qE "READERS .*\b$reader\b" "$source_dir/cmake/fuzz.cmake" &&
    grep -qE "\{\"$reader\", $reader\}" "$source_dir"/tests/fuzz/*_targets.h ||
    { echo "FAILED: nobody reads tests/fuzz/corpus/$reader"; failures=$((failures + 1)); }
done

for program in io train serve; do
  cmake --build "$build" --target fuzz_$program > "$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log"; exit 1; }
done
export TMPDIR=$work ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1
for reader in csv npz idx mat json_lists sst2 safetensors pickle planetoid checkpoint model record \
  config study http_head http_body; do
  mkdir -p "$work/grown/$reader"
  if ! "$build/fuzz/fuzz_$reader" "$work/grown/$reader" "$source_dir/tests/fuzz/corpus/$reader" \
    -max_total_time="${GRM_FUZZ_SECONDS:-1}" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="$work/" > "$work/log" 2>&1; then
    echo "FAILED: $reader"
    tail -n 40 "$work/log"
    failures=$((failures + 1))
  fi
  echo "$reader: $(grep -E '^Done' "$work/log")"
done
exit $failures
