#!/usr/bin/env bash
# What the program says to a mistyped command line: short numbers, and what was probably meant.
source "$(dirname "$0")/../cli/lib.sh" "$@"
unset GRM_DATA
export OMP_WAIT_POLICY=passive  # the program need not start itself anew

# refused PATTERN WORD...: a usage error whose message has the pattern, on a short line, without a number
# of twenty digits.
refused() {
  local pattern=$1
  shift
  expect_exit 2 "grm $*" "$grm" "$@"
  check "grm $*: '$pattern'" grep -qE -- "$pattern" err
  check "grm $*: no endless number" bash -c "! grep -qE '[0-9]{20}' err"
  check "grm $*: one short message" bash -c "[ \$(wc -l < err) = 1 ] && [ \$(wc -c < err) -lt 330 ]"
}

# Numbers out of range, of every kind that a flag or --set takes.
long=$(printf 'many%.0s' {1..100})
refused "--epochs: 0 is not in range: expected 1 or more" train --epochs 0
refused "--epochs: -3 is not in range" train --epochs -3
refused "--epochs: 'three' is not a whole number" train --epochs three
refused "--seeds: .*too large" train --seeds 9999999999999999999
refused "--memory-limit: 1e308 is not in range: expected more than 0" train --memory-limit 1e308
refused "--memory-limit: 0 is not in range" train --memory-limit 0
refused "--checkpoint-seconds: -1 is not in range" study run quick --checkpoint-seconds -1
refused "--memory-mib: 'much' is not a number" study run quick --memory-mib much
refused "--threads: 5000 is not in range: expected 1 to 4096" doctor --threads 5000
refused "--items: 101 is not in range: expected 0 to 100" report runs --items 101
refused "--top: 0 is not in range" explain runs --item 1 --top 0
refused "--seed: 'x' is not a whole number" data shift sbm --seed x
refused "method.lr: 1e308 is outside 0 \.\. " train --set method.lr=1e308
refused "method.lr: 1.00001e3 is outside" train --set method.lr=1.00001e3
refused "train.epochs: .* is too large" train --set train.epochs=9999999999999999999
refused "train.epochs: 'many.*\.\.\.' is not a whole number" train --set "train.epochs=$long"

# Verbs at every level.
refused "'trian' is not a verb, did you mean 'train'\? see 'grm --help'" trian
refused "'chek' is not a verb of 'grm data', did you mean 'check'\? see 'grm data --help'" data chek ./x
refused "'rnu' is not a verb of 'grm study', did you mean 'run'\?" study rnu quick
refused "'check' is not a verb, did you mean 'grm data check'\?" check ./my-data
refused "'xyzzy' is not a verb; there are: train, fit, study" xyzzy
refused "'grm data' needs a verb: .*describe.*; see 'grm data --help'" data

# Flags are suggested from the verb's own.
refused "'grm train' has no flag --epcohs, did you mean '--epochs'\? see 'grm train --help'" train --epcohs 3
refused "no flag --epcohs, did you mean '--epochs'\?" train --epcohs=3
refused "no flag -epochs, did you mean '--epochs'\?" train -epochs 3
refused "no flag --data_root, did you mean '--data-root'\?" train --data_root x
refused "'grm data check' has no flag --sett, did you mean '--set'\?" data check sbm --sett x=1
refused "'grm explain' has no flag --itme, did you mean '--item'\?" explain runs --itme 3
refused "'grm doctor' has no flag --epochs; see 'grm doctor --help'" doctor --epochs 3
refused "'grm train' has no flag --lr; it is an option: --set method.lr=VALUE" train --lr 0.1
refused "'grm train' has no flag --eval-every; it is an option: --set train.eval_every=VALUE" train --eval-every 2
refused "'sbm' was not expected here, did you mean '--dataset sbm'\?" train sbm
refused "'erm,grm' was not expected here, did you mean '--method erm,grm'\?" train erm,grm

# Values.
refused "'grn' is not a method \(did you mean 'grm'\?\)" train --method grn
refused "'twich' is not a dataset \(did you mean 'twitch'\?\)" train --dataset twich
refused "'gpu' is not a device \(did you mean 'cuda'\?\)" train --device gpu
refused "'cup' is not a device \(did you mean 'cpu'\?\)" train --device cup
refused "'centerd' is not a preset of grm \(did you mean 'centred'\?\)" train --method grm:centerd
refused "--format: 'markdwn' is not one of .* \(did you mean 'markdown'\?\)" study table quick --format markdwn
refused "--color: 'allways' is not one of auto, always, never \(did you mean 'always'\?\)" doctor --color allways
refused "--method: the value is empty" train --method ""
refused "--dataset: the value is empty" train --dataset ""
refused "--method erm,,grm: a name beside a comma is missing" train --method erm,,grm
refused "--set lr=0.1: the section is missing, did you mean 'method.lr=0.1'\?" train --set lr=0.1
refused "method.hiden is not an option \(did you mean 'hidden'\?\)" train --method erm --set method.hiden=3

# What is missing is named in words.
refused "--epochs needs a value" train --epochs
refused "'grm eval' needs a run: run folder or model" eval
refused "'grm explain' needs --item: " explain runs

# Scripts get the same words, wherever the parser stopped.
for words in "train --epcohs 3 --json" "train --epochs 0 --json" "data chek --json" "eval --json"; do
  expect_exit 2 "grm $words" "$grm" $words
  check "grm $words: the message as JSON" bash -c "jq -r .error.message out | sed 's/^/grm: /' | cmp - err"
done
finish
