#!/usr/bin/env bash
# Every number of a study's tables, of reports and of `grm eval` is computed again from the raw predictions, by a plain
# program (numbers/): own data with equal and with different domains, two folders of one name, three metrics, domains that
# are scored together, items without labels, variants, centring.
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: there is no $python"; exit 77; }
source "$(dirname "$0")/../cli/lib.sh" "$@"
numbers=$source_dir/tests/trust/numbers
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8
$python "$numbers/data.py" || exit 1
cat > s.toml <<'TOML'
name = "s"
seeds = 3
methods = ["erm", "grm"]
datasets = ["./p", {name = "./q", seeds = 2}, {name = "./r", seeds = 2}]
[set]
train.epochs = 6
train.eval_every = 2
train.test = "selected"
[[variant]]
name = "plain"
[[variant]]
name = "centred"
set.dataset.centre = "domain"
TOML
expect_exit 0 "the study" "$grm" study run s.toml --jobs 2 --threads 1 -q
"$grm" study status s --json > cells.json
for format in text markdown csv summary-csv json; do
  expect_exit 0 "table as $format" "$grm" study table s --format $format --out table.$format
done
expect_exit 0 "report of the study" "$grm" report --study s --no-data --out study.html
expect_exit 0 "report of the runs" "$grm" report runs --no-data --out runs.html

# Raw predictions of every run, and the scores that `grm eval` prints for some.
mkdir predictions
jq -r '.cells | to_entries[] | [.key, .value.folder, (.value.dataset | if test("\\(p\\)") then "p" elif test("\\(q\\)") then "q"
  else "r" end)] | @tsv' cells.json > runs.tsv
check "predictions" xargs -a runs.tsv -P 2 -L 1 bash -c '"$0" predict "$2" --data "./$3" --out predictions/$1.csv -q --threads 1' "$grm"
awk '!seen[$3]++ || /grm/ && !seen[$3 "grm"]++ { print NR - 1, $2 }' runs.tsv > evaluated
while read -r number folder; do
  check "eval of $folder" bash -c "'$grm' eval '$folder' --json --threads 1 > eval$number.json"
done < evaluated
expect_exit 0 "all numbers" $python "$numbers/check.py" cells.json
[ "$failures" = 0 ] || head -n 40 out
tail -n 1 out
finish
