#!/usr/bin/env bash
# grm ui on loopback: who may ask, what is listed, starting and stopping, live progress, upload; and in a browser.
source "$(dirname "$0")/lib.sh" "$@"
/usr/bin/python3 -c 'import numpy' 2> /dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
expect_exit 3 "a folder that is not there" "$grm" ui none --no-browser
if grep -q "built without cpp-httplib" err; then
  echo "skipped: grm was built without cpp-httplib"
  exit 77
fi
export OMP_NUM_THREADS=1
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null; wait; rm -rf "$work"' EXIT
start() {
  rm -f address
  "$grm" ui --no-browser --threads 1 "$@" > address 2> log &
  server=$!
  wait_until test -s address || { echo "FAILED: no address"; cat log; exit 1; }
}
stop() {
  kill "$server"
  wait "$server"
  local code=$?
  server=
  return $code
}
"$grm" train --dataset sbm --set dataset.nodes=60 --method grm --epochs 3 --threads 1 --quiet > /dev/null 2> err
mkdir -p 'runs/<script>alert(1)<|script>/erm/20260101T000000-1'
cp runs/sbm/grm/*/* 'runs/<script>alert(1)<|script>/erm/20260101T000000-1/'

"$grm" report --help | grep -q -- --document && export GRM_HAS_DOCUMENT=1
start runs
check "the address with its token is the first line" grep -qE '^http://127\.0\.0\.1:[0-9]+/\?token=[0-9a-f]{64}$' address
check "only looks: attacks and requests" /usr/bin/python3 "$source_dir/tests/serve/studio_check.py" "$(cat address)" read
expect_exit 0 "it ends" stop
# axe-core looks at accessibility, where npm can fetch it.
command -v npm > /dev/null && timeout 60 npm install --no-audit --no-fund --silent axe-core > /dev/null 2>&1
start runs --write
check "starts, follows and stops a run" /usr/bin/python3 "$source_dir/tests/serve/studio_check.py" "$(cat address)" write
check "in a browser" /usr/bin/python3 "$source_dir/tests/serve/studio_browser.py" "$(cat address)"
grep '^skipped' .out
expect_exit 0 "it ends, and its runs with it" stop

# --- ten thousand runs ---------------------------------------------------------------------------------
mkdir many
/usr/bin/python3 - <<'P'
import glob, os
source = glob.glob("runs/sbm/grm/*")[0]
texts = {name: open(source + "/" + name).read() for name in ("config.toml", "summary.json")}
for k in range(10000):
    folder = "many/sbm/grm/%06dT000000-%d" % (k, k)
    os.makedirs(folder)
    for name, text in texts.items():
        open(folder + "/" + name, "w").write(text)
P
start many
check "10,000 runs are listed within a second" /usr/bin/python3 "$source_dir/tests/serve/studio_check.py" "$(cat address)" many
expect_exit 0 "it ends" stop

# --- the session of docs/studio.md ----------------------------------------------------------------------
mkdir docs bin
ln -s "$grm" bin/grm
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$source_dir/docs/studio.md" > docs/session.sh
check "the page has a session" test "$(wc -l < docs/session.sh)" -gt 8
(cd docs && PATH=$work/bin:$PATH bash -euo pipefail -c 'trap "kill \$(jobs -p) 2> /dev/null || true" EXIT; source ./session.sh' > out 2> err)
check "it runs" test $? = 0
check "lists the run, and nothing without a token" bash -c 'grep -q "\"state\": \"done\"" docs/out && grep -q "token is missing" docs/out'
finish
