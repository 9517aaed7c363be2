#!/usr/bin/env bash
# A million brackets inside each other, wherever a JSON text comes in: an error with the file's name
# in place of a stack that overflows.
source "$(dirname "$0")/../cli/lib.sh" "$@"

head -c 1000000 /dev/zero | tr '\0' '[' > brackets
tr '[' ']' < brackets | cat brackets - > closed
{
  printf '{"format":'
  cat closed
  for key in grm git compiler torch blas threads device notes missing data_hashes; do
    printf ',"%s":' $key
    cat closed
  done
  printf '}'
} > deep.json
mkdir data
for domain in a b c; do
  mkdir data/$domain
  awk 'BEGIN { print "id,amount,label"; for (i = 0; i < 30; ++i) printf "n%d,%g,%s\n", i, i % 2 * 3 + i % 5 / 5, i % 2 ? "yes" : "no" }' > data/$domain/nodes.csv
  awk 'BEGIN { print "source,target"; for (i = 0; i + 2 < 30; ++i) printf "n%d,n%d\n", i, i + 2 }' > data/$domain/edges.csv
done
printf 'name = "d"\n[train]\ndomains = ["a"]\n[validation]\ndomains = ["b"]\n[test]\ndomains = ["c"]\n' > data/dataset.toml
expect_exit 0 "train" "$grm" train --dataset ./data --method erm --epochs 2 --json
run=$(jq -r '.runs[0]' out)

# rewrite FROM TO FILTER: a model of format 2 whose description a jq filter has changed; $deep are the
# brackets.
rewrite() {
  local size
  size=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  tail -c +9 "$1" | head -c "$size" | jq -c --rawfile deep deep.json \
    ".__metadata__ |= {grm: (.grm | fromjson | .format = 2 | $3 | tojson)}" | tr -d '\n' > header
  size=$(stat -c %s header)
  while [ $((size % 8)) != 0 ]; do
    printf ' ' >> header
    size=$((size + 1))
  done
  {
    for shift in 0 8 16 24 32 40 48 56; do
      printf "\\x$(printf %02x $(((size >> shift) & 255)))"
    done
    cat header
    tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"
  } > "$2"
}
rewrite "$run/model.safetensors" same.model .
expect_exit 0 "a model that was only written anew" "$grm" predict same.model --data ./data --out p.csv
rewrite "$run/model.safetensors" deep.model '.preprocessing = $deep'
expect_exit 3 "brackets in a model's preprocessing" "$grm" predict deep.model --data ./data --out p.csv
check "what is wrong is told" grep -q "preprocessing.*more than 64 brackets" err
rewrite "$run/model.safetensors" deep.model '$deep | {a: .}'
expect_exit 3 "a model with another description" "$grm" predict deep.model --data ./data --out p.csv
{
  printf '\x40\x42\x0f\0\0\0\0\0{'  # 1000000 bytes
  tail -c +2 brackets
} > deep.model
expect_exit 3 "brackets in the header of a model" "$grm" predict deep.model --data ./data --out p.csv
check "the file is named" grep -q "deep.model.*more than 64 brackets" err

cp -r "$run" whole
cp deep.json "$run/env.json"
rm -f "$run/summary.json"
expect_exit 3 "brackets in env.json of a run that goes on" "$grm" train --dataset ./data --method erm --epochs 2 --resume
cp deep.json "$run/summary.json"
expect_exit 3 "brackets in summary.json" "$grm" train --dataset ./data --method erm --epochs 2 --resume
cp -r whole broken
cp deep.json broken/env.json
"$grm" eval broken > out 2> err
check "eval does not crash over env.json" test $? -lt 128
"$grm" report broken --out r.html > out 2> err
check "report does not crash over env.json" test $? -lt 128
cp deep.json broken/metrics.jsonl
"$grm" plot broken --out plots > out 2> err
check "plot does not crash over metrics.jsonl" test $? -lt 128
finish
