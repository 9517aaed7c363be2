#!/usr/bin/env bash
# Collects the dependencies that are headers (and zlib, SQLite, GoogleTest's sources) from this machine
# into .deps/, for a machine that has a GPU and torch but no way to install anything:
#   scripts/device_deps.sh, then carry the tree with .deps/ over and run scripts/device_build.sh there.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf .deps
mkdir -p .deps/include .deps/lib .deps/googletest

# First existing of the given paths.
first() {
  for path in "$@"; do
    if [ -e "$path" ]; then
      echo "$path"
      return
    fi
  done
  echo "none of $* is there; run scripts/setup.sh first" >&2
  return 1
}

for name in fmt CLI nlohmann toml++; do
  cp -RL "$(first "/usr/include/$name" "/usr/local/include/$name")" .deps/include/
done
multiarch=$(gcc -print-multiarch 2> /dev/null || true)
cp -L "$(first /usr/include/zlib.h /usr/local/include/zlib.h)" .deps/include/
cp -L "$(first "/usr/include/$multiarch/zconf.h" /usr/include/zconf.h /usr/local/include/zconf.h)" \
  .deps/include/
cp -L "$(first /usr/include/sqlite3.h /usr/local/include/sqlite3.h)" .deps/include/
for name in z sqlite3; do
  cp -L "$(first "/usr/lib/$multiarch/lib$name.a" "/usr/lib64/lib$name.a" "/usr/lib/lib$name.a")" \
    .deps/lib/
done
source=$(first /usr/src/googletest /usr/local/src/googletest)
for part in googletest googlemock; do
  mkdir -p ".deps/googletest/$part"
  cp -RL "$source/$part/include" "$source/$part/src" ".deps/googletest/$part/"
done
# What runs the Python tests there (scripts/device_python.sh), where it is installed here: pure Python.
mkdir -p .deps/python
for module in pytest _pytest pluggy iniconfig packaging attr attrs exceptiongroup tomli; do
  path=$(/usr/bin/python3 -c 'import importlib.util as u, sys
spec = u.find_spec(sys.argv[1])
print("" if spec is None else (list(spec.submodule_search_locations or []) or [spec.origin])[0])' "$module")
  if [ -n "$path" ]; then cp -RL "$path" .deps/python/; fi
done
find .deps/python -name __pycache__ -prune -exec rm -rf {} +
git describe --always --dirty > .deps/commit  # the copy has no history, but its records name the commit
du -sh .deps
