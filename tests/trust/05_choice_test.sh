#!/usr/bin/env bash
# A report's headline goes by validation: it names what validation chooses and what that has on test, whatever is highest
# there. Centring and other options are rows of one table, with tests that are paired by seed.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
own a payments 0.4 jan feb mar apr
small=(--dataset ./a --epochs 12 --seeds 3 -q)
"$grm" train "${small[@]}" --method erm > /dev/null 2>&1
"$grm" train "${small[@]}" --method erm --set dataset.centre=domain > /dev/null 2>&1
"$grm" train "${small[@]}" --method erm --set method.lr=0.2 > /dev/null 2>&1
"$grm" train "${small[@]}" --method grm > /dev/null 2>&1

# The last row of the table is made the worst on validation and the best on test.
for run in runs/payments/*/*; do
  value=60
  [[ $run == runs/payments/grm/* ]] && value=99
  jq --argjson v "$value" '.chosen[].test[].value = $v - .seed % 3' "$run/summary.json" > s && cp s "$run/summary.json"
  jq --argjson v "$value" '.chosen[].validation = 170 - $v' "$run/summary.json" > s && cp s "$run/summary.json"
  grep -q 'centre = "domain"' "$run/config.toml" &&
    jq '.chosen[].validation = 120 | .chosen[].test[].value += .seed % 3 * 2 - 3' "$run/summary.json" > s && cp s "$run/summary.json"
done
expect_exit 0 "report" "$grm" report runs --no-data
headline=$(grep -m 1 '^<li>payments: ' report.html)
check "one dataset" [ "$(grep -c '^<li>payments' report.html)" = 1 ]
check "no second payments" bash -c "! grep -q 'payments #2' report.html"
check "validation's choice is named" grep -q 'of 4 candidates, validation chooses erm:[a-z]* (centre=domain) (120.0 ± 0.0 there)' <<< "$headline"
# Seeds 1000, 1001, 1002 have 60 - (1, 2, 0) + 2 (1, 2, 0) - 3 = 58, 59, 57 on test: 58 ± 1.
check "with its test score" grep -q 'On test it has accuracy 58.0 ± 1.0 on average' <<< "$headline"
check "the highest on test is no choice" grep -q 'grm:[a-z]* has 98.0 ± 1.0 on test, but 71.0 ± 0.0 on validation' <<< "$headline"
# Differences to erm in paired runs: 58 - 59, 59 - 58, 57 - 60 = -1, 1, -3: t = -1 / (2 / sqrt 3), p = 0.478 with 2
# degrees of freedom: 1 - |t| / sqrt(2 + t^2) = 1 - 0.866 / sqrt(2.75).
check "tests are paired" grep -q '(centre=domain) against erm:[a-z]*: -1.0 points, p = 0.478 (paired t-test over 3 runs)' <<< "$headline"
table=$(sed -n '/<caption>payments, accuracy/,/<\/table>/p' report.html)
for row in 'erm:[a-z]*' 'erm:[a-z]* (centre=domain)' 'erm:[a-z]* (lr=0.2)' 'grm:[a-z]*'; do
  check "row $row" grep -qx "<th scope=\"row\" class=\"text\">$row</th>" <<< "$table"
done
check "four rows in one table" [ "$(grep -c '<th scope="row" class="text">[eg]rm' <<< "$table")" = 4 ]

# A study with variants: the same.
cat > s.toml <<'TOML'
name = "s"
seeds = 2
methods = ["erm"]
datasets = ["./a"]
[set]
train.epochs = 3
train.test = "selected"
[[variant]]
name = "plain"
[[variant]]
name = "centred"
set.dataset.centre = "domain"
TOML
"$grm" study run s.toml --jobs 1 --threads 1 -q > /dev/null 2>&1
expect_exit 0 "report of a study" "$grm" report --study s --no-data --out s.html
table=$(sed -n '/<caption>payments, accuracy/,/<\/table>/p' s.html)
check "variants are rows of one table" [ "$(grep -c '<th scope="row" class="text">erm (\(plain\|centred\))</th>' <<< "$table")" = 2 ]
check "the choice is named" grep -qE '^<li>payments: of 2 candidates, validation chooses erm \((plain|centred)\)' s.html
expect_exit 0 "and in the table of the study" "$grm" study table s --json
check "by its validation score" jq -e '.blocks | all(.datasets[0].chosen_by_validation == "erm" and .datasets[0].methods[0].validation.mean > 0)' out
finish
