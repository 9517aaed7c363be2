#!/usr/bin/env bash
# How often `grm watch` alarms, by whole runs: models trained on generated months, and series of 24 fresh months each.
#   scripts/watch_study.sh [PATH/TO/grm] [OUT.md]
# SERIES (200) series without a shift, PER_MODEL (5) of them for each trained model, and for each of the SHIFTS (0.3 0.5 1 2,
# in deviations between items) SHIFTED (40) series with a shift from month 13 on. Work is kept in WATCH_WORK
# (build/watch_study); a second call goes on. Needs python3 with NumPy.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
grm=$(realpath "${1:-$root/build/grm}")
out=$(realpath -m "${2:-$root/results/watch.md}")
series=${SERIES:-200} per_model=${PER_MODEL:-5} shifted=${SHIFTED:-40} shifts=${SHIFTS:-0.3 0.5 1 2}
work=${WATCH_WORK:-$root/build/watch_study}
python=/usr/bin/python3
$python -c 'import numpy' 2> /dev/null || { echo "skipped: $python has no NumPy"; exit 77; }
mkdir -p "$work" "$(dirname "$out")" && cd "$work" || exit 1
cat > months.py <<'P'
# months.py FOLDER COUNT SEED SHIFT: COUNT months of one law as FOLDER/mNN.npz, from 1; from number 13 on SHIFT deviations
# between items are added to the amounts. Every month has levels, a class share and a density of its own.
import sys
import numpy as np

folder, count, seed, shift = sys.argv[1], *map(int, sys.argv[2:4]), float(sys.argv[4])
BETWEEN, ITEMS = 0.1, 150
for number in range(1, count + 1):
    r = np.random.default_rng([seed, number])
    level = BETWEEN * r.normal(size=4)
    y = (r.random(ITEMS) < 0.35 + 0.02 * r.normal()).astype(int)
    x = r.normal(size=(ITEMS, 4)) + level
    if number >= 13:
        x[:, 0] += shift
    x[:, 0] += 1.5 * y
    x[:, 1] = np.exp(x[:, 1] + 0.5 * y)  # a long tail
    pairs = r.integers(0, ITEMS, (2, int(ITEMS * (2 + 0.1 * r.normal()))))
    np.savez(f"{folder}/m{number:02d}.npz", x=x.astype("f4"), y=y, edge_index=pairs)
P

# A model of 12 months: run folder of number $1 in RUN.
train() {
  local name=reference$1 months
  [ -s "$name.run" ] && { RUN=$(cat "$name.run"); return; }
  mkdir -p "$name"
  $python months.py "$name" 12 "$((1000000 + $1))" 0 || exit 1
  months=$(for m in 01 02 03 04 05 06 07 08 09 10; do printf '"m%s", ' $m; done)
  printf 'name = "%s"\nundirected = true\n[train]\ndomains = [%s]\n[validation]\ndomains = ["m11", "m12"]\n' "$name" "${months%, }" > "$name/dataset.toml"
  "$grm" train --dataset "./$name" --method erm --epochs 30 --json -q > train.json 2> train.log || { cat train.log; exit 1; }
  RUN=$(jq -r '.runs[0]' train.json)
  echo "$RUN" > "$name.run"
}

# The number of the first month of a series that alarms, 0 for none, is added to a file: watch FILE SEED SHIFT
watch() {
  rm -rf new && mkdir new
  $python months.py new 24 "$2" "$3" || exit 1
  "$grm" watch "$RUN" --data new --json -q > new.json 2> watch.log
  [ $? = 0 ] || [ $? = 5 ] || [ -s new.json ] || { cat watch.log; exit 1; }
  jq '[.domains[].alarm] | (index(true) // -1) + 1' new.json >> "$1"
}

done_of() { if [ -e "$1" ]; then wc -l < "$1"; else echo 0; fi; }
for ((k = $(done_of quiet); k < series; ++k)); do
  train "$((k / per_model))"
  watch quiet "$k" 0
done
for shift in $shifts; do
  for ((k = $(done_of "shift$shift"); k < shifted; ++k)); do
    train "$((k / per_model))"
    watch "shift$shift" "$((100000 + k))" "$shift"
  done
done
{
  echo "# Alarms of grm watch in series of 24 months"
  echo
  echo "Made by \`scripts/watch_study.sh\`: whole runs of the program. A model (\`erm\`, 30 epochs) is trained on ten generated months and"
  echo "validated on two; $per_model series of 24 fresh months each, generated independently, are then watched by it with \`--alpha 0.05\`, so"
  echo "series of one model share what they are compared with. A month has 150 items and levels, a class share and a density of its own;"
  echo "levels of a feature differ between months by a tenth of what its items do. A shift adds to one of four features, in"
  echo "deviations between items; rows with a shift are the same series until then."
  echo
  echo "| series | shift from month 13 | alarm before month 13 | in month 13 or 14 | later | never |"
  echo "|---|---|---|---|---|---|"
  for name in quiet $(for shift in $shifts; do echo "shift$shift"; done); do
    of=${name#shift}
    awk -v of="$of" '{ ++n; if ($1 == 0) ++never; else if ($1 < 13) ++before; else if ($1 <= 14) ++soon; else ++later }
      END { printf "| %d | %s | %d | %d | %d | %d |\n", n, of == "quiet" ? "none" : of, before, soon, later, never }' "$name"
  done
  echo
  awk '$1 > 0 { ++alarms } END { printf "False alarms: %d of %d series without a shift, %.1f %%.\n", alarms, NR, 100 * alarms / NR }' quiet
} > "$out"
cat "$out"
