#!/usr/bin/env bash
# Compares `grm fit` with an exhaustive search of its portfolio on six folders of own data made from published sets:
#   GRM_DATA=/data scripts/fit_check.sh [PATH/TO/grm] [OUT.md]
# Both choose by validation; both are judged by the mean score of the test domains. Bounded in time: FIT_MINUTES for a fit
# (10), RUN_MINUTES for each candidate of the exhaustive search with its seeds (10), SEEDS (1). FIT_SETS chooses some of
# the sets. Work and runs are kept in FIT_WORK (build/fit_check), so a second call goes on.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
grm=$(realpath "${1:-$root/build/grm}")
out=$(realpath -m "${2:-$root/results/fit.md}")
fit_minutes=${FIT_MINUTES:-10} run_minutes=${RUN_MINUTES:-10} seeds=${SEEDS:-1}
work=${FIT_WORK:-$root/build/fit_check}
[ -n "${GRM_DATA:-}" ] || { echo "skipped: GRM_DATA names no folder with the published files"; exit 77; }
mkdir -p "$work" "$(dirname "$out")" && cd "$work" || exit 1
# name:arguments of `grm data convert`
all="cora:cora
photo:photo
twitch:twitch
fb100:fb100
sst2-tree:sst2-tree
molhiv:molhiv"
rows="" notes=""
while IFS=: read -r name arguments; do
  [ -z "${FIT_SETS:-}" ] || [[ " $FIT_SETS " == *" $name "* ]] || continue
  # shellcheck disable=SC2086 # several words are meant
  if [ ! -e "$name/dataset.toml" ] && ! "$grm" data convert $arguments --allow-missing --out "$name" --force -q > convert.log 2>&1; then
    notes+="* $name: could not be made: $(tail -n 1 convert.log)"$'\n'
    continue
  fi
  if ! "$grm" fit "./$name" --minutes "$fit_minutes" --out "fits/$name" --no-report --json -q > "$name.fit.json" 2> "$name.log"; then
    notes+="* $name: fit failed: $(tail -n 1 "$name.log")"$'\n'
    continue
  fi
  # Every candidate in full length; the best by validation, and the best by test, which nobody could have chosen.
  : > "$name.all"
  count=$(jq '.tried | length' "$name.fit.json")
  for ((k = 0; k < count; ++k)); do
    candidate=$(jq -r ".tried[$k].name" "$name.fit.json")
    flags=$(jq -r ".tried[$k].command" "$name.fit.json" | sed 's/^grm train --dataset [^ ]* //')
    # shellcheck disable=SC2086
    if timeout "$((run_minutes * 60))" "$grm" train --dataset "./$name" $flags --seeds "$seeds" --set train.test=selected \
        --out "exhaustive" --resume --json -q > run.json 2> run.log; then
      jq -c --arg name "$candidate" '{name: $name, validation, avg}' run.json >> "$name.all"
    else
      notes+="* $name: $candidate did not end within $run_minutes minutes: $(tail -n 1 run.log | cut -c1-120)"$'\n'
    fi
  done
  rows+=$(jq -rs --arg set "$name" --slurpfile fit "$name.fit.json" '
    def two: . * 100 | round / 100;
    (max_by(.validation)) as $v | (max_by(.avg)) as $t | $fit[0] as $f
    | "| \($set) | `\($f.chosen.name)` \($f.avg | two) | `\($v.name)` \($v.avg | two) | `\($t.name)` \($t.avg | two) | \($f.avg - $v.avg | two) | \($f.seconds | round) | \($f.stopped_by) |"' "$name.all")$'\n'
done <<< "$all"
{
  echo "# grm fit against an exhaustive search"
  echo
  echo "Made by \`scripts/fit_check.sh\`: $fit_minutes minutes for each fit, every candidate of the portfolio in full length"
  echo "with $seeds seed(s) for the search. Scores are means over the test domains, in percent. Fit and search choose by validation;"
  echo "the column after them is the best test score of any candidate, which no honest choice can know."
  echo
  echo "| data | fit | search, by validation | best on test | fit less search | seconds of fit | stopped by |"
  echo "|---|---|---|---|---|---|---|"
  printf '%s' "$rows"
  [ -z "$notes" ] || printf '\n%s' "$notes"
} > "$out"
cat "$out"
