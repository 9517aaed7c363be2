#!/usr/bin/env bash
# Curves of runs whose data was given by an absolute path: pictures under plain names, none over
# another, and advice that works where there is no gnuplot.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
export OMP_WAIT_POLICY=passive
own_data one/data own
own_data two/data own
for folder in one two; do
  expect_exit 0 "a run" "$grm" train --dataset "$work/$folder/data" --method erm --epochs 3 \
    --threads 1 -q --out runs
done
expect_exit 0 "plot" "$grm" plot "$work/runs" --out figures --json
check "no name begins with a minus or a dot" bash -c "! ls figures | grep -q '^[-.]'"
check "each dataset has its loss and its validation" jq -e \
  '[.files[] | select(endswith(".dat"))] | length == 4 and (unique | length == 4)' out
check "named as dataset.toml names it" bash -c "ls figures/own*one*-loss.dat figures/own*two*-loss.dat"
check "and every file that is named is there" bash -c "jq -r '.files[]' out | xargs ls"
if command -v gnuplot > /dev/null; then
  check "without a complaint" jq -e '.messages == []' out
  check "with pictures" bash -c "for f in figures/*.dat; do [ -s \"\${f%.dat}.svg\" ] || exit 1; done"
fi
# Without gnuplot in PATH the message says how to get the pictures: the command must do it.
mkdir tools
for tool in jq tail; do ln -s "$(command -v $tool)" tools/$tool; done
PATH=$work/tools:/nowhere expect_exit 0 "plot without gnuplot" "$grm" plot "$work/runs" "--out=-odd dir's" --json
check "says what to do" jq -e '.messages | length == 4 and all(test("install gnuplot-nox, then: cd "))' out
if command -v gnuplot > /dev/null; then
  check "which works" bash -c "eval \"\$(jq -r '.messages[0] | sub(\".*then: \"; \"\")' out)\""
  check "and draws" bash -c "ls ./-odd\ dir\'s/*.svg"
fi
finish
