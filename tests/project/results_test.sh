#!/usr/bin/env bash
# The tables in results/ are those that the runs beside them give, byte for byte.
set -u
grm=$(realpath "$1")
source_dir=$2
/usr/bin/env python3 -c 'import sqlite3' 2> /dev/null || { echo "skipped: python3 with sqlite3 is needed"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
PYTHONDONTWRITEBYTECODE=1 "$source_dir/scripts/results.py" "$out" "$grm" || exit 1
failed=0
compared=0
for kept in "$source_dir"/results/*.md "$source_dir"/results/*.csv; do
  made=$out/$(basename "$kept")
  [ -f "$made" ] || continue
  compared=$((compared + 1))
  cmp "$kept" "$made" || failed=1
done
# Ten tables, and five files with one line for each run and test domain, which must come back whole.
[ "$compared" = 15 ] || { echo "compared $compared files, expected 15"; failed=1; }
exit "$failed"
