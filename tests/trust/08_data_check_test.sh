#!/usr/bin/env bash
# `data check` tells what it lets pass: with file, line, column, what and fix, in --json as well.
source "$(dirname "$0")/../cli/lib.sh" "$@"

mkdir data
for domain in a b c; do
  mkdir data/$domain
  awk 'BEGIN { print "id,amount,kind,label"
    for (i = 0; i < 30; ++i) printf "n%d,%g,%d,%s\n", i, i % 2 * 3 + i % 5 / 5, i % 7, i % 2 ? "yes" : i == 4 ? "NO" : "no" }' > data/$domain/nodes.csv
  awk 'BEGIN { print "source,target,days"; for (i = 0; i + 2 < 30; ++i) printf "n%d,n%d,1\n", i, i + 2 }' > data/$domain/edges.csv
done
echo "source,target,days" > data/c/edges.csv
description='name = "d"
[train]
domains = ["a"]
[validation]
domains = ["b"]
[test]
domains = ["c"]
'
printf '%s' "$description" > data/dataset.toml
expect_exit 0 "what is warned of is no error" "$grm" data check ./data --json
check "classes that differ in case alone" jq -e '.ok and ([.warnings[] | select(.file == "./data/a/nodes.csv" and .line == 6 and .column == 4
  and (.what | contains("NO")) and (.fix | length > 0))] | length == 1)' out
check "a column of edges that is not used" jq -e '[.warnings[] | select(.file == "./data/a/edges.csv" and .column == 3 and (.what | contains("days")))] | length == 1' out
check "a domain without edges" jq -e '[.warnings[] | select(.what | contains("has no edge"))] | length == 1' out
expect_exit 0 "the same as text" "$grm" data check ./data
check "it says warning, with a fix below" bash -c "grep -A1 'warning: ./data/a/nodes.csv:6:4' out | grep -q 'fix:' && grep -q 'ok with 3 warnings' out"
expect_exit 0 "training tells them" "$grm" train --dataset ./data --method erm --epochs 1
check "as notes" bash -c "cat out err | grep -q 'capital letters'"

printf '%s[csv]\nedges = "../edges.csv"\n' "$description" > data/dataset.toml
sed 's/,days//; s/,1$//' data/a/edges.csv > data/edges.csv
sed -i 's/NO/no/' data/*/nodes.csv
expect_exit 0 "a file outside its folder" "$grm" data check ./data --json
check "its place in dataset.toml is named" jq -e '.warnings | length == 1 and (.[0].file | endswith("dataset.toml")) and .[0].line == 9 and (.[0].what | contains("outside"))' out

cp data/a/nodes.csv .
for verb in "data check" "train --method erm --dataset"; do
  expect_exit 3 "a table is no dataset: $verb" "$grm" $verb nodes.csv
  check "a folder is asked for" bash -c "cat out err | grep -q 'a folder with dataset.toml' && cat out err | grep -q 'grm data init'"
done

"$grm" data shift sbm --set dataset.nodes=100 --set dataset.centre=domain --json > out 2> err
check "no score of the classifier is below one half" jq -e '[.domains[].measures.classifier | select(. != null)] | length > 0 and all(.value >= 0.5 and .score <= .value)' out
finish
