#!/usr/bin/env bash
# `grm report`: sections, exit codes and the JSON names that scripts rely on.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
small=(--dataset sbm --set dataset.nodes=120 --epochs 4 --set train.eval_every=2)

expect_exit 0 "report --help" "$grm" report --help
check "help shows examples" grep -q "Examples:" out
expect_exit 2 "nothing to report on" "$grm" report
check "says what to name" grep -q "name run folders or --study" err
expect_exit 2 "both runs and a study" "$grm" report runs --study s
expect_exit 3 "a folder without runs" "$grm" report "$work/none"
expect_exit 3 "a study without a database" "$grm" report --study s
check "no file is left after a mistake" [ ! -e report.html ]

"$grm" train "${small[@]}" --method erm,grm --seeds 2 -q > /dev/null 2>&1
expect_exit 0 "a report of runs" "$grm" report runs --json
check "JSON has the promised names" jq -e '.report == "report.html" and .runs == 4 and .missing == 0
  and .bytes > 10000 and (.sections | map(.id)) == ["summary", "results", "comparison", "reliability", "curves",
    "shift", "explanations", "repeat", "left-out"]
  and (.left_out | map(.section)) == ["Comparison with published values"]' out
check "the file has as many bytes" [ "$(stat -c %s report.html)" = "$(jq .bytes out)" ]
check "it loads nothing" bash -c "! grep -qE '<script|<link|src=|url\(|@import|href=\"[^#]' report.html"
check "every test domain has a row" bash -c "[ \$(grep -c '^<th scope=\"row\" class=\"text\">T[1-8]</th>' report.html) -ge 8 ]"
for word in "train majority" "own majority" "loss terms, 2 runs" "validation by epoch" "generated" \
  "Agreement over 2 seeds" "libtorch\|torch" "grm report runs --out report.html"; do
  check "the page has '$word'" grep -q "$word" report.html
done
cp report.html first.html
expect_exit 0 "a report again" "$grm" report runs -q
check "has the same bytes" cmp report.html first.html

# The printed command trains to the same scores.
command=$(grep -oE 'grm train --dataset sbm --method grm[^<]*' report.html | head -1)
check "there is a command that repeats GRM" [ -n "$command" ]
eval "$grm ${command#grm } --out again -q --json" > out 2> err
again=$(jq -r '.runs[0]' out)
for run in runs/sbm/grm/*-1000; do
  check "which trains to the same scores" [ "$(jq -c .chosen "$run/summary.json")" = \
    "$(jq -c .chosen "$again/summary.json")" ]
done

expect_exit 0 "one method, without the data" "$grm" report runs --method erm --no-data --json \
  --title '<b>Mine</b>' --out sub/one.html
check "has no comparison and says why" jq -e '(.sections | map(.id) | index("comparison")) == null
  and (.left_out | any(.reason == "there is one method only"))
  and (.left_out | any(.reason == "left out by --no-data"))' out
check "the title is escaped" grep -q '<h1>&lt;b&gt;Mine&lt;/b&gt;</h1>' sub/one.html
expect_exit 2 "a method that did not run" "$grm" report runs --method dir
expect_exit 3 "a file that cannot be written" "$grm" report runs --no-data --out report.html/x.html

rm "$(ls -d runs/sbm/erm/*-1001)/summary.json"
expect_exit 0 "an unfinished run" "$grm" report runs --no-data --json
check "is counted as missing" jq -e '.runs == 3 and .missing == 1' out
check "and named" grep -q "not finished: 4 epochs so far" report.html

# Own data that is called like a built-in dataset is not mixed with it.
"$grm" data convert sbm --set nodes=120 --out mine -q > /dev/null 2>&1
"$grm" train --dataset ./mine --method erm --epochs 2 --out runs -q > /dev/null 2>&1
expect_exit 0 "runs on two datasets of one name" "$grm" report runs --no-data --out both.html --json
check "are two datasets" grep -q "<caption>sbm (mine), accuracy</caption>" both.html

"$grm" train --dataset spmotif --set dataset.train_per_class=6 --set dataset.val_per_class=3 \
  --set dataset.test_per_class=4 --epochs 1 --method grm:gin --out graphs -q > /dev/null 2>&1
expect_exit 0 "a report at the graph level" "$grm" report graphs --items 2 --out graphs.html --json
check "beside the published values, with explanations" jq -e '.sections | map(.id) |
  index("published") != null and index("explanations") != null' out
check "of as many items as asked for" [ "$(grep -c '<div class="sides">' graphs.html)" = 2 ]

cat > s.toml <<'TOML'
name = "s"
about = "A small study."
seeds = 2
methods = ["erm"]
datasets = ["sbm", "cora"]
[set]
dataset.symmetrise = true
train.epochs = 3
train.test = "selected"
TOML
mkdir elsewhere
"$grm" study run s.toml --jobs 1 --threads 1 --db elsewhere/results.db --out elsewhere/runs -q \
  > /dev/null 2>&1
expect_exit 0 "a report of a study" "$grm" report --study s --db elsewhere/results.db --out s.html --json
check "with curves, and runs that have no data" jq -e '.runs == 2 and .missing == 2
  and (.sections | map(.id) | index("curves")) != null' out
expect_exit 0 "a study by its name alone" "$grm" report s --db elsewhere/results.db --out name.html -q
expect_exit 0 "a study by its file" "$grm" report s.toml --db elsewhere/results.db --out file.html -q
check "they are the same page" cmp <(grep -v 'grm report' name.html) <(grep -v 'grm report' file.html)
expect_exit 3 "neither a folder nor a study" "$grm" report nothing --db elsewhere/results.db
check "says both" grep -q "neither a folder of runs nor a study of elsewhere/results.db" err
check "shows the specification" grep -q 'A small study.' s.html
expect_exit 2 "an unknown study" "$grm" report --study t --db elsewhere/results.db
finish
