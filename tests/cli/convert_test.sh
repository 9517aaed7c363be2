#!/usr/bin/env bash
# A converted dataset trains to the same bits; shift and convert keep their promises to scripts.
source "$(dirname "$0")/lib.sh" "$@"

# weights FILE: checksum of the tensors of a model, without the head that names its dataset.
weights() {
  local head
  head=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  tail -c +$((head + 9)) "$1" | sha256sum
}

# same_bits METHOD NAME SETTING...: trains METHOD on the built-in and on its converted form with
# the very same options, taken from what the first run says it used.
same_bits() {
  local method=$1 name=$2
  shift 2
  local settings=()
  for setting in "$@"; do settings+=(--set "dataset.$setting"); done
  rm -rf "data-$name"
  expect_exit 0 "convert $name" "$grm" data convert "$name" "${settings[@]}" --out "data-$name"
  expect_exit 0 "train $method on $name" "$grm" train --dataset "$name" "${settings[@]}" \
    --method "$method" --epochs 3 --out built-in --json
  local first second
  first=$(jq -r '.runs[0]' out)
  cp out first.json
  # The sections [method] and [train] alone: a folder has no options that make the data.
  sed -n '/^\[method\]/,$p' "$first/config.toml" > same.toml
  expect_exit 0 "train $method on the converted $name" "$grm" train --dataset "./data-$name" \
    --config same.toml --out converted --json
  second=$(jq -r '.runs[0]' out)
  check "$method on $name: the same weights" \
    test "$(weights "$first/model.safetensors")" = "$(weights "$second/model.safetensors")"
  check "$method on $name: the same scores" \
    test "$(jq -c '[.test, .validation, .best_epochs]' first.json)" = \
    "$(jq -c '[.test, .validation, .best_epochs]' out)"
}

same_bits erm sbm nodes=150
same_bits grm sbm nodes=100 centre=domain
same_bits erm spmotif train_per_class=6 val_per_class=3 test_per_class=3
same_bits grm spmotif train_per_class=6 val_per_class=3 test_per_class=3

"$grm" data describe sbm --set nodes=100 --set centre=domain --json > built-in.json 2> /dev/null
"$grm" data describe ./data-sbm --json > converted.json 2> /dev/null
check "both have one fingerprint" \
  test "$(jq .fingerprint built-in.json)" = "$(jq .fingerprint converted.json)"
check "the description says where the data came from" \
  grep -q '^# Written by .* from sbm, nodes = 100, centre = "domain"' data-sbm/dataset.toml

expect_exit 0 "convert --mapped" "$grm" data convert sbm --set nodes=150 --mapped --out data-mapped
"$grm" data describe sbm --set nodes=150 --json > built-in.json 2> /dev/null
"$grm" data describe ./data-mapped --json > converted.json 2> /dev/null
check "mapped graphs have the fingerprint of the dataset" \
  test "$(jq .fingerprint built-in.json)" = "$(jq .fingerprint converted.json)"
for where in sbm ./data-mapped; do
  settings=(--set train.batch=40 --set train.fanout=5,3)
  [ $where != sbm ] || settings+=(--set dataset.nodes=150)
  expect_exit 0 "train on samples of $where" "$grm" train --dataset $where --method erm --epochs 2 "${settings[@]}" --out runs --json
  weights "$(jq -r '.runs[0]' out)/model.safetensors" >> mapped.sums
done
check "samples of mapped graphs give the same weights" test "$(sort -u mapped.sums | wc -l)" = 1
truncate -s -1 data-mapped/graph0.in_indices.i32
expect_exit 3 "a file that was cut short" "$grm" train --dataset ./data-mapped --method erm --epochs 1 --out runs
check "it is named" grep -q "graph0.in_indices.i32: .* cut short" err

expect_exit 2 "convert into a folder that is not empty" "$grm" data convert sbm --out data-sbm
check "the way out is named" grep -q -- "--force" err
expect_exit 0 "convert with --force" "$grm" data convert sbm --set nodes=50 --out data-sbm --force \
  --json
check "convert prints one JSON object" \
  jq -e '.dataset == "sbm" and .out == "data-sbm" and .domains == 10' out
check "progress goes to stderr" grep -q "T8.npz (10 of 10)" err
expect_exit 2 "convert without --out" "$grm" data convert sbm
expect_exit 2 "convert of an unknown dataset" "$grm" data convert smb --out elsewhere
check "nothing is left behind" test ! -e elsewhere

expect_exit 0 "shift" "$grm" data shift sbm --set nodes=300 --json
check "shift has the promised names" jq -e '.verdict == "strong" and (.text | length) > 0
  and (.advice | length) > 0 and (.domains | length) == 9 and .training.items == 300
  and (.domains[1] | .domain == "T1" and .role == "test" and .verdict == "strong"
    and (.measures | has("features") and has("column") and has("spread") and has("degrees")
      and has("labels") and has("homophily") and has("classifier"))
    and (.measures.features | has("value") and has("chance") and has("verdict"))
    and (.columns[0] | has("column") and has("name") and has("difference")))' out
expect_exit 0 "shift as text" "$grm" data shift sbm --set nodes=300 --set centre=domain
check "the verdict is in words" grep -q "^sbm: no shift" out
expect_exit 0 "shift of own data" "$grm" data shift ./data-spmotif --json
check "a set of graphs has sizes" jq -e '.level == "graph" and (.training | has("mean_nodes"))
  and (.domains[0].measures | has("sizes") and (has("homophily") | not))' out
expect_exit 0 "shift of new graphs" "$grm" data shift ./data-sbm --new data-sbm/T5.npz --json
check "only the new graphs are compared" jq -e '[.domains[].domain] == ["T5"]' out
for verb in shift convert; do
  expect_exit 0 "data $verb --help" "$grm" data $verb --help
  check "data $verb --help shows examples" grep -q "Examples:" out
done
finish
