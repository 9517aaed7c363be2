#!/usr/bin/env bash
# Texts of users do no harm: names that are no UTF-8, formulas in CSV files, commands to the terminal.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
export OMP_WAIT_POLICY=passive LC_ALL=C
own_data data
args=(--method erm --epochs 3 --threads 1)
escape=$'\x1b'
no_escape() { ! grep -q "$escape" "$@"; }

# Paths that are no UTF-8: every verb works, JSON stays JSON.
odd=$'caf\xe9'
expect_exit 0 "train" "$grm" train --dataset ./data "${args[@]}" --out "$odd" --json
check "JSON" jq -e '.runs | length == 1' out
expect_exit 0 "resumed" "$grm" train --dataset ./data "${args[@]}" --out "$odd" --resume --json
run=$(echo "$odd"/own/erm/*)
expect_exit 0 "eval" "$grm" eval "$run" --json
check "JSON" jq -e '.run | length > 0' out
expect_exit 0 "predict" "$grm" predict "$run" --data ./data --out "$odd/p.csv" --json
check "JSON" jq -e . out
check "the file has its name" [ -s "$odd/p.csv" ]
expect_exit 0 "report" "$grm" report "$odd" --out "$odd/r.html" --json --no-data
check "JSON" jq -e '.runs == 1' out
check "the page is UTF-8" iconv -f UTF-8 -t UTF-8 "$odd/r.html"
expect_exit 0 "plot" "$grm" plot "$odd" --out "$odd/figures" --json
check "JSON" jq -e '.files | length > 0' out
printf '%s\n' 'name = "s"' 'about = "A small study."' 'seeds = 1' 'methods = ["erm"]' \
  'datasets = ["./data"]' '[set]' 'train.epochs = 2' > "$odd.toml"
expect_exit 0 "study" "$grm" study run "$odd.toml" --db "$odd.db" --out "$odd/study" --jobs 1 --json
check "JSON" jq -e '.states.done == 1' out
expect_exit 0 "export" "$grm" study export s --db "$odd.db"
check "JSON" jq -e '.runs | length == 1' out
expect_exit 3 "a run that is not there" "$grm" eval "$odd-none" --json
check "JSON" jq -e '.error.message | test("none")' out
check "the byte is written out" grep -qF 'caf\xe9-none' err
cp -r data "$odd-data"
expect_exit 0 "data check" "$grm" data check "./$odd-data" --json
check "JSON" jq -e . out
expect_exit 2 "a configuration cannot name such data" "$grm" train --dataset "./$odd-data" "${args[@]}"
check "which is said with a way out" grep -q "not UTF-8.*ln -s" err
check "before any run is made" [ ! -e runs ]

# Commands to the terminal, from names of files and from what is in them.
expect_exit 3 "a name with commands" "$grm" eval "no${escape}]0;owned${escape}[2Jthere"
check "is not obeyed" no_escape err
check "but shown" grep -qF 'no\x1b]0;owned\x1b[2Jthere' err
cp -r data hostile
sed -i "s/^5,1,a,[^,]*/5,1,a,${escape}[31m/" hostile/nodes.csv
expect_exit 3 "a cell with commands" "$grm" data check ./hostile
check "is not obeyed" no_escape out err
expect_exit 3 "nor in training" "$grm" train --dataset ./hostile "${args[@]}"
check "is not obeyed" no_escape out err
cp -r data hostile2
sed -i "s/,c,/,c${escape}[31m,/" hostile2/nodes.csv
sed -i 's/"c"/"c\\u001b[31m"/' hostile2/dataset.toml
"$grm" train --dataset ./hostile2 "${args[@]}" --out hostile2-runs > out 2> err
check "a domain's name with commands is not obeyed" no_escape out err
"$grm" data check ./hostile2 > out 2> err
check "nor when it is checked" no_escape out err
expect_exit 2 "a flag with commands" "$grm" train "--x${escape}[31m"
check "is not obeyed" no_escape err

# Formulas: text of users is no formula for a spreadsheet, numbers stay numbers.
cp -r data formulas
awk -F, -v OFS=, 'NR > 1 { $1 = "=SUM(" $1 ")"; $2 = $2 ? "@one" : "-zero" } { print }' \
  data/nodes.csv > formulas/nodes.csv
awk -F, -v OFS=, 'NR > 1 { $1 = "=SUM(" $1 ")"; $2 = "=SUM(" $2 ")" } { print }' data/edges.csv \
  > formulas/edges.csv
sed -i 's/,c,/,=1+1,/' formulas/nodes.csv
sed -i 's/"c"/"=1+1"/' formulas/dataset.toml
expect_exit 0 "data with formulas" "$grm" train --dataset ./formulas "${args[@]}" --out f -q
expect_exit 0 "predictions of it" "$grm" predict f/own/erm/* --data ./formulas --out p.csv
check "there are some" [ "$(wc -l < p.csv)" -gt 30 ]
# A field of a CSV line begins at the line's start or behind a comma, maybe in quotes.
no_formula() { ! grep -E '(^|,)"?[=@+]|(^|,)"?-[^0-9.]' "$1"; }
check "no cell is a formula" no_formula p.csv
check "the text is there" grep -qF "'=SUM(3)" p.csv
check "labels too" grep -qF ",'@one," p.csv
sed -i 's/data"/formulas"/' "$odd.toml"
expect_exit 0 "a study of it" "$grm" study run "$odd.toml" --db f.db --out f-runs --jobs 1 -q
for format in csv summary-csv; do
  expect_exit 0 "its table" "$grm" study table s --db f.db --format $format
  check "has its domain" grep -qF "'=1+1" out
  check "and no formula" no_formula out
done
expect_exit 0 "its runs" "$grm" study export s --db f.db --format runs
check "have no formula" no_formula out
finish
