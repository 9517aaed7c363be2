#!/usr/bin/env bash
# A set by size through the command line: the metric of its papers, both rules of choice, a file that was no part of it.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive
unset GRM_DATA

# cycles FROM TO: a cycle of each size with tags 0 and 1 in turn; those of class 1 have a chord and a tag 2.
cycles() {
  echo $(($2 - $1 + 1))
  for ((n = $1; n <= $2; ++n)); do
    echo "$n $((n % 2))"
    for ((i = 0; i < n; ++i)); do
      a=$(((i + 1) % n)) b=$(((i + n - 1) % n))
      if ((n % 2 && (i == 0 || i == 2))); then
        echo "2 3 $a $b $((2 - i))"
      else
        echo "$((i % 2)) 2 $a $b"
      fi
    done
  done
}
mkdir -p data/tu
cycles 5 44 > data/tu/NCI1.txt
cycles 45 50 > new.txt

expect_exit 0 "training" "$grm" train --dataset nci1 --method erm --epochs 30 --set train.patience=0 --data-root data --json -q
check "the metric is Matthews' correlation, in percent" jq -e '.metric == "matthews"' out
check "a tag tells the class" jq -e '.avg > 50 and .avg <= 100' out
run=$(jq -r '.runs[0]' out)
expect_exit 0 "the shifted rule" "$grm" train --dataset nci1 --method erm --epochs 2 --set train.patience=0 \
  --set dataset.choose_by=val --set dataset.report=all --data-root data --json -q
check "scores the other validation subset as well" jq -e '[.test[].domain] == ["test", "id_val"]' out

expect_exit 0 "a new file" "$grm" predict "$run" --data new.txt --out new.csv
check "has a row for each graph" test "$(tail -n +2 new.csv | wc -l)" = 6
expect_exit 0 "its labels are scored" "$grm" eval "$run" --data new.txt --bootstrap 0 --json
check "over six graphs" jq -e '.items == 6 and (.scores.matthews.value | . >= -1 and . <= 1)' out

expect_exit 3 "molecules that are not there" "$grm" data describe good-hiv --data-root data
check "the message says what to download and how to make the rest" bash -c \
  "grep -q 'data/molhiv/raw/node-feat.csv.gz' err && grep -q 'ogb.stanford.edu' err && grep -q 'scripts/molecules.py' err"
expect_exit 2 "a rule that has no subset" "$grm" data describe good-motif --set shift=none --set choose_by=id_val
finish
