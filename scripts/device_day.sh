#!/usr/bin/env bash
# device_day.sh STEP...: everything that only a machine with a GPU can show, in few calls of bounded time. A step that
# fails is named at the end and does not stop the next one; what a step prints and makes lies in $OUT (default: device-day/).
#   scripts/device_deps.sh                                  before, where packages can be installed
#   MINUTES=9 scripts/device_day.sh build tests speed       there
# Steps:
#   build       the program and the tests that need a GPU (scripts/device_build.sh)
#   tests       cuda_selftest and cuda_tests
#   sanitizer   compute-sanitizer, memcheck and racecheck, on small cases of all kernels
#   speed       epochs of every method on Twitch, SP-Motif and Molhiv (bench/gpu.sh), one JSON line each
#   peers       beside PyTorch Geometric (bench/peers.sh)
#   hundred     a study of 100 short runs (bench/gpu_study.toml)
#   NAME.toml   a study: its database, its table and its runs as CSV; a second call goes on where $STATE keeps the database.
#               A study of searches is named tune:NAME.toml
# MINUTES bounds all steps together, GRM_DATA names the folder of the data, STATE a folder that stays (default: build-cuda/).
# GRM=build/grm DEVICE=cpu tries the steps of this script that need the program alone.
set -uo pipefail
cd "$(dirname "$0")/.."
case ${1:--h} in -h | --help) sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" && exit 0 ;; esac
export OUT=$(realpath -m "${OUT:-device-day}") STATE=$(realpath -m "${STATE:-build-cuda}")
mkdir -p "$OUT" "$STATE"
ends=$((SECONDS + 60 * ${MINUTES:-9}))
grm=${GRM:-build-cuda/grm} device=${DEVICE:-cuda}
failed=()

# step NAME COMMAND...: its output in $OUT/NAME.log, the last lines on the terminal.
step() {
  local name=$1 begin=$SECONDS left=$((ends - SECONDS)) state=ok
  shift
  if [ "$left" -le 5 ]; then
    echo "== $name: no time is left"
    failed+=("$name (not begun)")
    return 1
  fi
  timeout -k 10 "$left" "$@" > "$OUT/$name.log" 2>&1 || state="failed ($?)"
  tail -n 12 "$OUT/$name.log"
  echo "== $name: $state, $((SECONDS - begin)) s"
  [ "$state" = ok ] || failed+=("$name")
}

speed_of() {  # DATASET EPOCHS METHOD...
  local dataset=$1 epochs=$2
  shift 2
  mkdir -p "$STATE/speed"
  EPOCHS=$epochs OUT=$STATE/speed step "speed-$dataset" bench/gpu.sh "$grm" "$dataset" "$@"
  jq -c . "$STATE/speed/gpu-$dataset"-*.json > "$OUT/speed-$dataset.jsonl"
}

study() {  # run|tune FILE
  local name
  name=$(basename "$2" .toml)
  step "$name" "$grm" study "$1" "$2" --device "$device" --db "$STATE/$name.db" --out "$STATE/runs"
  "$grm" study export "$name" --db "$STATE/$name.db" --format runs --out "$OUT/$name-runs.csv" -q
  "$grm" study table "$name" --db "$STATE/$name.db" --format markdown --out "$OUT/$name.md" -q
  [ "$1" = run ] || "$grm" study export "$name" --db "$STATE/$name.db" --format runs --trials --out "$OUT/$name-trials.csv" -q
  cp "$STATE/$name.db" "$OUT/"
}

for each in "$@"; do
  case $each in
    build) step build scripts/device_build.sh ;;
    tests)
      step selftest build-cuda/cuda_selftest
      step cuda-tests build-cuda/cuda_tests --gtest_brief=1
      ;;
    sanitizer)
      for tool in memcheck racecheck; do
        step "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 1 build-cuda/cuda_selftest --small
      done
      ;;
    speed)
      speed_of twitch 50
      speed_of spmotif 3 erm dir gil ciga:v1 gala grm:paper grm:best grm:nodes
      speed_of molhiv 2 erm dir gil ciga:v1 gala grm:best
      ;;
    peers) step peers bench/peers.sh "$grm" --device "$device" ;;
    hundred)
      step hundred "$grm" study run bench/gpu_study.toml --device "$device" --db "$(mktemp -d)/results.db" --out "$STATE/runs"
      ;;
    tune:*.toml) study tune "${each#tune:}" ;;
    *.toml) study run "$each" ;;
    *) echo "device_day.sh: $each is no step; --help lists them" >&2 && failed+=("$each") ;;
  esac
done
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" && exit 1; }
