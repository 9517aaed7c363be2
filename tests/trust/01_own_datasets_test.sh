#!/usr/bin/env bash
# Own datasets of a study stay apart, under the names of their dataset.toml: given by relative and absolute paths, with
# equal and with different domains, and when two folders have one name.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
own a easy 0 jan feb mar apr
own b hard 1 jan feb mar apr
own c other 1 x y z

study() {  # study NAME DATASETS: runs it
  cat > "$1.toml" <<TOML
name = "$1"
seeds = 2
methods = ["erm"]
datasets = [$2]
[set]
train.epochs = 20
train.test = "selected"
TOML
  expect_exit 0 "study $1" "$grm" study run "$1.toml" --jobs 2 --threads 1 -q --db "$1.db"
}
# columns STUDY: the names of its columns; and every column holds the runs of its own data alone.
columns() {
  "$grm" study table "$1" --db "$1.db" --json > table
  "$grm" study export "$1" --db "$1.db" > export
  jq -r '[.blocks[0].datasets[].dataset] | join("|")' table
}
own_numbers() {  # the mean of the runs whose configuration names this folder is that of this column
  jq -e --arg path "$1" --arg name "$2" --slurpfile table table '
    [.runs[] | select(.config | contains("name = \"" + $path + "\"")) | .record.chosen.val.test | map(.value) | add / length]
    | (add / length) as $mean
    | $table[0].blocks[0].datasets[] | select(.dataset == $name) | .methods[0].runs == 2
      and (.methods[0].avg.mean - $mean | fabs) < 1e-9' export
}

study relative '"./a", "./b", "c"'
check "names are those of the data" [ "$(columns relative)" = "easy|hard|other" ]
check "./a has its own numbers" own_numbers ./a easy
check "./b has its own numbers" own_numbers ./b hard
check "c has its own numbers" own_numbers c other
check "which differ" jq -e '[.blocks[0].datasets[].methods[0].avg.mean] | .[0] > .[1] + 10' table

study absolute "\"$work/a\", \"$work/b/\", \"$work/c/dataset.toml\""
check "absolute paths have names, too" [ "$(columns absolute)" = "easy|hard|other" ]
expect_exit 0 "a report of data with different test domains" "$grm" report --study absolute --db absolute.db --no-data --json
check "has results" jq -e '.sections | map(.id) | index("domains")' out
for name in easy hard other; do
  check "of $name" grep -q "<caption>$name, accuracy</caption>" report.html
done

# Two folders of one name, and one that is called like a built-in dataset.
mkdir -p more/a
cp -r a/. more/a
sed -i 's/^name.*/name = "easy"/' b/dataset.toml
sed -i 's/^name.*/name = "cora"/' c/dataset.toml
study twins '"./a", "./b", "./more/a", "./c"'
check "folders tell them apart" [ "$(columns twins | tr '|' '\n' | LC_ALL=C sort | paste -sd '|')" = \
  "cora (c)|easy (more/a)|easy ($(basename "$work")/a)|easy ($(basename "$work")/b)" ]
check "nothing is published for own data" jq -e '[.. | .published? // empty] == []' table
expect_exit 0 "run folders of data with one name" "$grm" report runs --no-data --out runs.html --json
check "are datasets of their own" [ "$(grep -c '<caption>easy (.*, accuracy</caption>' runs.html)" = 3 ]
sed 's|"./b"|"a/"|' twins.toml > twice.toml
expect_exit 2 "the same folder twice" "$grm" study run twice.toml --dry-run
check "is refused with its label" grep -q "is here already; give it another label" err
finish
