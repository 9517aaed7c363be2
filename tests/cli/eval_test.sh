#!/usr/bin/env bash
# Scores of any labelled data, intervals, thresholds, and what is said when something does not fit.
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "help" "$grm" eval --help
check "help shows examples" grep -q 'grm eval RUN --data new-month --precision 0.9' out
"$grm" train --dataset sbm --set dataset.nodes=80 --method erm --epochs 10 --json > out 2> err
run=$(jq -r '.runs[0]' out)
"$grm" eval "$run" --json > plain.json 2> err
"$grm" data convert sbm --set nodes=80 --out same > out 2> err

# --- the same data as a folder: the scores are those of a plain eval -------------------------------------------------
expect_exit 0 "labelled data" "$grm" eval "$run" --data same --bootstrap 200 --json
cp out scored.json
check "domains have the accuracy of a plain eval" bash -c \
  "[ \"\$(jq -c '[.domains[] | [.domain, .value]] | sort' scored.json)\" = \"\$(jq -c '[.domains[] | [.domain, .value]] | sort' plain.json)\" ]"
check "counts add up and intervals hold their value" jq -e '
  (.items == ([.domains[].items] | add)) and (.items == ([.confusion[][]] | add))
  and ([.classes[].items] | add) == .items and .unlabelled == 0 and .bootstrap.resamples == 200
  and (.scores | keys | length) == 6
  and ([.scores, .domains[].scores] | all(.[]; all(.[]; .low <= .value + 5 and .high >= .value - 5 and .low <= .high)))
  and .min == ([.domains[].value] | min) and .temperature > 0' scored.json
expect_exit 0 "once more" "$grm" eval "$run" --data same --bootstrap 200 --threads 1 --json
check "intervals are repeatable, whatever the threads" bash -c \
  "[ \"\$(jq -c .scores out)\" = \"\$(jq -c .scores scored.json)\" ]"

# --- scikit-learn, from the file that predict writes -----------------------------------------------------------------
"$grm" predict "$run" --data same --out p.csv 2> err
if /usr/bin/python3 -c 'import sklearn, numpy' 2> /dev/null; then
  check "scikit-learn finds the same from predictions and labels" /usr/bin/python3 - scored.json <<'P'
import csv, json, sys
import numpy as np
from sklearn import metrics
report = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open("p.csv")))
y, guess, p = [], [], []
for domain in {r["domain"] for r in rows}:
    mine = [r for r in rows if r["domain"] == domain]
    y += list(np.load(f"same/{domain}.npz")["y"])
    guess += [int(r["class"]) for r in mine]
    p += [[float(r[f"p_{c}"]) for c in range(10)] for r in mine]
expected = {"accuracy": metrics.accuracy_score(y, guess), "balanced_accuracy": metrics.balanced_accuracy_score(y, guess),
            "macro_f1": metrics.f1_score(y, guess, average="macro")}
for kind, value in expected.items():
    assert abs(report["scores"][kind]["value"] / 100 - value) < 1e-9, (kind, report["scores"][kind], value)
assert abs(report["scores"]["matthews"]["value"] - metrics.matthews_corrcoef(y, guess)) < 1e-9
# Probabilities of the file are floats, so that some ties are new.
p, present = np.array(p), sorted(set(y))
for kind, score in {"roc_auc": metrics.roc_auc_score, "average_precision": metrics.average_precision_score}.items():
    value = np.mean([score(np.array(y) == c, p[:, c]) for c in present])
    assert abs(report["scores"][kind]["value"] / 100 - value) < 1e-3, (kind, report["scores"][kind], value)
assert (np.array(report["confusion"]) == metrics.confusion_matrix(y, guess, labels=range(10))).all()
P
else
  echo "skipped: scikit-learn is not installed (python3-sklearn)"
fi

# --- a threshold: chosen on validation, used on the file of predict --------------------------------------------------
expect_exit 0 "a wanted recall" "$grm" eval "$run" --data same --recall 0.8 --class 4 --bootstrap 0 --json
check "it is chosen on validation and reached there" jq -e '.threshold
  | .chosen_on == "validation" and .reached and .there.recall >= 80 and .label == "4" and (.domains | length) >= 3' out
check "no intervals were asked for" jq -e '.scores.accuracy | has("low") | not' out
check "the file of predict gives the same number of calls" bash -c "
  [ \"\$(jq '.threshold.here | .true_positives + .false_positives' out)\" = \
    \"\$(awk -F, -v t=\"\$(jq .threshold.threshold out)\" 'NR > 1 && \$9 + 0 >= t + 0 { ++n } END { print n + 0 }' p.csv)\" ]"
expect_exit 0 "a wanted precision on the test domains of the run" "$grm" eval "$run" --precision 0.9 --class 9
check "the table says where it was chosen" grep -q "chosen on validation data for a precision of 0.9" out
cp "$run/model.safetensors" alone.model
expect_exit 0 "a plain eval still prints its table" "$grm" eval "$run"
check "with the constant answers" grep -q majority out

# --- two classes with names: the second one is meant -------------------------------------------------------------------
month() {  # month FOLDER NODES SHIFT
  mkdir -p "$1"
  awk -v n="$2" -v shift="$3" 'BEGIN { print "id,amount,label"
    for (i = 0; i < n; ++i) printf "a%d,%g,%s\n", i, (i % 3 != 0) * 2 + shift + (i * 7 % 5) / 2, i % 3 ? "good" : "bad" }' > "$1/nodes.csv"
  awk -v n="$2" 'BEGIN { print "source,target"; for (i = 0; i + 3 < n; ++i) printf "a%d,a%d\n", i, i + 3 }' > "$1/edges.csv"
}
month pay/jan 60 0; month pay/feb 60 0.3; month pay/mar 60 0.5; month apr 90 0.4
printf 'name = "pay"\nundirected = true\n[train]\ndomains = ["jan"]\n[validation]\ndomains = ["feb"]\n[test]\ndomains = ["mar"]\n' > pay/dataset.toml
expect_exit 0 "train on own tables" "$grm" train --dataset ./pay --method erm --epochs 20 --json
expect_exit 0 "a new month" "$grm" eval "$(jq -r '.runs[0]' out)" --data apr --precision 0.9 --json
check "the threshold is for the second class" jq -e '.threshold.label == "good" and .labels == ["bad", "good"] and .items == 90
  and .domains[0].domain == "apr" and .notes == []' out

# --- own data that is gone, unlabelled data, mistakes ------------------------------------------------------------------
"$grm" train --dataset ./same --method erm --epochs 5 --json > out 2> err
cp "$(jq -r '.runs[0]' out)/model.safetensors" own.model
mv same moved
expect_exit 0 "a threshold where the run's data is gone" "$grm" eval own.model --data moved --precision 0.7 --class 2 --bootstrap 0 --json
check "is chosen on the scored data, and said so" bash -c \
  "jq -e '.threshold.chosen_on == \"scored data\" and (.notes | length) >= 2' out > /dev/null && grep -q 'too good' err"
check "files of the run are noticed" grep -q "belong to the data that the run was made with" err
expect_exit 2 "a threshold without a class" "$grm" eval own.model --data moved --precision 0.7
check "a class is asked for" grep -q "name it: --class" err
expect_exit 3 "a class that does not occur" "$grm" eval own.model --data moved --precision 0.7 --class 0
expect_exit 2 "both at once" "$grm" eval own.model --data moved --precision 0.7 --recall 0.7
expect_exit 2 "percent in place of a share" "$grm" eval own.model --data moved --precision 90
expect_exit 2 "an unknown class" "$grm" eval own.model --data moved --precision 0.7 --class fraud
check "the classes are named" grep -q "it knows: 0, 1, 2" err
expect_exit 3 "data that is not there" "$grm" eval own.model --data ./none
/usr/bin/python3 - <<'P' 2> /dev/null || echo "skipped: numpy is not installed"
import numpy as np
data = dict(np.load("moved/T1.npz"))
data["y"] = np.full_like(data["y"], -1)
np.savez("bare.npz", **data)
P
if [ -e bare.npz ]; then
  expect_exit 3 "data without labels" "$grm" eval own.model --data bare.npz
  check "predict is named" grep -q "'grm predict' does without" err
fi
finish
