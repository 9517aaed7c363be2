#!/usr/bin/env bash
# The commands of docs/tutorial.md (pages.sh says how blocks are marked), what they print, and what the page claims.
source "$(dirname "$0")/lib.sh" "$@"
source "$source_dir/tests/cli/pages.sh"
run_page tutorial
check "there were many blocks" test "$(ls tutorial/blocks/*.sh | wc -l)" -ge 12
check "and outputs were compared" test "$(ls tutorial/blocks/*.text | wc -l)" -ge 8
[ -z "${GRM_TUTORIAL_OUTPUTS:-}" ] || cp tutorial/blocks/* "$GRM_TUTORIAL_OUTPUTS"

# What the tutorial claims, in numbers.
cd tutorial/home || exit 1
test_mean() { jq '[.chosen.val.test[].value] | add / length' "$1"/*-100[012]/summary.json | awk '{ s += $1 } END { print s / NR }'; }
check "the model that was not told of the shift fails" awk -v e="$(test_mean runs/payments/erm)" 'BEGIN { exit !(e > 0 && e < 85) }'
check "the centred one holds" awk -v g="$(test_mean runs/payments/grm)" 'BEGIN { exit !(g > 88) }'
check "a row for every account of June" test "$(wc -l < june.csv)" = 161
check "with the promised columns" grep -qx "domain,id,class,label,p_no,p_yes,spread,entropy" <(head -1 june.csv)
for file in explanation.json explanation.graphml explanation.dot; do check "why/$file" test -s "why/$file"; done
check "the report has its sections" bash -c 'for id in answer domains methods curves shift models explanations repeat; do
  grep -qE "\"sections\":\[[^]]*\"$id\"" report.html || exit 1; done'
finish
