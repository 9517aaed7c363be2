#!/usr/bin/env bash
# The stations of the house, in order: a file may include from its own station and from those before
# it, never from a later one, however the include is written. Headers of the package are named
# "grm/station/x.h", all others from src/: "station/x.h". So every include says its station.
cd "$2" || exit 1
declare -A position
k=0
for station in core graph dist io data ops nn methods train study report serve cli; do
  position[$station]=$((k++))
done
failures=0
checked=0
wrong() {
  echo "$1 includes $2: $3"
  failures=$((failures + 1))
}
while IFS=: read -r file line; do
  name=${line#*[\"<]}
  name=${name%[\">]}
  [ "$name" = grm/version.h ] && continue  # made by the build
  checked=$((checked + 1))
  case $name in
    grm/*) header=include/$name to=${name#grm/} ;;
    *) header=src/$name to=$name ;;
  esac
  if [ ! -f "$header" ]; then
    wrong "$file" "$name" "name it from src/, as \"station/x.h\", or from include/"
    continue
  fi
  beside=$(dirname "$file")/$name
  [ ! -f "$beside" ] || [ "$beside" -ef "$header" ] || wrong "$file" "$name" "$beside hides $header"
  case $file in
    include/grm/grm.h) continue ;;  # the way in from outside, above all stations
    include/*) from=${file#include/grm/}
      [ "$header" = "include/$name" ] || wrong "$file" "$name" "it is not installed" ;;
    *) from=${file#src/} ;;
  esac
  a=${position[${from%%/*}]:--1}
  b=${position[${to%%/*}]:-99}
  [ "$b" -le "$a" ] || wrong "$file" "$name" "${to%%/*} comes after ${from%%/*}"
done < <(grep -rohEH '#include ("[^"]+"|<grm/[^>]+>)' include src)
# What is installed is what grm.h reaches, no more.
reached=" "
reach() {
  local next
  case $reached in *" $1 "*) return ;; esac
  reached+="$1 "
  for next in $(sed -nE 's/^#include "(grm\/[^"]+)"/\1/p' "include/$1" | grep -v '^grm/version.h$'); do
    reach "$next"
  done
}
reach grm/grm.h
for header in $(cd include && find grm -name '*.h'); do
  case $reached in
    *" $header "*) ;;
    *) echo "include/$header is installed, but grm.h does not reach it: it belongs into src/"; failures=$((failures + 1)) ;;
  esac
done
heavy=$(grep -rlE '#include <torch/torch.h>' include src || true)
if [ -n "$heavy" ]; then
  echo "the heavy umbrella header of torch: $heavy"
  failures=$((failures + 1))
fi
kernels=$(grep -rlE '#include <(torch|ATen|c10)/' src/*/cpu src/*/cuda || true)
if [ -n "$kernels" ]; then
  echo "kernels that include torch: $kernels"
  failures=$((failures + 1))
fi
# One file knows libtorch's CUDA headers.
cuda_headers=$(grep -rlE '#include <(c10|ATen)/cuda/|#include <cuda' src include --include=*.cpp --include=*.h |
  grep -v '^src/graph/cuda_torch.cpp$' || true)
if [ -n "$cuda_headers" ]; then
  echo "files that include CUDA headers: $cuda_headers"
  failures=$((failures + 1))
fi
echo "$checked includes checked, $failures wrong"
[ "$failures" = 0 ] && [ "$checked" -gt 500 ]
