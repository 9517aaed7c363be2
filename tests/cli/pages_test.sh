#!/usr/bin/env bash
# The commands of pages of docs/, taken from their fenced blocks, run from an empty folder for each page:
#   ```bash          must succeed           ```bash exit=5   must end with that code
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
mkdir bin
ln -s "$(realpath "$grm")" bin/grm
export PATH=$work/bin:$PATH
for page in eval fit watch attributions inputs export targets; do
  [ -e "$source_dir/docs/$page.md" ] || continue
  mkdir -p "$page/blocks" "$page/home"
  awk -v folder="$page/blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```bash/ { file = sprintf("%s/%02d.sh", folder, ++n); print ($2 ~ /^exit=/ ? substr($2, 6) : 0) > (file ".code"); inside = 1; next }
    /^```/ { inside = 1; file = "/dev/null"; next }
    inside { print > file }' "$source_dir/docs/$page.md"
  # One shell runs all blocks of a page, as a reader would; the code of a block is that of its first failure.
  cat > run.sh <<'RUN'
set -E
trap 'c=$?; [ "$code" != 0 ] || code=$c' ERR
cd "$work/$page/home"
for block in "$work/$page"/blocks/*.sh; do
  code=0
  source "$block" > "$block.out" 2>&1 < /dev/null
  echo $code > "$block.got"
done
RUN
  export work page
  bash run.sh
  for block in "$page"/blocks/*.sh; do
    [ "$(cat "$block.got")" = "$(cat "$block.code")" ] && continue
    echo "FAILED: docs/$page.md: '$(head -1 "$block")' ended with $(cat "$block.got"), expected $(cat "$block.code")"
    tail -n 10 "$block.out"
    failures=$((failures + 1))
  done
  check "docs/$page.md has commands" test -e "$page/blocks/01.sh"
done
finish
