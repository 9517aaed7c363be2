#!/usr/bin/env bash
# `grm reproduce`, `grm study table|export` and `grm plot` on studies of a few seconds.
source "$(dirname "$0")/lib.sh" "$@"

cat > tiny.toml << 'EOF'
name = "tiny"
about = "two methods, two blocks, two seeds"
seeds = 2
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 100
train.epochs = 4
train.eval_every = 2
[[variant]]
name = "sum"
set.method.conv = "sum"
[[variant]]
name = "kipf"
set.method.conv = "kipf"
EOF
sed -e 's/"tiny"/"shift"/; s/name = "sum"/name = "r=0"/; s/name = "kipf"/name = "r=0.5"/' tiny.toml > shift.toml
sed -e 's/"tiny"/"ablation"/; s/"erm", "grm"/"grm"/; s/name = "sum"/name = "full"/; s/name = "kipf"/name = "R"/' \
  tiny.toml > ablation.toml

expect_exit 2 "unknown target" "$grm" reproduce tabel1
check "the nearest target is named" grep -q "did you mean 'table1'" err
expect_exit 0 "published values of the graph-level table" "$grm" reproduce table-graph --published
check "they are printed" grep -q "64.01" out
expect_exit 0 "published values of table 1" "$grm" reproduce table1 --published --format markdown
check "with deviations and notes" bash -c "grep -q '74.2 ± 1.2' out && grep -q '88.34' out"
expect_exit 2 "unknown method in a filter" "$grm" reproduce table1 --study tiny.toml --method gmr
check "the nearest method is named" grep -q "did you mean 'grm'" err
expect_exit 3 "table of a database that is not there" \
  "$grm" reproduce table1 --study tiny.toml --table-only --db none.db

expect_exit 0 "a part of the study first" \
  "$grm" reproduce table1 --study tiny.toml --method erm --block kipf --db r.db --out part -q
check "only that part" bash -c "grep -q 'Block kipf' out && ! grep -q 'Block sum' out"
expect_exit 0 "the whole" "$grm" reproduce table1 --study tiny.toml --db r.db --out results
check "both blocks are named" bash -c "grep -q 'Block sum' out && grep -q 'Block kipf' out"
check "the command is printed" grep -q "grm reproduce table1 --study tiny.toml" out
check "versions are printed" grep -q "torch:" out
check "runs of the part are not repeated" bash -c "test \$(ls runs/sbm/erm | wc -l) = 4"
for ending in .md .tex .json .csv -summary.csv; do
  check "table1$ending is written" test -s "results/table1$ending"
done
check "one line per run and test domain" bash -c \
  "test \$(wc -l < results/table1.csv) = \$((1 + 2 * 2 * 2 * 8))"
check "the JSON has the numbers" jq -e '.table.blocks | length == 2 and
  (.[0].datasets[0].methods[1] | .runs == 2 and (.avg.mean | type == "number")
   and .test.pairs == 2 and (.domains | length) == 8)' results/table1.json
cp results/table1.json before.json
expect_exit 0 "from the database alone" \
  "$grm" reproduce table1 --study tiny.toml --db r.db --out again --table-only --json
check "gives the same report" cmp before.json out
expect_exit 0 "a filter on stored results" \
  "$grm" reproduce appendix --study tiny.toml --db r.db --table-only --block sum --seeds 1 --out one
check "one seed is left" grep -qE "^erm .* 1$" out
expect_exit 0 "cost" "$grm" reproduce table-cost --study tiny.toml --db r.db --table-only
check "seconds per epoch" grep -q "s/epoch" out

expect_exit 0 "study table" "$grm" study table tiny --db r.db --format latex --against grm
check "is LaTeX" grep -q '\\bottomrule' out
expect_exit 0 "study table as CSV" "$grm" study table tiny --db r.db --format csv
check "is the long form" cmp out results/table1.csv
expect_exit 2 "study that is not there" "$grm" study table tinny --db r.db
expect_exit 0 "study export" "$grm" study export tiny --db r.db --format json --out all.json
check "has configuration, environment and record" jq -e '(.runs | length) == 8 and (.runs[0] |
  (.config | contains("[method]")) and (.environment | has("torch")) and (.record | has("chosen")))' \
  all.json
expect_exit 0 "study export as CSV" "$grm" study export tiny --db r.db --format csv --out all.csv
check "has its columns" bash -c "head -1 all.csv | grep -q 'config,environment,record'"
expect_exit 0 "study export of short lines" "$grm" study export tiny --db r.db --format runs --out runs.csv
check "a line for each run" test "$(wc -l < runs.csv)" = 9
expect_exit 2 "trials of what is no search" "$grm" study export tiny --db r.db --trials

expect_exit 0 "fig-shift" "$grm" reproduce fig-shift --study shift.toml --db r.db --out fig -q
check "columns are bias ratios" grep -qE "method +r=0 +r=0.5" out
expect_exit 0 "fig-ablation" "$grm" reproduce fig-ablation --study ablation.toml --db r.db --out fig -q
check "rows are variants" bash -c "grep -q '^full' out && grep -q '^R' out"
expect_exit 0 "plot" "$grm" plot runs/sbm --out curves --json
check "figures of loss and validation" bash -c \
  "ls curves | grep -q 'loss.dat' && ls curves | grep -q 'validation.dat'"
expect_exit 3 "plot of nothing" "$grm" plot results
if command -v gnuplot > /dev/null; then
  for file in fig/fig-shift fig/fig-ablation curves/sbm-validation; do
    check "$file is drawn" bash -c "test -s $file.svg && test -s $file.pdf"
  done
fi
mkdir empty
expect_exit 0 "without gnuplot" env PATH="$work/empty" "$grm" plot runs/sbm --out bare
check "the message says how to get the picture" grep -q "install gnuplot-nox" err
check "the data is there" test -s bare/sbm-validation.dat
check "no picture is there" test ! -e bare/sbm-validation.svg
finish
