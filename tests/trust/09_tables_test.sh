#!/usr/bin/env bash
# Tables fit lines of 60 columns without losing a value; a pipe without COLUMNS gets them whole.
source "$(dirname "$0")/../cli/lib.sh" "$@"
unset GRM_DATA
export OMP_WAIT_POLICY=passive  # the program need not start itself anew

# widest FILE: columns of its longest line.
widest() { LC_ALL=C.UTF-8 wc -L < "$1"; }
# values FILE: the numbers in it, sorted, without those that stand in both forms of a table more than once.
values() { grep -oE '[0-9]+(\.[0-9]+)?' "$1" | sort -u; }

# fits WHAT WORD...: at 60 columns no line is longer, and every number of the wide form is still there.
fits() {
  local what=$1
  shift
  expect_exit 0 "$what" "$grm" "$@"
  cp out wide
  expect_exit 0 "$what at 60 columns" env COLUMNS=60 "$grm" "$@"
  cp out narrow
  check "$what: at most 60 columns, not $(widest narrow)" [ "$(widest narrow)" -le 60 ]
  check "$what: was too wide before" [ "$(widest wide)" -gt 60 ]
  check "$what: the same numbers" cmp <(values wide) <(values narrow)
}

"$grm" train --dataset sbm --set dataset.nodes=60 --epochs 2 --seeds 2 --method erm,grm,grm:centred,drnn,mmd \
  -q > /dev/null 2>&1
fits "train, read back" train --dataset sbm --set dataset.nodes=60 --epochs 2 --seeds 2 \
  --method erm,grm,grm:centred,drnn,mmd --resume -q
check "each part begins with the domains" [ "$(grep -c '^Avg ' narrow)" -ge 2 ]
check "and has a head of its own" [ "$(grep -c '^---' narrow)" = "$(grep -c '^Avg ' narrow)" ]
check "all methods are there" bash -c 'for m in erm grm grm:centred drnn mmd; do grep -qw -- $m narrow || exit 1; done'
fits "methods" methods
fits "data list" data list
words() { tr -s ' -' '\n' < "$1" | sort -u; }
check "words are not cut" cmp <(words narrow) <(words wide)
fits "data describe" data describe spmotif --set dataset.train_per_class=9 \
  --set dataset.val_per_class=9 --set dataset.test_per_class=9
fits "data shift" data shift sbm --set dataset.nodes=60
fits "study list" study list
expect_exit 0 "doctor at 60 columns" env COLUMNS=60 "$grm" doctor
check "doctor fits" [ "$(widest out)" -le 60 ]
expect_exit 0 "eval" env COLUMNS=40 "$grm" eval "$(dirname "$(find runs -name model.safetensors | head -1)")"
check "eval fits 40" [ "$(widest out)" -le 40 ]
expect_exit 0 "bench" env COLUMNS=40 "$grm" bench --dataset sbm --set dataset.nodes=60 --epochs 2 -q
check "bench fits 40" [ "$(widest out)" -le 40 ]

cat > my.toml <<'TOML'
name = "my"
seeds = 2
methods = ["erm", "grm", "drnn", "mmd"]
datasets = ["sbm"]
[set]
train.epochs = 2
dataset.nodes = 60
TOML
if "$grm" study run my.toml -q > /dev/null 2> err; then
  fits "study table" study table my
  fits "study table of domains" study table my --domains
  expect_exit 0 "study status" env COLUMNS=60 "$grm" study status my
  check "study status fits" [ "$(widest out)" -le 60 ]
else
  check "the study runs: $(head -3 err)" false
fi
finish
