#!/usr/bin/env bash
# `grm report`: sections, exit codes and the JSON names that scripts rely on.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: there is no $python"; exit 77; }
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
  and .bytes > 10000 and (.sections | map(.id)) == ["answer", "domains", "shift", "methods", "curves", "models",
    "reliability", "embedding", "explanations", "repeat"]
  and (.left_out | map(.section)) == ["Comparison with published values"]' out
check "the file has as many bytes" [ "$(stat -c %s report.html)" = "$(jq .bytes out)" ]
check "it loads nothing" bash -c "! grep -qE '<link|<(script|img|iframe)[^>]* src=|url\(|@import|<a [^>]*href=\"[^#]' report.html"
# The data of the page, by itself.
document() { $python "$source_dir/tests/web/document.py" "$1"; }
document report.html > d.json
check "the document says what it is" jq -e '.schema == "grm.report" and .version == 1 and (.runs | length) == 4' d.json
check "every test domain has its scores and its shift" jq -e '.datasets[0] | .domains == ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"]
  and all(.rows[]; .scores | length == 8 and all(.mean >= 0)) and [.shift.domains[] | select(.role == "test") | .name] == .domains' d.json
check "every row has answers on every domain" jq -e '.datasets[0].models | length == 2 and
  all(.domains | length == 9 and all(.confusion | flatten | add > 0))' d.json
check "items of all domains are embedded" jq -e '.datasets[0].embedding | .shown <= 900 and (.spaces | length) == 3 and
  all(.spaces[]; (.x | length) == (.y | length))' d.json
for word in "train majority" "own majority" "latent_kl" '"generated":true' "Agreement over 2 seeds" "libtorch\|torch" \
  "grm report runs --out report.html"; do
  check "the page has '$word'" grep -q "$word" report.html
done
check "curves of both rows, terms with their weights" jq -e '(.curves | length) == 2 and all(.curves[]; .runs == 2) and
  ([.curves[] | select(.row | startswith("grm")) | .terms[] | select(.name == "latent_kl") | .option] == ["method.alpha"])' d.json
cp report.html first.html
expect_exit 0 "a report again" "$grm" report runs -q
check "has the same bytes" cmp report.html first.html

# The printed command trains to the same scores.
command=$(jq -r '.repeat.commands[]' d.json | grep -E '^grm train --dataset sbm --method grm' | head -1)
check "there is a command that repeats GRM" [ -n "$command" ]
eval "$grm ${command#grm } --out again -q --json" > out 2> err
again=$(jq -r '.runs[0]' out)
for run in runs/sbm/grm/*-1000; do
  check "which trains to the same scores" [ "$(jq -c .chosen "$run/summary.json")" = \
    "$(jq -c .chosen "$again/summary.json")" ]
done

expect_exit 0 "one method, without the data" "$grm" report runs --method erm --no-data --json \
  --title '<b>Mine</b>' --out sub/one.html
check "has no comparison and says why" jq -e '(.sections | map(.id) | index("methods")) == null
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
document graphs.html > g.json
check "of as many items as asked for" jq -e '.datasets[0].explanations.items | length == 2' g.json

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
check "they are the same page" cmp <(document name.html | jq "del(.command)") <(document file.html | jq "del(.command)")
check "with the cells of the study" jq -e '.study.states.done == 2 and (.study.cells | length) == 4' <(document name.html)
expect_exit 3 "neither a folder nor a study" "$grm" report nothing --db elsewhere/results.db
check "says both" grep -q "neither a folder of runs nor a study of elsewhere/results.db" err
check "shows the specification" grep -q 'A small study.' s.html
expect_exit 2 "an unknown study" "$grm" report --study t --db elsewhere/results.db
finish
