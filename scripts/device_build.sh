#!/usr/bin/env bash
# Builds the program with CUDA, and the tests that need a GPU, into build-cuda/, with python3's torch
# and the dependencies of .deps/ (scripts/device_deps.sh). Arguments go to cmake:
#   scripts/device_build.sh -DGRM_CUDA_ARCH=80
# TARGETS names what is built (default: grm cuda_tests cuda_selftest).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-cuda}
export CXX=${CXX:-g++}  # not the first c++ of the path, which may link its library statically
targets=${TARGETS:-grm cuda_tests cuda_selftest}
torch_root=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
abi=$(python3 -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))')
flags=(-DGRM_CUDA=ON -DGRM_WERROR=OFF "-DGRM_TORCH_ROOT=$torch_root" "-DGRM_TORCH_CXX11_ABI=$abi"
  -DGRM_WITH_LIBZIP=OFF -DGRM_BUILD_BENCH=OFF)
if [ -d .deps ]; then
  flags+=("-DCMAKE_PREFIX_PATH=$PWD/.deps" "-DGRM_GTEST_SOURCE=$PWD/.deps/googletest")
fi
mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${flags[@]}" "$@" > "$build/configure.log" \
  2>&1 || { cat "$build/configure.log"; exit 1; }
# nproc would count the threads of OMP_NUM_THREADS.
# shellcheck disable=SC2086
ninja -C "$build" -j "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)" $targets
