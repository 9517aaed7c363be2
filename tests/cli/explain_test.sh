#!/usr/bin/env bash
# grm explain: node and graph level, files, stability over seeds, errors.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "explain --help" "$grm" explain --help
check "help shows examples" grep -q "Examples:" out

"$grm" train --dataset sbm --set dataset.nodes=150 --epochs 3 --set train.eval_every=3 --method grm \
  --seeds 2 --json > trained.json 2> err
run=$(jq -r '.runs[0]' trained.json)
other=$(jq -r '.runs[1]' trained.json)
expect_exit 0 "explain a node" "$grm" explain "$run" --item 17 --out why --json
check "stdout is one JSON object with the promised names" jq -e '
  [.dataset, .method, .level, .domain, .item, .name, .centre] == ["sbm", "grm", "node", "T1", 17,
    "17", 17] and ([.probabilities[]] | add > 0.999 and add < 1.001) and .generated
  and .predicted.probability == ([.probabilities[]] | max) and .samples == 5 and .prior == 0.5
  and (.nodes | all(has("id") and has("name") and (.distance | type == "number")))
  and (.edges | all(has("source") and has("target") and has("weight") and has("spread")
    and has("observed") and has("fate")))' out
check "all pairs of the ego-net have a weight" jq -e '(.nodes | length) as $n
  | (.edges | length) == $n * ($n - 1) / 2' out
check "fates are a partition that agrees with weights and observation" jq -e '
  (if .differ then .threshold - 1e-9 else 0 end) as $t
  | .edges | all(.fate == (if .observed then (if .weight >= $t then "kept" else "weakened" end)
    else (if .weight >= $t then "new" else "absent" end) end))' out
check "they differ where they span more than twice their spread" jq -e '
  ([.edges[].weight] | max - min) as $range | ([.edges[].spread] | add / length) as $noise
  | .differ == ($range > 2 * $noise) and (.noise - $noise | fabs) < 1e-9' out
check "with one run stability is over the samples" jq -e '.stability | .over == "samples"
  and .members == 5 and .spearman >= -1 and .spearman <= 1 and .jaccard >= 0 and .jaccard <= 1' out
jq 'del(.files, .message)' out > printed.json
check "explanation.json is what was printed" cmp printed.json <(jq . why/explanation.json)
check "the GraphML file is there" grep -q '<graphml' why/explanation.graphml
check "the Graphviz file has both graphs" bash -c \
  "grep -q cluster_observed why/explanation.dot && grep -q cluster_generated why/explanation.dot"
if command -v xmllint > /dev/null; then
  check "GraphML is well-formed" xmllint --noout why/explanation.graphml
fi
if command -v neato > /dev/null; then
  check "the picture is there as SVG" grep -q '</svg>' why/explanation.svg
  check "the picture is there as PNG" test -s why/explanation.png
fi
cp why/explanation.json first.json
expect_exit 0 "explain again" "$grm" explain "$run" --item 17 --out why --data sbm
check "the same bits again" cmp first.json why/explanation.json
check "text names item, prediction, fates and stability" bash -c "grep -q '^node 17 of T1' out &&
  grep -q '^predicted ' out && grep -q 'kept and' out && grep -q 'stability over 5 samples' out"
expect_exit 0 "another domain and the default folder" "$grm" explain "$run" --item 3 --domain T2
check "the default folder is named after the item" test -s explanations/grm-T2-3/explanation.json
expect_exit 0 "without Graphviz" env PATH=/nowhere "$grm" explain "$run" --item 3 --out bare
check "a message says how to get it" grep -q "apt-get install graphviz" err
check "the Graphviz text stays" test -s bare/explanation.dot

expect_exit 0 "stability over seeds" "$grm" explain "$run" --item 17 --seeds "$other" --json
check "both runs are named and compared" jq -e '.stability.over == "seeds"
  and .stability.members == 2 and ([.runs[].seed] == [1000, 1001])
  and (.stability.spearman | type == "number")' out
expect_exit 2 "the same seed twice" "$grm" explain "$run" --item 17 --seeds "$run"
expect_exit 2 "an item that is not there" "$grm" explain "$run" --item 150
check "the range is named" grep -q "nodes of T1 are 0 .. 149" err
expect_exit 2 "a domain that is not there" "$grm" explain "$run" --item 1 --domain T22
check "the nearest domain is named" grep -q "did you mean 'T2'" err
expect_exit 2 "no item" "$grm" explain "$run"
expect_exit 3 "no run" "$grm" explain "$work/none" --item 1

"$grm" train --dataset sbm --set dataset.nodes=150 --epochs 1 --method erm --json > out 2> err
erm=$(jq -r '.runs[0]' out)
expect_exit 2 "a method without explanations of its own" "$grm" explain "$erm" --item 1 --by own
check "those that have them are named" grep -q "those that have: grm" err
expect_exit 0 "it is explained by leaving out edges" "$grm" explain "$erm" --item 1 --json
check "and says so" jq -e '.by == "removal" and .generated == false and .counts.observed == .counts.edges
  and ([.edges[] | select(.observed | not)] | length) == 0 and .differ' out
expect_exit 0 "and so is grm, if it is asked to" "$grm" explain "$run" --item 1 --by removal --json
check "with observed edges alone" jq -e '.by == "removal" and .counts.new == 0' out
expect_exit 2 "runs of two methods" "$grm" explain "$run" --item 1 --seeds "$erm"

# Own data: items by the names that the tables give them, also where the folder has moved.
for month in jan feb mar; do
  mkdir -p "pay/$month"
  {
    echo 'id,amount,label'
    for k in $(seq 0 19); do echo "$month-a&$k,$((k * 7 % 11)),$((k % 2))"; done
  } > "pay/$month/nodes.csv"
  {
    echo 'source,target'
    for k in $(seq 0 19); do echo "$month-a&$k,$month-a&$(((k * 3 + 1) % 20))"; done
  } > "pay/$month/edges.csv"
done
printf '%s\n' 'name = "payments"' '[train]' 'domains = ["jan"]' '[validation]' 'domains = ["feb"]' \
  '[test]' 'domains = ["mar"]' > pay/dataset.toml
"$grm" train --dataset pay --method grm --epochs 1 --json > out 2> err
own=$(jq -r '.runs[0]' out)
expect_exit 0 "explain an item of own data by its name" "$grm" explain "$own" --item 'feb-a&7' \
  --out own --json
check "the item is found in its domain" jq -e '.domain == "feb" and .item == 7
  and .nodes[0].name == "feb-a&7"' out
check "names are escaped" grep -q 'feb-a&amp;7' own/explanation.graphml
cp own/explanation.json before.json
mv pay moved
expect_exit 0 "explain with moved data" "$grm" explain "$own" --data moved --item 'feb-a&7' --out own
check "the weights are the same" cmp <(jq .edges before.json) <(jq .edges own/explanation.json)
expect_exit 2 "the data of the run is gone" "$grm" explain "$own" --item 'feb-a&7'
check "the way out is named" grep -q -- "--data says where else to look" err
expect_exit 2 "a name that is not there" "$grm" explain "$own" --data moved --domain mar \
  --item 'mar-b&7'
check "the nearest name is named" grep -q "did you mean 'mar-a&7'" err

motifs=(--dataset spmotif --set dataset.train_per_class=8 --set dataset.val_per_class=4
  --set dataset.test_per_class=4 --epochs 1)
for method in grm dir; do
  "$grm" train "${motifs[@]}" --method $method --json > out 2> err
  expect_exit 0 "explain a graph by $method" "$grm" explain "$(jq -r '.runs[0]' out)" --item 5 \
    --out "graph-$method" --json
  check "the graph's true edges are marked" jq -e '.level == "graph" and .centre == null
    and ([.edges[] | select(.truth == true)] | length) > 0' out
done
check "dir scores observed edges alone" jq -e '(.generated | not) and .prior == null
  and (.edges | all(.observed)) and .counts.new == 0 and .stability.spearman == null' out
finish
