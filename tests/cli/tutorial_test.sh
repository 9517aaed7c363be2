#!/usr/bin/env bash
# The commands of docs/tutorial.md, taken from its fenced blocks, run from an empty folder:
#   ```bash          must succeed           ```bash exit=3   must fail with that code
#   ```text          printed, line by line  ```text about    the same, whatever the numbers are
# A block of text belongs to the commands before it; a line "..." stands for any lines.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
export GRM_SOURCE=$source_dir
mkdir blocks bin home
ln -s "$(realpath "$grm")" bin/grm
export PATH=$work/bin:$PATH

awk '
  /^```/ && inside { inside = 0; close(file); next }
  /^```bash/ { file = sprintf("blocks/%02d.sh", ++n); print ($2 ~ /^exit=/ ? substr($2, 6) : 0) > ("blocks/" sprintf("%02d", n) ".code") }
  /^```text/ { file = sprintf("blocks/%02d.text", n); print ($2 == "about" ? "about" : "exact") > ("blocks/" sprintf("%02d", n) ".mode") }
  /^```(bash|text)/ { inside = 1; printf "" > file; next }
  /^```/ { inside = 1; file = "/dev/null"; next }
  inside { print > file }
' "$source_dir/docs/tutorial.md"

# One shell runs all blocks, as a reader would; the code of a block is that of its first failure.
cat > run.sh <<'RUN'
set -E
trap 'c=$?; [ "$code" != 0 ] || code=$c' ERR
cd "$work/home"
for block in "$work"/blocks/*.sh; do
  code=0
  source "$block" > "${block%.sh}.out" 2>&1 < /dev/null
  echo $code > "${block%.sh}.got"
done
RUN
export work
check "the blocks run" bash run.sh

# shows OUTPUT TEXT MODE: the lines of TEXT are in OUTPUT, in this order.
shows() {
  awk -v mode="$3" '
    function plain(line) {
      if (mode == "about") { gsub(/[0-9]+(\.[0-9]+)?/, "#", line); gsub(/-+/, "-", line); gsub(/ +/, " ", line) }
      sub(/[ \t]+$/, "", line)
      return line
    }
    NR == FNR { if ($0 != "..." && $0 != "") wanted[++n] = $0; next }
    BEGIN { at = 1 }
    at <= n && plain($0) == plain(wanted[at]) { ++at }
    END { if (at <= n) { print "not printed: " wanted[at]; exit 1 } }' "$2" "$1"
}
count=0
for block in blocks/*.sh; do
  stem=${block%.sh}
  count=$((count + 1))
  check "'$(grep -v '^#' "$block" | head -1)' ends with $(cat "$stem.code")" test "$(cat "$stem.code")" = "$(cat "$stem.got")"
  [ "$(cat "$stem.code")" = "$(cat "$stem.got")" ] || tail -n 20 "$stem.out"
  [ ! -e "$stem.text" ] || check "what the tutorial shows of '$(head -1 "$block")'" \
    shows "$stem.out" "$stem.text" "$(cat "$stem.mode")"
done
check "there were many blocks" test "$count" -ge 12
check "and outputs were compared" test "$(ls blocks/*.text | wc -l)" -ge 8
[ -z "${GRM_TUTORIAL_OUTPUTS:-}" ] || cp blocks/* "$GRM_TUTORIAL_OUTPUTS"

# What the tutorial claims, in numbers.
cd home || exit 1
test_mean() { jq '[.chosen.val.test[].value] | add / length' "$1"/*-100[012]/summary.json | awk '{ s += $1 } END { print s / NR }'; }
check "the model that was not told of the shift fails" awk -v e="$(test_mean runs/payments/erm)" 'BEGIN { exit !(e > 0 && e < 85) }'
check "the centred one holds" awk -v g="$(test_mean runs/payments/grm)" 'BEGIN { exit !(g > 88) }'
check "a row for every account of June" test "$(wc -l < june.csv)" = 161
check "with the promised columns" grep -qx "domain,id,class,label,p_no,p_yes,spread,entropy" <(head -1 june.csv)
for file in explanation.json explanation.graphml explanation.dot; do check "why/$file" test -s "why/$file"; done
check "the report has its sections" bash -c 'for id in answer domains methods curves shift models explanations repeat; do
  grep -qE "\"sections\":\[[^]]*\"$id\"" report.html || exit 1; done'
finish
