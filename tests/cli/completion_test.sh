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

# Keys of --set: the section, the key, the value. Bash cuts words at '='.
offers "dataset. method. train." train --set ""
offers "dataset." data check sbm --set ""
offers "train.epochs= train.eval_every=" train --set train.e
offers "train.epochs= train.eval_every=" train --set = train.e
offers "last oracle val" train --set train.selection =
offers "oracle" train --set train.selection = o
offers "false true" train --set dataset.symmetrise = ""
offers "dataset.symmetrise=" data describe sbm --set dataset.sy
offers "" train --set method.lr = ""
# sections SECTION: the keys that the program itself lists, of all datasets or methods.
sections() { "$grm" options --json | jq -r "[.$1 | if type == \"array\" then .[] else .[][] end | \"$1.\" + .key + \"=\"] | unique[]" | sort; }
for section in dataset method train; do
  check "all keys of $section" cmp <(complete_words train --set "$section." | tr ' ' '\n' | sort) <(sections $section)
done

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
  # zsh_offers EXPECTED LINE: what an interactive zsh lists for a line, by a key that shows all of it.
  cat > drive.zsh <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1= PS2=; stty -echo; autoload -U compinit; compinit -u -d $PWD/.zcompdump; source $PWD/grm.zsh
zstyle ':completion:*' list-colors ''; LISTMAX=0; unsetopt auto_menu
compadd() { local -a f; builtin compadd -O f \"\$@\"; print -l -- \$f >> $PWD/zsh.offered; builtin compadd \"\$@\" }
print ready > $PWD/zsh.ready"
repeat 100; do [[ -e zsh.ready ]] && break; sleep 0.1; done
zpty -w -n z "$1"$'\t'
sleep 1
zpty -d z
ZSH
  zsh_offers() {
    rm -f zsh.offered zsh.ready
    zsh -f drive.zsh "$2" > /dev/null 2>&1
    check "zsh: completion of '$2': $(sort -u zsh.offered 2> /dev/null | tr '\n' ' ')" \
      test "$(sort -u zsh.offered | tr '\n' ' ' | sed 's/ *$//; s/^ *//')" = "$1"
  }
  zsh_offers "train.epochs= train.eval_every=" "grm train --set train.e"
  zsh_offers "last oracle val" "grm train --set train.selection="
else
  echo "skipped: there is no zsh"
fi
if command -v fish > /dev/null; then
  check "fish takes the script" fish --no-execute grm.fish
  # fish_offers EXPECTED LINE
  fish_offers() {
    local got
    got=$(fish -c "source grm.fish; complete -C '$2'" | cut -f1 | sort -u | tr '\n' ' ' | sed 's/ $//')
    check "fish: completion of '$2': '$got'" test "$got" = "$1"
  }
  fish_offers "gala gala:two-piece" "grm train --method gal"
  fish_offers "dataset. method. train." "grm train --set "
  fish_offers "dataset." "grm data check sbm --set "
  fish_offers "train.epochs= train.eval_every=" "grm train --set train.e"
  fish_offers "train.selection=oracle" "grm train --set train.selection=o"
  fish_offers "dataset.symmetrise=false dataset.symmetrise=true" "grm train --set dataset.symmetrise="
else
  echo "skipped: there is no fish"
fi
finish
