#!/usr/bin/env bash
# Ranks and corrections are those of published examples; ten cells of every table in results/ follow from the runs beside it,
# and the tables of scripts/comparison.py are what it makes of them.
source "$(dirname "$0")/../cli/lib.sh" "$@"
command -v python3 > /dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
here=$source_dir/tests/project
check "tests of ranks, corrections and the figure" python3 "$here/rank_statistics_check.py"
check "ten cells of every table" python3 "$here/results_cells_check.py" "$source_dir/results"

# A table whose numbers are not those of its runs is found.
cp -r "$source_dir/results" changed
sed -i -E '/^\| grm:best /s/([0-9]+\.[0-9]) ± /9\1 ± /g' changed/best.md
expect_exit 1 "a changed table" python3 "$here/results_cells_check.py" changed
check "is named" grep -q '^best.md: grm:best' out

made=0
for facts in "$source_dir"/results/*-facts.json; do
  [ -f "$facts" ] || continue
  name=$(basename "$facts" -facts.json)
  mkdir -p made
  check "$name is made of its runs" "$source_dir/scripts/comparison.py" table "$name" made
  for kept in "$name.md" "$name.svg"; do
    [ -f "made/$kept" ] || [ -f "$source_dir/results/$kept" ] || continue
    check "$kept byte for byte" cmp "made/$kept" "$source_dir/results/$kept"
  done
  made=$((made + 1))
done
if [ -f "$source_dir/results/ranks.md" ]; then
  command=$(sed -n 's/^Made by `scripts\/comparison.py \(.*\)` from.*/\1/p' "$source_dir/results/ranks.md")
  # shellcheck disable=SC2086
  check "ranks.md is made of all of them" "$source_dir/scripts/comparison.py" $command made/
  check "ranks.md byte for byte" cmp made/ranks.md "$source_dir/results/ranks.md"
fi
finish
