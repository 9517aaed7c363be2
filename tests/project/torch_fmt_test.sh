#!/usr/bin/env bash
# A torch that brings headers of another fmt than the system's library: they come first on the include
# path, so that library must not be linked.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
header=$(find /usr/include /usr/local/include -path '*/fmt/core.h' 2> /dev/null | head -1)
library=$(find /usr/lib /usr/local/lib -name 'libfmt.so' 2> /dev/null | head -1)
[ -n "$header" ] && [ -n "$library" ] || { echo "no fmt library here: nothing to mix up"; exit 77; }

torch=$folder/torch
mkdir -p "$torch/include" "$torch/lib"
echo "__version__ = '2.0.0'" > "$torch/version.py"
for name in torch torch_cpu c10; do touch "$torch/lib/lib$name.so"; done
links() {  # what CMake decided about linking the library: 1 or nothing
  rm -rf "$folder/build"
  cmake -S "$1" -B "$folder/build" "-DGRM_TORCH_ROOT=$torch" -DGRM_BUILD_TESTS=OFF \
    -DGRM_BUILD_BENCH=OFF > "$folder/log" 2>&1 || { tail -20 "$folder/log"; exit 1; }
  sed -n 's/^GRM_FMT_LINKS:INTERNAL=//p' "$folder/build/CMakeCache.txt"
}

failures=0
[ "$(links "$2")" = 1 ] || { echo "the library fits its own headers, but is not linked"; failures=1; }
cp -R "$(dirname "$header")" "$torch/include/fmt"
sed -i -E 's/inline namespace v[0-9]+/inline namespace v99/' "$torch"/include/fmt/*.h
grep -q 'inline namespace v99' "$torch"/include/fmt/*.h || { echo "no version in fmt's headers"; failures=1; }
[ -z "$(links "$2")" ] || { echo "linked against headers of another fmt"; failures=1; }
[ "$failures" = 0 ] && echo "fmt is linked only where its headers are used"
exit "$failures"
