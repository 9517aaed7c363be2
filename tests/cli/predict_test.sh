#!/usr/bin/env bash
# Prediction on new graphs: the file, its summary, and what is said when something does not fit.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "help" "$grm" predict --help
check "help shows examples and columns" bash -c "grep -q 'grm predict' out && grep -q spread out"

# --- a built-in dataset: the file repeats what eval says -------------------------------------------
"$grm" train --dataset sbm --set dataset.nodes=80 --method grm --epochs 5 --json > out 2> err
run=$(jq -r '.runs[0]' out)
"$grm" eval "$run" --json > eval.json 2> err
expect_exit 0 "predict" "$grm" predict "$run" --data sbm --out new/p.csv --json
check "the summary has the promised names" jq -e --arg hash "$(sha256sum "$run/model.safetensors" | cut -d' ' -f1)" '
  .items == 640 and .domains == 8 and .method == "grm" and .model_sha256 == $hash
  and ([.classes[].count] | add) == 640 and .mean_spread > 0 and .mean_entropy > 0
  and .metric == "accuracy" and (.scores | length) == 8' out
check "its scores are those of eval" bash -c \
  "[ \"\$(jq -c '[.scores[].value]' out)\" = \"\$(jq -c '[.domains[] | select(.role == \"test\") | .value]' eval.json)\" ]"
check "no temporary file is left" bash -c '[ "$(ls new)" = p.csv ]'
check "the file has a row for each node, with probabilities that add up" awk -F, '
  NR == 1 { if ($1 != "domain" || $2 != "id" || $3 != "class" || $4 != "label" || $5 != "p_0") bad = 1; next }
  { sum = 0; for (c = 5; c < NF - 1; ++c) sum += $c; if (sum < 0.9999 || sum > 1.0001) bad = 1
    if ($(5 + $3) < 1 / 10 || $(NF - 1) < 0 || $(NF - 1) > 0.5) bad = 1 }
  END { exit bad || NR != 641 }' new/p.csv
expect_exit 0 "without --out the lines go to stdout" "$grm" predict "$run/model.safetensors" --data sbm
check "they are the same lines" cmp out new/p.csv
check "the summary is told on stderr" grep -q "640 nodes predicted" err
before=$(md5sum < new/p.csv)
expect_exit 3 "a file that cannot be written" "$grm" predict "$run" --data sbm --out /proc/none/p.csv
(ulimit -f 8; "$grm" predict "$run" --data sbm --out new/p.csv > out 2> err)
check "a full disk is an error" test $? != 0
check "and leaves the old file as it was, alone" bash -c "[ '$before' = \"\$(md5sum < new/p.csv)\" ] && [ \"\$(ls new)\" = p.csv ]"

# --- own data: trained, moved away, predicted on new files without labels --------------------------
# Nodes of class 'good' have a larger amount than those of class 'bad'; edges join neighbours.
month() {  # month FOLDER NODES SHIFT WITH_LABELS
  mkdir -p "$1"
  awk -v n="$2" -v shift="$3" -v labels="$4" 'BEGIN {
    print "id,amount,kind" (labels ? ",label" : "")
    for (i = 0; i < n; ++i) {
      good = i % 3 != 0
      printf "acc%d,%g,%s%s\n", i, good * 4 + shift + (i * 7 % 5) / 5, i % 2 ? "shop" : "bank", labels ? (good ? ",good" : ",bad") : ""
    } }' > "$1/nodes.csv"
  awk -v n="$2" 'BEGIN { print "source,target"; for (i = 0; i + 3 < n; ++i) printf "acc%d,acc%d\n", i, i + 3 }' > "$1/edges.csv"
}
month pay/jan 40 0 1
month pay/feb 40 0.3 1
month pay/mar 40 0.5 1
cat > pay/dataset.toml <<'T'
name = "pay"
undirected = true
[train]
domains = ["jan"]
[validation]
domains = ["feb"]
[test]
domains = ["mar"]
[columns]
numeric = ["amount"]
categorical = ["kind"]
T
expect_exit 0 "train on own data" "$grm" train --dataset ./pay --method grm --epochs 30 --json
cp "$(jq -r '.runs[0]' out)/model.safetensors" pay.model
expect_exit 0 "eval on own data" "$grm" eval pay.model --json
mar=$(jq '[.domains[] | select(.domain == "mar")][0].value' out)
mv pay moved
expect_exit 0 "predict where the training data is gone" "$grm" predict pay.model --data ./moved --json
check "labelled data is scored as before" jq -e --argjson v "$mar" '[.scores[] | select(.domain == "mar")][0].value == $v' out

month new/apr 25 0.4 0
expect_exit 0 "new data without labels and without dataset.toml" "$grm" predict pay.model --data ./new --out apr.csv --json
check "nothing is scored" jq -e '.scores == [] and .items == 25 and ([.classes[].label] | sort) == ["bad", "good"]' out
check "ids are the user's own" bash -c "head -1 apr.csv | grep -q '^domain,id,class,label,p_bad,p_good,spread,entropy$' && grep -q '^apr,acc24,' apr.csv"
sed -i '1s/amount/amounts/' new/apr/nodes.csv
expect_exit 3 "a column of another name" "$grm" predict pay.model --data ./new
check "the file and the column are named" grep -q "new/apr/nodes.csv.*'amount'" err
expect_exit 3 "data of another shape" "$grm" predict pay.model --data sbm
expect_exit 2 "an unknown dataset" "$grm" predict pay.model --data twich
expect_exit 3 "data that is not there" "$grm" predict pay.model --data ./none
expect_exit 3 "a model that is not there" "$grm" predict none --data sbm
expect_exit 2 "no data" "$grm" predict pay.model
finish
