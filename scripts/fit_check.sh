#!/usr/bin/env bash
# Compares `grm fit` with an exhaustive search of its portfolio on six folders of own data made from published sets:
#   GRM_DATA=/data scripts/fit_check.sh [PATH/TO/grm] [OUT.md]
# Both choose by validation, equal scores by the loss there; both are judged by the mean score of the test domains. What the
# search chose is refitted as fit does: with the seeds that fit gave its choice, keeping the one of the best validation.
# Bounded in time: FIT_MINUTES for a fit (10), RUN_MINUTES for each candidate of the search with its seeds (30), SEEDS (1).
# FIT_SETS chooses some of the sets, THREADS the threads of each (2). Work and runs are kept in FIT_WORK (build/fit_check),
# so a second call goes on; delete SET.fit.json and fits/SET there to fit a set again.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
grm=$(realpath "${1:-$root/build/grm}")
out=$(realpath -m "${2:-$root/results/fit.md}")
fit_minutes=${FIT_MINUTES:-10} run_minutes=${RUN_MINUTES:-30} seeds=${SEEDS:-1} threads=${THREADS:-2}
work=${FIT_WORK:-$root/build/fit_check}
[ -n "${GRM_DATA:-}" ] || { echo "skipped: GRM_DATA names no folder with the published files"; exit 77; }
mkdir -p "$work" "$(dirname "$out")" && cd "$work" || exit 1
# Chosen before any score was seen, by size alone: of each level three sets on which a whole search of one thread ends
# within the hour. Cora has artificial shifts, webkb and twitch real ones; molecules by scaffold and by size, proteins by size.
all="webkb cora proteins twitch bace nci1"
sets=""
for name in $all; do
  [ -z "${FIT_SETS:-}" ] || [[ " $FIT_SETS " == *" $name "* ]] || continue
  sets+="$name "
done
notes=""

# Every candidate in full length: a line of JSON for each in SET.all.
search() {
  local name=$1 count k candidate flags run why
  if [ ! -e "$name/dataset.toml" ] && ! "$grm" data convert "$name" --out "$name" --force -q > convert.log 2>&1; then
    notes+="* $name: could not be made: $(tail -n 1 convert.log)"$'\n'
    return 1
  fi
  "$grm" fit "./$name" --dry-run --json -q > "$name.plan.json" 2> "$name.log" || return 1
  : > "$name.all"
  count=$(jq '.tried | length' "$name.plan.json")
  for ((k = 0; k < count; ++k)); do
    candidate=$(jq -r ".tried[$k].name" "$name.plan.json")
    flags=$(jq -r ".tried[$k].command" "$name.plan.json" | sed 's/^grm train --dataset [^ ]* //')
    # shellcheck disable=SC2086 # several words are meant
    if timeout "$((run_minutes * 60))" "$grm" train --dataset "./$name" $flags --seeds "$seeds" --set train.test=selected \
        --threads "$threads" --out "exhaustive" --resume --json -q > run.json 2> run.log; then
      jq -r '.runs[]' run.json | while read -r run; do jq '.validation_loss // .chosen.val.validation_loss' "$run/summary.json"; done |
        jq -cs --arg name "$candidate" --slurpfile run run.json \
          '{name: $name, validation: $run[0].validation, loss: (add / length), avg: $run[0].avg}' >> "$name.all"
    else
      [ $? = 124 ] && why="did not end within $run_minutes minutes" || why="cannot be trained: $(tail -n 1 run.log | cut -c1-120)"
      notes+="* $name: $candidate $why"$'\n'
    fi
  done
}

fit() {
  local name=$1
  [ -s "$name.fit.json" ] && return
  if ! "$grm" fit "./$name" --minutes "$fit_minutes" --threads "$threads" --out "fits/$name" --no-report --json -q \
      > "$name.fit" 2> "$name.log"; then
    notes+="* $name: fit failed: $(tail -n 1 "$name.log")"$'\n'
    return 1
  fi
  mv "$name.fit" "$name.fit.json"
}

# The search's choice by validation, refitted: SET.choice.
refit() {
  local name=$1 candidate k flags
  candidate=$(jq -rs 'sort_by([- .validation, .loss]) | first | .name' "$name.all")
  k=$(jq --arg name "$candidate" '[.tried[].name] | index($name)' "$name.plan.json")
  flags=$(jq -r ".tried[$k].command" "$name.plan.json" | sed 's/^grm train --dataset [^ ]* //')
  # shellcheck disable=SC2086
  "$grm" train --dataset "./$name" $flags --seeds "$(jq '.seeds | length' "$name.fit.json")" --set train.test=selected \
    --threads "$threads" --out "exhaustive" --resume --json -q > refit.json 2> refit.log || return 1
  jq -r '.runs[]' refit.json | while read -r run; do
    jq -c '.chosen.val | {validation, loss: .validation_loss, avg: ([.test[].value] | add / length)}' "$run/summary.json"
  done | jq -cs --arg name "$candidate" 'sort_by([- .validation, .loss]) | first + {name: $name}' > "$name.choice"
}

row() {
  jq -rs --arg set "$1" --slurpfile fit "$1.fit.json" --slurpfile choice "$1.choice" '
    def two: . * 100 | round / 100;
    (sort_by([- .validation, .loss]) | first) as $v | (max_by(.avg)) as $t | $fit[0] as $f | $choice[0] as $c
    | "| \($set) | \($f.metric) | `\($f.chosen.name)` \($f.avg | two) | `\($c.name)` \($c.avg | two) | \($f.avg - $c.avg | two) | \($v.avg | two) | `\($t.name)` \($t.avg | two) | \($f.seconds | round) | \($f.stopped_by) |"' "$1.all"
}

write() {
  echo "# grm fit against an exhaustive search"
  echo
  echo "Made by \`scripts/fit_check.sh\`: $fit_minutes minutes for each fit, every candidate of the portfolio in full length"
  echo "with $seeds seed(s) for the search, all with $threads thread(s) on a machine that others used at the same time, so seconds say"
  echo "little. Scores are means over the test domains, in percent. Fit and search choose by validation. What the search chose is"
  echo "refitted as fit does: the seeds that fit gave its choice, of which the best by validation is kept. Beside it stands its"
  echo "first seed alone, and the best test score of any candidate, which no honest choice can know."
  echo
  echo "| data | metric | fit | search | fit less search | search, first seed | best on test | seconds of fit | stopped by |"
  echo "|---|---|---|---|---|---|---|---|---|"
  printf '%s' "$rows"
  [ -z "$notes" ] || printf '\n%s' "$notes"
}

searched="" rows=""
for name in $sets; do search "$name" && searched+="$name "; done
for name in $searched; do fit "$name" && refit "$name" && rows+=$(row "$name")$'\n'; done
write > "$out"
cat "$out"
