#!/usr/bin/env bash
# Drift watch: quiet months, a loud one, the exit code, several seeds, and mistakes.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "help" "$grm" watch --help
check "help names the exit code" grep -q "Exit code 5" out
# Months of one law: amounts around a level of their own; from SHIFT on they lie higher.
month() {  # month FOLDER SEED SHIFT
  mkdir -p "$1"
  awk -v seed="$2" -v shift="$3" 'BEGIN { srand(seed); print "id,amount,hours,label"; own = 0.05 * (rand() - 0.5)
    for (i = 0; i < 120; ++i) { good = i % 3 != 0
      printf "a%d,%g,%g,%s\n", i, good * 1.5 + own + shift + 2 * rand(), 5 * rand() + good, good ? "good" : "bad" } }' > "$1/nodes.csv"
  awk -v seed="$2" 'BEGIN { srand(seed + 500); print "source,target"
    for (i = 0; i < 240; ++i) printf "a%d,a%d\n", int(rand() * 120), int(rand() * 120) }' > "$1/edges.csv"
}
list=""
for m in 1 2 3 4 5 6; do month "pay/m$m" "$m" 0; list+="\"m$m\", "; done
month pay/v1 21 0; month pay/v2 22 0
printf 'name = "pay"\nundirected = true\n[train]\ndomains = [%s]\n[validation]\ndomains = ["v1", "v2"]\n' "${list%, }" > pay/dataset.toml
expect_exit 0 "train" "$grm" train --dataset ./pay --method erm --epochs 20 --seeds 2 --json
one=$(jq -r '.runs[0]' out) two=$(jq -r '.runs[1]' out)
for m in 01 02 03 04; do month "new/2027-$m" "$((30 + 10#$m))" 0; done
for f in new/*/nodes.csv; do sed -i 's/,[a-z]*$//' "$f"; done  # no labels
expect_exit 0 "quiet months" "$grm" watch "$one" --data new --json
check "no alarm, and an expected accuracy" jq -e '(.alarm | not) and (.domains | length) == 4 and .reference.domains == 8
  and .reference.variation_known and all(.domains[]; .expected_accuracy > 50 and .agreement == null and .reason == null)' out
month new/2027-05 41 4
sed -i 's/,[a-z]*$//' new/2027-05/nodes.csv
expect_exit 5 "a loud month" "$grm" watch "$one" "$two" --data new --json
check "it alone alarms, with its reason, and seeds are compared" jq -e '.alarm and ([.domains[] | select(.alarm) | .domain] == ["2027-05"])
  and (.domains[4].reason | contains("amount is higher")) and (.domains[4].moved | map(.quantity) | index("amount") != null)
  and all(.domains[]; .agreement >= 0 and .agreement <= 100)' out
cp out first.json
expect_exit 5 "again" "$grm" watch "$one" "$two" --data new --json
check "the same to the digit" cmp out first.json
expect_exit 5 "as a table" "$grm" watch "$one" --data new
check "with the reason below it" grep -q "2027-05: amount is higher" out
expect_exit 3 "no such data" "$grm" watch "$one" --data ./none
expect_exit 2 "an alpha of one" "$grm" watch "$one" --data new --alpha 1
"$grm" train --dataset sbm --set dataset.nodes=40 --method erm --epochs 2 --json > out 2> err
expect_exit 2 "models of other data" "$grm" watch "$one" "$(jq -r '.runs[0]' out)" --data new
# Numbers, and several labels: what the model says is watched, and accuracy is expected where there is one.
cp -r pay sums
sed -i '1a target = "regression"\ntargets = ["hours"]' sums/dataset.toml
expect_exit 0 "a model of numbers" "$grm" train --dataset ./sums --method erm --epochs 2 --seeds 2 --json
numbers=$(jq -r '.runs[0]' out)
cp -r new lately
expect_exit 5 "numbers of the loud month" "$grm" watch "$numbers" "$(jq -r '.runs[1]' out)" --data lately --json
check "accuracy is not expected of numbers, their runs are compared" jq -e '.reference.confidence == null
  and ([.domains[] | select(.alarm) | .domain] == ["2027-05"]) and all(.domains[]; .expected_accuracy == null and .agreement <= 100)
  and (.domains[4].moved | map(.quantity) | index("predicted hours") != null)' out
expect_exit 5 "as a table" "$grm" watch "$numbers" --data lately
check "without that column" bash -c "! grep -q 'expected accuracy' out && grep -q '8 reference domains' out"
mkdir tags
for f in pay/*/; do
  mkdir -p "tags/$(basename "$f")"
  awk -F, 'NR == 1 { print "id,amount,hours,good,late" } NR > 1 { printf "%s,%s,%s,%d,%d\n", $1, $2, $3, ($4 == "good"), ($3 > 3) }' "$f/nodes.csv" > "tags/$(basename "$f")/nodes.csv"
  cp "$f/edges.csv" "tags/$(basename "$f")"
done
sed -e '1a target = "multi-label"\ntargets = ["good", "late"]' -e 's/"pay"/"tags"/' pay/dataset.toml > tags/dataset.toml
expect_exit 0 "a model of several labels" "$grm" train --dataset ./tags --method erm --epochs 20 --json
expect_exit 5 "is watched" "$grm" watch "$(jq -r '.runs[0]' out)" --data lately --json
check "with the probability of each, and an expected accuracy" jq -e '([.domains[] | select(.alarm) | .domain] == ["2027-05"])
  and .domains[0].expected_accuracy > 50 and .comparisons == 12' out

# The study of false alarms, small: one model, some months, a large shift.
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
  export SERIES=2 SHIFTED=2 SHIFTS=2 WATCH_WORK=$work/study
  check "the study of whole runs" bash "$source_dir/scripts/watch_study.sh" "$grm" "$work/watch.md"
  check "quiet series are quiet" grep -q "| 2 | none | 0 | 0 | 0 | 2 |" watch.md
  check "a large shift is found in time" grep -q "| 2 | 2 | 0 | 2 | 0 | 0 |" watch.md
else
  echo "skipped: numpy is not installed (python3-numpy)"
fi
mv pay gone
expect_exit 3 "the run's data is gone" "$grm" watch "$one" --data new
finish
