#!/usr/bin/env bash
# Builds the Python package against python3's own torch (2.x of pip, with or without PyTorch Geometric), on a
# machine where nothing can be installed, and runs its tests and benchmarks there, those on a GPU too:
#   scripts/device_deps.sh       here; then carry the tree with .deps/ over, and there:
#   scripts/device_python.sh [facts] [build] [gpu] [tests] [bench] [overhead]     (no words: all of them)
# One log, a summary and JSON go to $OUT (default: build-python-device/out), as soon as a part is over. A part that fails
# does not keep the later ones from running; the last lines say what became of each, and the exit status is how many
# failed. Parts have times of their own (TIMES="build=360 tests=200"), so that a machine that is lent for minutes gives
# something; a later call finds what an earlier one built.
#   CUDA=OFF builds without a GPU. GRM_DATA names a folder with the published files (overhead on Twitch).
#   Arguments of cmake: CMAKE_ARGS="-DGRM_CUDA_ARCH=80".
# The parts are functions that a shell of their own calls.
# shellcheck disable=SC2317
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=${BUILD:-build-python-device}
out=${OUT:-$root/$build/out}
mkdir -p "$build/logs" "$out"
build=$(cd "$build" && pwd)
out=$(cd "$out" && pwd)
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1
cuda=${CUDA:-$(python3 -c 'import torch; print("ON" if torch.cuda.is_available() else "OFF")')}
export GRM=$build/grm PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$build/mpl
# Pure Python modules that the tests need and the machine may lack come last: its own are preferred.
fallback=$root/.deps/python
cat > "$build/run.py" << 'PY'
import runpy, sys
sys.path.append(sys.argv[1])
del sys.argv[0:2]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
PY
declare -a became

# limit PART SECONDS: that of TIMES where it names one.
limit() {
  local each
  for each in ${TIMES:-}; do
    [ "${each%%=*}" = "$1" ] && { echo "${each#*=}"; return; }
  done
  echo "$2"
}

# part NAME SECONDS COMMAND...: runs it, shows the end of its log, notes what became of it.
part() {
  local name=$1 begin=$SECONDS code said
  local seconds
  seconds=$(limit "$name" "$2")
  shift 2
  echo "=== $name (at most $seconds s): $*"
  timeout --kill-after=10 "$seconds" "$@" > "$build/logs/$name" 2>&1
  code=$?
  { echo "=== $name: $*"; cat "$build/logs/$name"; } >> "$out/device_python.log"
  tail -n "${LINES_SHOWN:-25}" "$build/logs/$name"
  case $code in
    0) said="well" ;;
    124 | 137) said="out of time" ;;
    *) said="failed ($code)" ;;
  esac
  became+=("$(printf '%-14s %-14s %4d s' "$name" "$said" $((SECONDS - begin)))")
  printf '%s\n' "${became[@]}" > "$out/summary.txt"
  return $code
}

facts() {
  "$python" - << 'PY'
import importlib, os, platform, sys, sysconfig
print("python", sys.version.split()[0], sys.executable, platform.platform())
for name in ("torch", "torch_geometric", "numpy", "scipy", "pandas", "sklearn", "networkx", "matplotlib", "pytest",
             "setuptools", "build", "nbclient", "pybind11"):
    try:
        print(name, getattr(importlib.import_module(name), "__version__", "is there"))
    except Exception as error:
        print(name, "is not there:", type(error).__name__)
import torch
include = os.path.join(os.path.dirname(torch.__file__), "include")
print("C++11 ABI", torch.compiled_with_cxx11_abi(), "CUDA", torch.version.cuda, torch.cuda.is_available())
if torch.cuda.is_available():
    print("GPU", torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0))
print("pybind11 of torch", os.path.exists(os.path.join(include, "pybind11", "pybind11.h")))
headers = sysconfig.get_paths()["include"]
print("Python.h", headers, os.path.exists(os.path.join(headers, "Python.h")))
PY
  for tool in cmake ninja g++ nvcc; do
    printf '%s: ' "$tool"
    "$tool" --version 2> /dev/null | grep -E '[0-9]+\.[0-9]+' | head -n 1 || echo "is not there"
  done
}

# Where Python.h of this very version is, if not where Python says.
python_headers() {
  local version said
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  said=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  for folder in "$said" "/usr/include/python$version" "/usr/local/include/python$version" \
    "$(dirname "$(dirname "$(readlink -f "$python")")")/include/python$version" "$root/.deps/include/python$version"; do
    if [ -r "$folder/Python.h" ]; then
      echo "$folder"
      return
    fi
  done
}

build_all() {
  local headers
  headers=$(python_headers)
  [ -n "$headers" ] || { echo "there is no Python.h for $python; carry one as .deps/include/pythonX.Y"; return 1; }
  # shellcheck disable=SC2086
  BUILD=$build TARGETS="grm grm_python" bash scripts/device_build.sh -DGRM_CUDA="$cuda" -DGRM_PYTHON=ON \
    -DPython3_EXECUTABLE="$python" -DPython3_INCLUDE_DIR="$headers" ${CMAKE_ARGS:-} || return 1
  (cd / && "$python" -c 'import grm; print(grm.show_config())')
}

# pytests NAME WORDS...: pytest of the machine, else that of .deps/python.
pytests() {
  local name=$1
  shift
  "$python" "$build/run.py" "$fallback" pytest -q -p no:cacheprovider -rsf --durations=5 \
    -o junit_family=xunit2 --junitxml="$build/logs/$name.xml" "$@"
}

export -f facts python_headers build_all pytests
export root build out python cuda fallback
: > "$out/device_python.log"
rm -f "$build"/logs/*.xml
words=("$@")
[ ${#words[@]} -gt 0 ] || words=(facts build gpu tests bench overhead)
for word in "${words[@]}"; do
  case $word in
    facts) part facts 60 bash -c facts ;;
    build) part build 420 bash -c build_all ;;
    gpu) part gpu 180 bash -c 'pytests gpu tests/python/test_cuda.py' ;;
    tests)
      part tests 300 bash -c 'pytests tests tests/python --ignore=tests/python/test_cuda.py \
        --ignore=tests/python/test_package.py'
      ;;
    bench)
      for device in cpu $([ "$cuda" = ON ] && echo cuda); do
        part "bench-$device" 120 "$python" bench/python_bench.py --device "$device" --only propagation networks \
          --json "$out/python_bench_$device.json"
      done
      ;;
    overhead)
      for device in cpu $([ "$cuda" = ON ] && echo cuda); do
        part "overhead-$device" 150 "$python" bench/python_bench.py --device "$device" --only epochs --rounds 20 \
          --json "$out/python_overhead_$device.json"
      done
      ;;
    *)
      echo "unknown part '$word': facts, build, gpu, tests, bench, overhead" >&2
      exit 2
      ;;
  esac
done
echo "=== what became of it (log and JSON in $out)"
cat "$out/summary.txt"
# How many tests ran, failed and were skipped.
"$python" - "$build/logs" << 'PY' | tee -a "$out/summary.txt"
import glob, sys
import xml.etree.ElementTree as tree
for path in sorted(glob.glob(sys.argv[1] + "/*.xml")):
    for suite in tree.parse(path).getroot().iter("testsuite"):
        a = suite.attrib
        print(f"{path.split('/')[-1]}: {a['tests']} tests, {a['failures']} failed, {a['errors']} errors, {a['skipped']} skipped")
PY
exit "$(printf '%s\n' "${became[@]}" | grep -vc ' well ')"
