# Probabilities mean what they say: every model carries a temperature fitted on validation. Errors and the fit are
# computed here again, from the lines of predictions and the labels in the tables alone.
source "$(dirname "$0")/../cli/lib.sh" "$@"

# Own data, two classes: the feature says the class with 80 percent, edges mostly join equals.
mkdir pay
for month in jan feb mar apr; do
  mkdir "pay/$month"
  awk -v month=$month -v seed="$(printf '%d' "'${month:1:1}")" 'BEGIN {
    srand(seed); n = 200
    print "id,amount,other,label" > ("pay/" month "/nodes.csv")
    for (k = 0; k < n; ++k) {
      y[k] = rand() < 0.4; x = rand() < 0.8 ? y[k] : 1 - y[k]
      printf "%s-%d,%d,%.3f,%d\n", month, k, x, rand(), y[k] > ("pay/" month "/nodes.csv")
    }
    print "source,target" > ("pay/" month "/edges.csv")
    for (e = 0; e < 500; ++e) {
      a = int(rand() * n); b = int(rand() * n)
      if (a != b && (y[a] == y[b] || rand() < 0.5))
        printf "%s-%d,%s-%d\n", month, a, month, b > ("pay/" month "/edges.csv")
    } }'
done
printf '%s\n' 'name = "payments"' '[train]' 'domains = ["jan"]' '[validation]' 'domains = ["feb"]' \
  '[test]' 'domains = ["mar", "apr"]' > pay/dataset.toml
cat pay/*/nodes.csv > labels.csv

# ece DOMAIN FILE: from columns p_0, p_1 (5 and 6) of predictions, 15 bins of confidence; percent.
ece() {
  awk -F, -v domain="$1" 'FNR == NR { y[$1] = $4; next }
    $1 == domain { p = $5 > $6 ? $5 : $6; b = int(p * 15); if (b == p * 15) --b
      ++n; right[b] += $3 == y[$2]; sure[b] += p }
    END { for (b in sure) { d = right[b] - sure[b]; e += d < 0 ? -d : d }; printf "%.4f\n", 100 * e / n }' \
    labels.csv "$2"
}
# loss TEMPERATURE: cross-entropy of the validation items from raw probabilities, each label with the weight n/(n+1) and
# the rest shared by both classes.
loss() {
  awk -F, -v t="$1" 'FNR == NR { y[$1] = $4; next }
    $1 == "feb" { a = exp(log($5) / t); b = exp(log($6) / t); right = y[$2] == 1 ? b : a
      ++n; hit -= log(right / (a + b)); both -= log(a / (a + b)) + log(b / (a + b)) }
    END { printf "%.12f\n", (n * hit + both / 2) / (n + 1) / n }' labels.csv raw.csv
}
near() { [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b < d && b - a < d) }'; }
less() { [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

for method in grm erm; do
  "$grm" train --dataset pay --method $method --epochs 15 --json > out 2> err
  run=$(jq -r '.runs[0]' out)
  t=$(jq .calibration.temperature "$run/summary.json")
  expect_exit 0 "$method: eval" "$grm" eval "$run" --json
  cp out eval.json
  expect_exit 0 "$method: predict" "$grm" predict "$run" --data pay --out cal.csv --json
  cp out predict.json
  expect_exit 0 "$method: predict without the temperature" "$grm" predict "$run" --data pay --out raw.csv --raw --json
  check "$method: eval and predict name the temperature, raw predictions have none" \
    jq -s -e --argjson t "$t" 'map(.temperature) == [$t, $t, 1]' eval.json predict.json out
  check "$method: the classes are the same" cmp <(cut -d, -f1-4 cal.csv) <(cut -d, -f1-4 raw.csv)
  for domain in feb mar apr; do
    mine=$(ece $domain cal.csv)
    raw=$(ece $domain raw.csv)
    check "$method: the error of $domain is that of eval" near "$mine" \
      "$(jq ".domains[] | select(.domain == \"$domain\") | .ece" eval.json)" 0.001
    check "$method: and without the temperature" near "$raw" \
      "$(jq ".domains[] | select(.domain == \"$domain\") | .ece_raw" eval.json)" 0.001
    check "$method: and of predict" near "$mine" \
      "$(jq ".scores[] | select(.domain == \"$domain\") | .ece" predict.json)" 0.001
  done
  check "$method: summary.json has the error of validation" near "$(ece feb cal.csv)" \
    "$(jq .calibration.validation.after.ece "$run/summary.json")" 0.001
  check "$method: the curve adds up to the items and to the error" jq -e '.domains | all(
    (.reliability | map(.count) | add) as $n
    | (.reliability | map(.count * (.confidence - .accuracy | fabs)) | add / $n) as $e
    | $n == 200 and ($e - .ece | fabs) < 1e-6)' eval.json
  check "$method: no other temperature fits validation better" bash -c "
    $(declare -f loss less)
    for other in 0.95 0.99 1.01 1.05; do
      less \$(loss $t) \$(loss \$(awk 'BEGIN { print $t * '\$other' }')) || exit 1
    done"
  check "$method: at most a bound" jq -e '.calibration.temperature >= 0.05 and .calibration.temperature <= 20' \
    "$run/summary.json"
done

# It can be switched off, and changes no score.
"$grm" train --dataset pay --method erm --epochs 15 --set train.calibrate=false --json > out 2> err
plain=$(jq -r '.runs[0]' out)
check "scores are the same bits without calibration" cmp <(jq .chosen "$run/summary.json") \
  <(jq .chosen "$plain/summary.json")
check "then there is no temperature" jq -e 'has("calibration") | not' "$plain/summary.json"
expect_exit 0 "eval in words" "$grm" eval "$run"
check "it shows the error and the curve" bash -c "grep -q 'ECE' out && grep -q 'test items by confidence' out"
expect_exit 0 "a report" "$grm" report "$run" "$plain" --out report.html
check "it has the section" grep -q '"sections":.*"reliability"' report.html

finish
