#!/usr/bin/env bash
# From own data to a model: choice, resume, other data, both levels, and that test labels are not looked at.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "help" "$grm" fit --help
"$grm" data convert sbm --set nodes=60 --out months -q > out 2> err
expect_exit 0 "the plan alone" "$grm" fit ./months --dry-run --json
check "it lists candidates with their commands and writes nothing" bash -c \
  "jq -e '(.tried | length) >= 10 and (.tried[0].command | startswith(\"grm train --dataset ./months --method erm\"))
   and .plan.rungs[0].seeds == 3 and (has(\"chosen\") | not)' out > /dev/null && [ ! -e fits ]"

# --- node level ------------------------------------------------------------------------------------------------------
expect_exit 0 "fit" "$grm" fit ./months --minutes 0.2 --out one --json
cp out one.json
check "the promised names are there" jq -e '
  (.chosen | has("method") and has("preset") and has("options")) and .validation > 0 and (.test | length) == 8
  and .min <= .avg and .model == "one/model.safetensors" and .report == "one/report.html" and (.tried | length) >= 10
  and (.why | contains("validation")) and .complete and .stopped_by == "plan"' one.json
check "no validation of a candidate of the last round is above the chosen one's" jq -e '
  (.tried | map(.rung) | max) as $last | .chosen.name as $name
  | ([.tried[] | select(.rung == $last) | .validation] | max) == (.tried[] | select(.name == $name) | .validation)' one.json
check "the model predicts" "$grm" predict one/model.safetensors --data months --out p.csv
check "its test scores are those of eval" bash -c \
  "[ \"\$('$grm' eval one/model.safetensors --json 2> /dev/null | jq -c '[.domains[] | select(.role == \"test\") | .value]')\" = \"\$(jq -c '[.test[].value]' one.json)\" ]"
check "the report names the choice" grep -q "Chosen by validation alone" one/report.html
expect_exit 0 "the same again" "$grm" fit ./months --minutes 0.2 --out one --json
check "gives the same from what is there" bash -c "[ \"\$(jq -c 'del(.seconds)' out)\" = \"\$(jq -c 'del(.seconds)' one.json)\" ]"
expect_exit 0 "afresh in another folder" "$grm" fit ./months --minutes 0.2 --out two --json
check "the same model to the bit" cmp one/model.safetensors two/model.safetensors

# --- against a search of all candidates in full length, on data made afresh ---------------------------------------------
# Both choose by validation, equal scores by the loss; both are judged on the test domains. The plan halves here.
"$grm" data convert sbm --set nodes=90 --set dataset_seed=5 --out afresh -q > out 2> err || tail -3 err
expect_exit 0 "fit of fresh data" "$grm" fit ./afresh --minutes 0.15 --out four --no-report --json
cp out four.json
check "whose plan halves" jq -e '(.plan.rungs | length) > 1 and .complete' four.json
jq -r '.tried[].command' four.json | sed 's/^grm train //' | while read -r flags; do
  # shellcheck disable=SC2086 # several words are meant
  "$grm" train $flags --out all --json -q 2> /dev/null > each.json
  jq -c '{validation, avg}' each.json
  jq '.chosen.val.validation_loss' "$(jq -r '.runs[0]' each.json)/summary.json"
done | jq -cs '[range(0; length; 2) as $k | .[$k] + {loss: .[$k + 1]}]' > all.json
check "fit is within one point of the best of all" jq -e --slurpfile fit four.json '
  length == ($fit[0].tried | length) and $fit[0].avg >= (sort_by([- .validation, .loss]) | first | .avg) - 1' all.json

# --- errors: less is better ---------------------------------------------------------------------------------------------
for m in a b c; do
  mkdir -p sums/$m
  awk -v seed=$m 'BEGIN { srand(index("abc", seed)); print "id,age,size,cost"
    for (i = 0; i < 50; ++i) { x = rand(); y = rand(); printf "p%d,%g,%g,%g\n", i, x, y, 0.003 * x - 0.001 * y } }' > sums/$m/nodes.csv
  awk 'BEGIN { print "source,target"; for (i = 0; i < 50; ++i) printf "p%d,p%d\n", i, (i * 7 + 1) % 50 }' > sums/$m/edges.csv
done
printf 'name = "sums"\ntarget = "regression"\ntargets = ["cost"]\nmetric = "rmse"\n[train]\ndomains = ["a"]\n[validation]\ndomains = ["b"]\n[test]\ndomains = ["c"]\n' > sums/dataset.toml
expect_exit 0 "numbers, judged by their error" "$grm" fit ./sums --minutes 0.15 --out five --json
check "the smallest error of the last round is chosen" jq -e '.metric == "rmse" and .unit == "target"
  and (.tried | map(.rung) | max) as $last | .chosen.name as $name
  | ([.tried[] | select(.rung == $last) | .validation] | min) == (.tried[] | select(.name == $name) | .validation)' out
check "a model that needs no edges wins where costs are of the node alone, with digits" jq -e '
  (.chosen.name | startswith("mlp") or startswith("sage")) and (.why | test("e-0[0-9]|0[.]000")) and .avg < 0.0005' out
check "its seeds go the same way" jq -e '.validation == ([.seeds[].validation] | min)' out

# --- test labels do not matter to the choice -----------------------------------------------------------------------
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
  cp -r months lies
  /usr/bin/python3 - <<'P'
import glob
import numpy as np
for name in glob.glob("lies/T*.npz"):
    data = dict(np.load(name))
    data["y"] = np.random.default_rng(0).permutation(data["y"])
    np.savez(name, **data)
P
  expect_exit 0 "with false test labels" "$grm" fit ./lies --minutes 0.2 --out three --json
  check "the choice and all validation scores are the same" bash -c \
    "[ \"\$(jq -c '[.chosen, .validation, [.tried[] | del(.command)]]' out)\" = \"\$(jq -c '[.chosen, .validation, [.tried[] | del(.command)]]' one.json)\" ]"
  check "the test scores are not" bash -c "[ \"\$(jq -c .test out)\" != \"\$(jq -c .test one.json)\" ]"
  rm -r months && mv lies months
  expect_exit 3 "other data in the same folder" "$grm" fit ./months --minutes 0.2 --out one
  check "another folder is asked for" grep -q -- "--out DIR" err
else
  echo "skipped: numpy is not installed (python3-numpy)"
fi

# --- the clock ---------------------------------------------------------------------------------------------------------
expect_exit 2 "no time at all" "$grm" fit ./months --minutes 0.00001 --out none
check "it says that nothing could be trained" grep -q "nothing could be trained" err

# --- graph level -------------------------------------------------------------------------------------------------------
"$grm" data convert spmotif --set train_per_class=20 --set val_per_class=10 --set test_per_class=10 --out shapes -q > out 2> err || tail -3 err
expect_exit 0 "sets of graphs" "$grm" fit ./shapes --minutes 0.2 --json
check "a model of the graph level" jq -e '.level == "graph" and .model == "fits/spmotif/model.safetensors" and .validation > 0' out

# --- mistakes ----------------------------------------------------------------------------------------------------------
expect_exit 3 "no such data" "$grm" fit ./none
expect_exit 2 "no minutes" "$grm" fit ./months --minutes 0
finish
