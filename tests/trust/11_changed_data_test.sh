#!/usr/bin/env bash
# A score belongs to the data that it was computed on: a finished or unfinished run is not returned or
# continued after its data changed, and eval, report and studies say or do what follows from it.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
export OMP_WAIT_POLICY=passive
own_data data
args=(train --dataset ./data --method erm --epochs 6 --threads 1 -q --out runs)
# The first x of the second domain, so that what is loaded differs and stays valid.
change() { sed -i 's/^30,0,b,[^,]*/30,0,b,7.5/' data/nodes.csv; }

expect_exit 0 "a run" "$grm" "${args[@]}" --json
expect_exit 0 "which is reused" "$grm" "${args[@]}" --resume --json
old=$(jq -r '.data_hashes["nodes.csv"]' out)
check "with the hash of its data" [ "$old" = "$(sha256sum < data/nodes.csv | cut -d' ' -f1)" ]
run=$(echo runs/own/erm/*)
expect_exit 0 "eval on the same data" "$grm" eval "$run" --json
check "says so" jq -e '.data == {"same": true, "changed": []}' out
check "without a warning" bash -c "! grep -q warning err"
expect_exit 0 "a report on the same data" "$grm" report runs --out same.html --no-data
check "has no remark" bash -c "! grep -q 'other data than is there now' same.html err"

cp -r data original
change
before=$(find "$run" -type f ! -name log.txt -print0 | sort -z | xargs -0 sha256sum)
expect_exit 3 "a finished run of other data" "$grm" "${args[@]}" --resume --json
check "names the file that changed" grep -q "nodes.csv (changed)" err
check "and what to do" grep -q "without --resume" err
check "and prints no score" jq -e 'has("error") and (has("avg") | not)' out
check "the run is as it was" [ "$before" = \
  "$(find "$run" -type f ! -name log.txt -print0 | sort -z | xargs -0 sha256sum)" ]
expect_exit 0 "eval on other data" "$grm" eval "$run" --json
check "says it in JSON" jq -e '.data == {"same": false, "changed": ["nodes.csv"]}' out
check "and in words" grep -q "warning: .*not the one that the model was trained.*nodes.csv" err
expect_exit 0 "a report of it" "$grm" report runs --out changed.html --json --no-data
check "has a remark on the page" grep -q "seed 1000: scored on other data than is there now" changed.html
check "and in JSON" jq -e '.notes | any(test("nodes.csv \\(changed\\)"))' out
expect_exit 0 "a new run" "$grm" "${args[@]}" --json
expect_exit 0 "is the one that is reused now" "$grm" "${args[@]}" --resume --json
check "with the new hash" [ "$(jq -r '.data_hashes["nodes.csv"]' out)" != "$old" ]
rm -r data && cp -r original data
expect_exit 0 "with the old data back the old run is" "$grm" "${args[@]}" --resume --json
check "found again" [ "$(jq -r '.runs[0]' out)" = "$run" ]

# An unfinished run.
"$grm" train --dataset ./data --method erm --epochs 100000 --threads 1 -q --out half \
  --set train.checkpoint_seconds=0 > /dev/null 2>&1 &
process=$!
wait_until bash -c "ls half/own/erm/*/state.safetensors"
kill -9 $process
wait $process 2> /dev/null
change
expect_exit 3 "an unfinished run of other data" "$grm" train --dataset ./data --method erm \
  --epochs 100000 --threads 1 -q --out half --resume
check "names the file that changed" grep -q "nodes.csv (changed)" err

# A study: its cells of other data start anew, and another study does not take them over.
rm -r data && cp -r original data
for name in one two; do
  printf '%s\n' "name = \"$name\"" 'about = "Two runs."' 'seeds = 2' 'methods = ["erm"]' \
    'datasets = ["./data"]' '[set]' 'train.epochs = 3' > $name.toml
done
run_study() { "$grm" study run "$1.toml" --db r.db --out study --jobs 1 --threads 1 --json; }
folders() { find study -name config.toml | wc -l; }
expect_exit 0 "a study" run_study one
expect_exit 0 "again: nothing to do" run_study one
check "two runs" [ "$(folders)" = 2 ]
change
expect_exit 0 "another study with the same configurations" run_study two
check "runs them on the data of today" [ "$(folders)" = 4 ]
expect_exit 0 "the first study" run_study one
check "says that its cells start anew" grep -q "2 cells were run on other data.*nodes.csv (changed)" err
expect_exit 0 "its export" "$grm" study export one --db r.db --format json
check "has today's data" [ "$(jq -r '[.runs[].environment.data_hashes["nodes.csv"]] | unique[]' out)" = \
  "$(sha256sum < data/nodes.csv | cut -d' ' -f1)" ]
mv data elsewhere
expect_exit 0 "without the data" "$grm" study table one --db r.db
finish
