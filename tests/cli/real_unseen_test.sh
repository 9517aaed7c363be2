#!/usr/bin/env bash
# Graphs of a known dataset that were no part of a run, in their publisher's files, verb by verb: another university of
# fb100, a region of Twitch. The published files are in GRM_DATA; what is not there is skipped and counted.
verbs=5
if [ -z "${GRM_DATA:-}" ] || [ ! -d "$GRM_DATA" ]; then
  echo "skipped: $((2 * verbs)) checks of unseen files (5 verbs, fb100 and twitch): GRM_DATA names no folder of published files"
  exit 77
fi
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive

# answers NAME RUN FILES ITEMS FEATURE: what the five verbs say of FILES, domain NAME with ITEMS nodes.
answers() {
  local name=$1 run=$2 files=$3 items=$4 feature=$5
  expect_exit 0 "predict $name" "$grm" predict "$run" --data "$files" --out "$name.csv" --json
  cp out "$name.predict"
  check "a row for each node, by its number" test "$(cut -d, -f1,2 "$name.csv" | tail -n +2)" = "$(for ((i = 0; i < items; ++i)); do echo "$name,$i"; done)"
  expect_exit 0 "eval $name" "$grm" eval "$run" --data "$files" --bootstrap 0 --json
  check "its counts are those of predict" test "$(jq -c '[.classes[].predicted]' out)" = "$(jq -c '[.classes[].count]' "$name.predict")"
  check "and so is its score" jq -e --slurpfile p "$name.predict" \
    '$p[0].scores[0] as $s | .items == $s.labelled and .scores[$p[0].metric].value == $s.value' out
  expect_exit 0 "explain $name" "$grm" explain "$run" --data "$files" --item 17 --top 3 --json --out "why-$name"
  check "the answer is predict's" test "$(jq -r '.item, .predicted.class' out | paste -sd,)" = "$(awk -F, '$2 == 17 { print $2 "," $3 }' "$name.csv")"
  check "edges have weights" jq -e '.counts.observed > 0 and (.edges | length) > 0' out
  expect_exit 0 "attribute $name" "$grm" attribute "$run" --data "$files" --by gradient --top 3 --json
  check "features have their names" jq -e --arg like "$feature" --argjson n "$items" \
    '.domains[0].items == $n and all(.domains[0].features[]; .name | test($like)) and .domains[0].features[0].score > 0' out
  "$grm" watch "$run" --data "$files" --allow-missing --json > out 2> err
  local code=$?
  check "watch $name ends with 5 if it alarms, else with 0" test "$code" = "$(jq 'if .alarm then 5 else 0 end' out)"
  check "and looks at all nodes" jq -e --arg name "$name" --argjson n "$items" \
    '.domains | length == 1 and .[0].domain == $name and .[0].items == $n and .[0].expected_accuracy > 0' out
}

if [ -e "$GRM_DATA/facebook100/Bingham82.mat" ]; then
  expect_exit 0 "a model of fb100" "$grm" train --dataset fb100 --method erm --epochs 2 --set train.test=never --allow-missing --json
  run=$(jq -r '.runs[0]' out)
  answers Bingham82 "$run" "$GRM_DATA/facebook100/Bingham82.mat" 10004 '^(status|major|second_major|dorm|year|school)$'
  mkdir two
  ln -s "$GRM_DATA/facebook100/"{Bingham82,Princeton12}.mat two
  expect_exit 0 "a folder of universities" "$grm" predict "$run" --data two --out two.csv
  check "has a domain for each" test "$(tail -n +2 two.csv | cut -d, -f1 | uniq | paste -sd,)" = Bingham82,Princeton12
  check "with the answers of the file alone" cmp <(grep ^Bingham82 two.csv) <(tail -n +2 Bingham82.csv)
  head -c 30000 "$GRM_DATA/facebook100/Bingham82.mat" > cut.mat
  for verb in predict eval attribute watch; do
    expect_exit 3 "$verb of a truncated file" "$grm" $verb "$run" --data cut.mat --allow-missing
    check "names it" grep -q "cut.mat" err
  done
else
  echo "skipped: $verbs checks of unseen files: there is no $GRM_DATA/facebook100/Bingham82.mat"
fi

if [ -e "$GRM_DATA/twitch/TW/musae_TW_edges.csv" ]; then
  expect_exit 0 "a model of twitch" "$grm" train --dataset twitch --method erm --epochs 3 --json
  run=$(jq -r '.runs[0]' out)
  answers TW "$run" "$GRM_DATA/twitch/TW" 2772 '^x[0-9]+$'
  expect_exit 0 "the same region in the dataset" "$grm" predict "$run" --data twitch --out all.csv
  check "has the same answers" cmp <(grep ^TW, all.csv) <(tail -n +2 TW.csv)
  if [ -e "$GRM_DATA/facebook100/Bingham82.mat" ]; then
    for verb in predict eval attribute watch; do
      expect_exit 3 "$verb of another publisher's file" "$grm" $verb "$run" --data "$GRM_DATA/facebook100/Bingham82.mat"
      check "says whose form it has" grep -q "the form in which fb100 is published, but the model was trained on twitch" err
    done
  fi
else
  echo "skipped: $verbs checks of unseen files: there is no $GRM_DATA/twitch/TW"
fi
finish
