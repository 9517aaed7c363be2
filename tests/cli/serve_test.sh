#!/usr/bin/env bash
# grm serve on loopback: answers are those of `grm predict`, models are loaded anew, attacks are refused.
source "$(dirname "$0")/lib.sh" "$@"
/usr/bin/python3 -c 'import numpy' 2> /dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
command -v curl > /dev/null || { echo "skipped: there is no curl"; exit 77; }
expect_exit 2 "a run must be given" "$grm" serve
"$grm" serve none > out 2> err
if grep -q "built without cpp-httplib" err; then
  check "what to install is named" grep -q libcpp-httplib-dev err
  echo "skipped: grm was built without cpp-httplib"
  exit 77
fi
expect_exit 3 "a model that is not there" "$grm" serve none
export OMP_NUM_THREADS=1
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null; wait; rm -rf "$work"' EXIT
# start WORDS...: a server; its address is in $at.
start() {
  rm -f address
  "$grm" serve --threads 1 "$@" > address 2> log &
  server=$!
  wait_until test -s address || { echo "FAILED: no address"; cat log; exit 1; }
  at=$(head -n 1 address)
}
stop() {
  kill "$server"
  wait "$server"
  local code=$?
  server=
  return $code
}

# --- models: arrays (a built-in dataset) and tables ------------------------------------------------
"$grm" train --dataset sbm --set dataset.nodes=60 --method grm --epochs 3 --threads 1 --out a --quiet > /dev/null 2> err
grm_run=$(dirname "$(find a -name model.safetensors)")
mkdir -p pay/jan pay/feb pay/mar april
for month in pay/jan pay/feb pay/mar april; do
  awk -v labels="${month#april}" 'BEGIN {
    print "id,amount,kind" (labels ? ",label" : "")
    for (i = 0; i < 30; ++i) printf "acc%d,%g,%s%s\n", i, (i % 3 != 0) * 4 + (i * 7 % 5) / 5, i % 2 ? "shop" : "a \"b\", c",
      labels ? (i % 3 ? ",good" : ",bad") : "" }' |
    sed 's/a "b", c/"a ""b"", c"/' > "$month/nodes.csv"
  awk 'BEGIN { print "source,target"; for (i = 0; i + 3 < 30; ++i) printf "acc%d,acc%d\n", i, i + 3 }' > "$month/edges.csv"
done
printf 'name = "pay"\nundirected = true\n[train]\ndomains = ["jan"]\n[validation]\ndomains = ["feb"]\n[test]\ndomains = ["mar"]\n[columns]\nnumeric = ["amount"]\ncategorical = ["kind"]\n' > pay/dataset.toml
"$grm" train --dataset ./pay --method grm --epochs 5 --threads 1 --out b --quiet > /dev/null 2> err
cp "$(find b -name model.safetensors)" pay.safetensors
/usr/bin/python3 - <<'P'
import csv, json, numpy
draw = numpy.random.default_rng(3)
x, pairs = draw.normal(size=(40, 510)).astype("f4"), draw.integers(0, 40, (2, 150))
numpy.savez("request.npz", x=x, edge_index=pairs)
json.dump({"model": "sbm", "arrays": {"x": x.tolist(), "edge_index": pairs.tolist()}}, open("arrays.json", "w"))
number = lambda key, text: float(text) if key == "amount" else text
rows = lambda name: [{k: number(k, v) for k, v in row.items()} for row in csv.DictReader(open("april/" + name))]
json.dump({"model": "pay", "tables": {"nodes": rows("nodes.csv"), "edges": rows("edges.csv")}}, open("tables.json", "w"))
json.dump({"model": "pay", "files": {n: open("april/" + n).read() for n in ("nodes.csv", "edges.csv")}}, open("files.json", "w"))
P
start sbm="$grm_run" pay=pay.safetensors
check "the address is the first line" grep -qE '^http://127\.0\.0\.1:[0-9]+$' address
expect_exit 0 "what is there" curl -sf "$at/v1/models"
check "both models say what they want" jq -e '[.models[] | [.name, .input]] == [["sbm", "arrays"], ["pay", "tables"]]
  and .models[1].columns == ["amount", "kind"]' out
expect_exit 0 "the description" curl -sf "$at/openapi.json"
check "it describes every path" jq -e '(.paths | keys) == ["/healthz", "/metrics", "/openapi.json", "/v1/explain", "/v1/models", "/v1/predict"]' out
expect_exit 0 "health" curl -sf "$at/healthz"
check "is ok" jq -e '.status == "ok"' out

# --- the same bits as grm predict -------------------------------------------------------------------
json() { curl -s -H 'Content-Type: application/json' "$@"; }
npz() { curl -s -H 'Content-Type: application/octet-stream' --data-binary @request.npz "$@"; }
"$grm" predict "$grm_run" --data request.npz --threads 1 --quiet > sbm.csv
"$grm" predict pay.safetensors --data april --threads 1 --quiet > april.csv 2> err
npz -H 'Accept: text/csv' "$at/v1/predict?model=sbm" > got.csv
check "npz: the lines of grm predict" cmp sbm.csv got.csv
json -H 'Accept: text/csv' -d @arrays.json "$at/v1/predict" > got.csv
check "arrays in JSON: the same" cmp sbm.csv got.csv
sed -i 's/^april,/request,/' april.csv
for body in tables files; do
  json -H 'Accept: text/csv' -d @$body.json "$at/v1/predict" > got.csv
  check "$body in JSON: the lines of grm predict" cmp april.csv got.csv
done
npz "$at/v1/predict?model=sbm" > got.json
check "numbers of JSON are the same bits" /usr/bin/python3 -c '
import csv, json, numpy
rows, answer = list(csv.reader(open("sbm.csv")))[1:], json.load(open("got.json"))["predictions"]
assert len(rows) == len(answer) == 40
for row, got in zip(rows, answer):
    want = [row[0], row[1], int(row[2]), row[3]] + [numpy.float32(v) for v in row[4:]]
    have = [got["domain"], got["id"], got["class"], got["label"]] + [numpy.float32(v) for v in got["probabilities"] + [got["spread"], got["entropy"]]]
    assert want == have, (want, have)'
"$grm" explain "$grm_run" --data request.npz --item 7 --threads 1 --out why --json > want.json 2> err
npz "$at/v1/explain?model=sbm&item=7" > got.json
check "an explanation is that of grm explain" test "$(jq -cS 'del(.files, .message, .run, .runs, .dataset)' want.json)" = \
  "$(jq -cS 'del(.notes, .run, .runs, .dataset)' got.json)"
check "of a kind" jq -e '.edges | length > 0' got.json
json -d '{"model": "pay", "item": "acc1", "files": {"nodes.csv": "id,amount\nacc1,2\n", "edges.csv": "source,target\n"}}' "$at/v1/explain" > got.json
check "a missing column is named as grm predict names it" jq -e '.error.message | test("^request/nodes.csv:1: there is no column .kind.")' got.json
check "no temporary path is told" bash -c "! grep -q /tmp got.json"
check "several clients at once get their own answers" bash -c "
  for k in 1 2 3 4 5 6 7 8; do
    curl -s -H 'Content-Type: application/octet-stream' -H 'Accept: text/csv' --data-binary @request.npz '$at/v1/predict?model=sbm' > p\$k.csv &
    curl -s -H 'Content-Type: application/json' -H 'Accept: text/csv' -d @tables.json '$at/v1/predict' > q\$k.csv &
  done; wait
  for k in 1 2 3 4 5 6 7 8; do cmp sbm.csv p\$k.csv && cmp april.csv q\$k.csv || exit 1; done"
check "the example client predicts" /usr/bin/python3 "$source_dir/examples/serve/client.py" "$at" april --model pay
check "a line for each account" test "$(grep -c '^request acc' .out)" = 30
check "and explains" /usr/bin/python3 "$source_dir/examples/serve/client.py" "$at" request.npz --model sbm --explain 7

# --- loaded anew, beside the requests ----------------------------------------------------------------
"$grm" train --dataset ./pay --method grm --epochs 4 --threads 1 --out c --quiet > /dev/null 2> err
cp pay.safetensors old.safetensors
digest() { curl -s "$at/v1/models" | jq -r '.models[1].sha256'; }
cp "$(find c -name model.safetensors)" next && mv next pay.safetensors
new=$(sha256sum < pay.safetensors | cut -d' ' -f1)
check "the new model is another one" test "$new" != "$(sha256sum < old.safetensors | cut -d' ' -f1)"
is_new() { [ "$(digest)" = "$new" ]; }
check "a changed file is loaded" wait_until is_new
echo broken > next && mv next pay.safetensors
check "a broken one is told" wait_until grep -q "the old model stays" log
check "and leaves the model in place" is_new
json -d @tables.json "$at/v1/predict" > got.json
check "which still answers" jq -e '.items == 30' got.json
cp old.safetensors next && mv next pay.safetensors
kill -HUP "$server"
is_old() { [ "$(digest)" = "$(sha256sum < old.safetensors | cut -d' ' -f1)" ]; }
check "SIGHUP loads all" wait_until is_old
expect_exit 0 "SIGTERM ends it" stop
check "with a word" grep -q stopping log
check "no temporary folder is left" bash -c '! ls -d "${TMPDIR:-/tmp}"/grm-serve-* 2> /dev/null | xargs -r -n 1 stat -c %u | grep -qx "$(id -u)"'

# --- a token, limits, names ---------------------------------------------------------------------------
printf '0123456789abcdef0123456789abcdef\n' > token
start "$grm_run" --token-file token --max-body 0.01
check "without the token" test "$(curl -s -o out -w '%{http_code}' "$at/v1/models")" = 401
check "with a wrong one" test "$(curl -s -o out -w '%{http_code}' -H 'Authorization: Bearer 0123456789abcdef0123456789abcdee' "$at/v1/models")" = 401
check "with it" curl -sf -H "Authorization: Bearer $(cat token)" "$at/v1/models"
check "a body above the limit" test "$(npz -H "Authorization: Bearer $(cat token)" -o out -w '%{http_code}' "$at/v1/predict")" = 413
check "refusals are logged" grep -q "refused with 413" log
expect_exit 0 "it ends" stop
expect_exit 2 "two models of one name" "$grm" serve "$grm_run" "$grm_run"
expect_exit 2 "an address that is none" "$grm" serve "$grm_run" --address example.org
expect_exit 3 "an address of another machine" "$grm" serve "$grm_run" --address 192.0.2.1

# --- attacks and load ---------------------------------------------------------------------------------
start "$grm_run"
check "attacks are refused" /usr/bin/python3 "$source_dir/tests/serve/service_attack.py" "$at" "$server"
expect_exit 0 "and it still ends well" stop
check "200 requests a second for 5 s: all answered, memory stable" bash "$source_dir/bench/serve.sh" "$grm" 5 200

# --- the session of docs/serve.md ---------------------------------------------------------------------
mkdir docs bin
ln -s "$grm" bin/grm
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_dir/docs/serve.md" > docs/session.sh
check "the page has a session" test "$(wc -l < docs/session.sh)" -gt 10
(cd docs && PATH=$work/bin:$PATH bash -euo pipefail -c 'trap "kill \$(jobs -p) 2> /dev/null || true" EXIT; source ./session.sh' > out 2> err)
check "it runs" test $? = 0
check "and counts its three requests" grep -q 'grm_model_requests_total{model="first"} 3' docs/out
finish
