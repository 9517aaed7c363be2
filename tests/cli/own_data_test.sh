#!/usr/bin/env bash
# Own data from the command line: a template, problems with places, training at both levels.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "init" "$grm" data init payments
check "the template is there" test -s payments/dataset.toml
check "its name is that of the folder" grep -q '^name = "payments"' payments/dataset.toml
expect_exit 3 "init does not overwrite" "$grm" data init payments
check "and says so" grep -q "exists already" err
expect_exit 0 "init of graphs" "$grm" data init molecules --level graph --json
check "JSON names the file" jq -e '.written == "molecules/dataset.toml"' out
check "the level is in it" grep -q '^level = "graph"' molecules/dataset.toml
expect_exit 2 "init of another level" "$grm" data init other --level edge
expect_exit 3 "a template without files" "$grm" data check payments
check "names the missing domain" grep -q "payments/dataset.toml:.*domain 'first'" out

# Three months of payments: the class follows the amount, the fee's offset is the month's.
for month in first second third; do
  mkdir -p payments/$month
  awk -v month=$month 'BEGIN {
    shift = month == "first" ? 0 : month == "second" ? 2 : 4
    print "id,label,amount,fee,country" > ("payments/" month "/nodes.csv")
    print "source,target" > ("payments/" month "/edges.csv")
    for (i = 0; i < 60; ++i) {
      y = i % 2
      printf "p%d,%s,%.3f,%.3f,%s\n", i, y ? "fraud" : "fair", 3 * y + sin(i), shift + cos(7 * i), \
        i % 3 ? "DE" : "FR" > ("payments/" month "/nodes.csv")
      printf "p%d,p%d\np%d,p%d\n", i, (i + 2) % 60, i, (i + 8) % 60 > ("payments/" month "/edges.csv")
    }
  }'
done
expect_exit 3 "words in a numeric column" "$grm" data check ./payments
check "file, line and column" grep -q "^./payments/first/nodes.csv:2:5: column 'country': 'FR' is not a number" out
check "the fix" grep -q 'fix: .*categorical = \["country"\]' out
"$grm" data check ./payments --json > out 2> err
check "problems are JSON too" jq -e '.ok == false and .problems[0].line == 2
  and .problems[0].column == 5 and (.problems[0].fix | length) > 0' out
expect_exit 3 "training stops at the first of them" "$grm" train --dataset ./payments
check "with the same words" grep -q "first/nodes.csv:2:5: column 'country'" err

printf '\n[columns]\ncategorical = ["country"]\n' >> payments/dataset.toml
expect_exit 0 "check" "$grm" data check ./payments
check "hashes of the files" grep -q "  first/nodes.csv" out
expect_exit 0 "describe" "$grm" data describe ./payments --json
check "counts of the domains" jq -e '.dataset == "payments" and (.domains | length) == 3
  and .domains[0].nodes == 60 and .domains[0].features == 4' out

expect_exit 0 "train" "$grm" train --dataset ./payments --method erm --epochs 40 --json
check "runs are under the short name" test -d runs/payments/erm
check "the amount is learned" jq -e '.avg > 80' out
expect_exit 0 "the dataset.toml itself is a name, too" "$grm" train --epochs 1 --method erm \
  --dataset payments/dataset.toml
expect_exit 0 "one run is read back" "$grm" train --dataset ./payments --method erm --epochs 40 \
  --resume
check "instead of being trained again" test "$(ls runs/payments/erm | wc -l)" = 2

# What has no labelled future has no test domain.
mkdir untested
sed '/^\[test\]/,/^domains/d' payments/dataset.toml > untested/dataset.toml
cp -r payments/first payments/second untested
expect_exit 0 "train without test domains" "$grm" train --dataset ./untested --method erm \
  --epochs 2 --json
check "there are no test scores" jq -e '.test == [] and .validation > 0' out

for domain in first second third; do
  mkdir -p molecules/$domain
  awk -v domain=$domain 'BEGIN {
    folder = "molecules/" domain "/"
    print "id,label" > (folder "graphs.csv")
    print "id,graph,charge,mass" > (folder "nodes.csv")
    print "graph,source,target,length" > (folder "edges.csv")
    for (g = 0; g < 24; ++g) {
      y = g % 2
      printf "m%d,%d\n", g, y > (folder "graphs.csv")
      n = 4 + g % 3
      for (i = 0; i < n; ++i) {
        printf "%d,m%d,%.3f,%.3f\n", i, g, 2 * y + sin(g + i), cos(i) > (folder "nodes.csv")
        printf "m%d,%d,%d,%.2f\n", g, i, (i + 1) % n, 1 + y > (folder "edges.csv")
      }
    }
  }'
done
printf '[edge_columns]\nnumeric = ["length"]\n' >> molecules/dataset.toml
sed -i 's/^# undirected = true/undirected = true/' molecules/dataset.toml
expect_exit 0 "check of graphs" "$grm" data check ./molecules

# Every method trains on own data of its level.
"$grm" methods --json > methods.json
for level in node graph; do
  data=payments
  if [ $level = graph ]; then data=molecules; fi
  for method in $(jq -r ".[] | select(.levels | index(\"$level\")) | .name" methods.json); do
    expect_exit 0 "$method on $data" "$grm" train --dataset ./$data --method "$method" --epochs 1 -q
  done
done
finish
