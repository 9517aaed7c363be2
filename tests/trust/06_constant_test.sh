#!/usr/bin/env bash
# The constant answer is shown twice: training's most frequent class, and that of each test domain itself. Three of five
# nodes are of class 0 in training, two of five in test: 40 and 60 percent, or 2/7 and 3/8 in macro F1.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
own a mine 0 jan feb mar apr
expect_exit 0 "train" "$grm" train --dataset ./a --method erm --epochs 2 -q
check "two columns" grep -qE "erm +train majority +own majority" out
check "for each domain" [ "$(grep -cE '^(mar|apr|Min|Avg) .* 40\.0 +60\.0$' out)" = 4 ]
check "are explained" grep -q "always training's majority class.*always the test domain's own majority class" out
run=$(ls -d runs/mine/erm/*)
check "both are recorded" jq -e '[.constant[].value] == [40, 40] and [.constant_own[].value] == [60, 60]' "$run/summary.json"
expect_exit 0 "eval" "$grm" eval "$run" --json
check "knows both" jq -e '[.domains[] | [.role, .constant, .constant_own]] == [["train", 60, 60], ["validation", 60, 60],
  ["test", 40, 60], ["test", 40, 60]]' out
expect_exit 0 "report" "$grm" report runs --no-data
check "has both rows" [ "$(grep -c '^<th scope="row" class="text">\(train\|own\) majority</th>' report.html)" -ge 2 ]
check "and says what they are" grep -q "always the test domain&#39;s own majority class has 60.0" report.html

cat > s.toml <<'TOML'
name = "s"
methods = ["erm"]
datasets = ["./a"]
[set]
train.epochs = 2
train.test = "selected"
TOML
"$grm" study run s.toml --jobs 1 --threads 1 -q > /dev/null 2>&1
expect_exit 0 "study table" "$grm" study table s
check "has both rows, too" [ "$(grep -cE '^(train majority +40.0 +40.0|own majority +60.0 +60.0)$' out)" = 2 ]
expect_exit 0 "as JSON" "$grm" study table s --json
check "under their names" jq -e '.blocks[0].datasets[0] | .constant.avg == 40 and .constant_own.min == 60' out

# A record without the second one still reads.
sqlite="import sqlite3, json
db = sqlite3.connect('results.db')
record = json.loads(db.execute('select record from cell').fetchone()[0])
del record['constant_own']
db.execute('update cell set record = ?', (json.dumps(record),))
db.commit()"
if /usr/bin/python3 -c 'import sqlite3' 2> /dev/null; then
  check "take it out" /usr/bin/python3 -c "$sqlite"
  expect_exit 0 "an older record" "$grm" study table s
  check "has the first row alone" bash -c "grep -q '^train majority' out && ! grep -q '^own majority' out"
fi
jq 'del(.constant_own)' "$run/summary.json" > older && cp older "$run/summary.json"
expect_exit 0 "an older run" "$grm" report runs --no-data
check "is shown without it" bash -c "grep -q 'train majority</th>' report.html && ! grep -q 'own majority</th>' report.html"

# Macro F1 of one answer: 2p / (1 + p) of its class, 0 of the other. ROC-AUC knows one constant answer.
sed -i 's/accuracy/macro_f1/' a/dataset.toml
expect_exit 0 "macro F1" "$grm" train --dataset ./a --method erm --epochs 2 -q --out f1
check "of both answers" grep -qE '^mar .* 28\.6 +37\.5$' out
sed -i 's/macro_f1/roc_auc/' a/dataset.toml
expect_exit 0 "ROC-AUC" "$grm" train --dataset ./a --method erm --epochs 2 -q --out auc
check "has one constant answer" bash -c "head -1 out | grep -qE 'erm +constant$' && grep -qE '^mar .* 50\.0$' out"
finish
