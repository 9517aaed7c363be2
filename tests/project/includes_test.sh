#!/usr/bin/env bash
# The stations of the house, in order: a file may include from its own station and from those before
# it, never from a later one.
cd "$2" || exit 1
stations=(core graph io data ops nn methods train study report cli)
position() {
  for k in "${!stations[@]}"; do
    if [ "${stations[$k]}" = "$1" ]; then
      echo "$k"
      return
    fi
  done
  echo -1
}
failures=0
checked=0
while IFS=: read -r file _ line; do
  [ "$file" = include/grm/grm.h ] && continue  # the way in from outside, above all stations
  from=$(echo "$file" | sed -E 's#^(include/grm|src)/([a-z]+)/.*#\2#')
  to=$(echo "$line" | sed -E 's#.*"grm/([a-z]+)/.*#\1#')
  a=$(position "$from")
  b=$(position "$to")
  checked=$((checked + 1))
  if [ "$b" -lt 0 ] || [ "$b" -gt "$a" ]; then
    echo "$file ($from) includes $line"
    failures=$((failures + 1))
  fi
done < <(grep -rnE '#include "grm/[a-z]+/' include src)
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
[ "$failures" = 0 ] && [ "$checked" -gt 50 ]
