#!/usr/bin/env bash
# Shell completion: bash is exercised word by word, zsh and fish where they are installed.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
export OMP_WAIT_POLICY=passive  # the program need not start itself anew

for shell in bash zsh fish; do
  expect_exit 0 "completion $shell" "$grm" completion $shell
  cp out "grm.$shell"
done
expect_exit 2 "another shell" "$grm" completion tcsh
check "the shells are named" grep -q "fish" err
check "bash takes the script" bash -n grm.bash
check "under strict settings, too" bash -euo pipefail -c 'source ./grm.bash'
source ./grm.bash

# complete_words WORD...: what bash offers for the last word, sorted, on one line.
complete_words() {
  COMP_WORDS=(grm "$@")
  COMP_CWORD=$#
  _grm
  printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ $//'
}
# offers EXPECTED WORD...
offers() {
  local expected=$1 got
  shift
  got=$(complete_words "$@")
  if [ "$got" != "$expected" ]; then
    echo "FAILED: completion of 'grm $*': '$got', expected '$expected'"
    failures=$((failures + 1))
  fi
}

offers "report reproduce" re
offers "check convert" data c
offers "run" study r
offers "" train --nothing
offers "--data-root --dataset --device" train --d
offers "gala gala:two-piece" train --method gal
offers "centred" train --method grm : ce
offers "centred" train --method erm,grm : ce
offers "erm,arm erm,arm:fast erm,arm:paper" train --method erm,ar
offers "twitch" train --dataset tw
offers "twitch" train --dataset = tw
offers "cpu" train --device ""
offers "bash fish zsh" completion ""
offers "markdown" study table quick --format m
offers "graph node" data init --level ""
offers "sbm" data shift sb
offers "fig-ablation fig-shift" reproduce fig
mkdir "my data" && touch "my data/a.csv" mine.toml
offers "mine.toml my data" train --config m
offers "my data/a.csv" predict runs --data "my data/"
offers "--quiet" data check sbm --q

# Every method and dataset that the program has.
check "all methods" test "$(complete_words train --method "" | tr ' ' '\n' | grep -v : | sort -u)" = \
  "$("$grm" methods --json | jq -r '.[].name' | sort -u)"
rm -r "my data" mine.toml
mkdir empty && cd empty || exit 1
check "all datasets" test "$(complete_words train --dataset "" | tr ' ' '\n' | sort)" = \
  "$("$grm" data list --json | jq -r '.datasets[].name' | sort)"
cd ..

if command -v zsh > /dev/null; then
  check "zsh takes the script" zsh -n grm.zsh
fi
if command -v fish > /dev/null; then
  check "fish takes the script" fish --no-execute grm.fish
  check "fish offers methods" bash -c "fish -c 'source grm.fish; complete -C \"grm train --method gr\"' | grep -q grm:centred"
fi
finish
