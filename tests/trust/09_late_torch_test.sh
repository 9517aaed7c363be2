#!/usr/bin/env bash
# Help, version and completion come from the launcher, which loads no libtorch; the texts are those of
# the engine.
source "$(dirname "$0")/../cli/lib.sh" "$@"
engine=$(dirname "$grm")/grm-engine
check "the launcher does not link libtorch" bash -c "! ldd '$grm' | grep -qE 'torch|openblas|gomp'"

# With an engine that does nothing there is help all the same: it is not asked.
mkdir alone
cp "$grm" "$engine.help" alone/
printf '#!/bin/sh\nexit 99\n' > alone/grm-engine
chmod +x alone/grm-engine
help_of() { alone/grm "$@" --help; }
verbs_below() {
  help_of "$@" | awk '$0 == "Subcommands:" { on = 1; next } /^[^ ]|^$/ { on = 0 } on && /^  [a-z]/ { print $1 }'
}
paths=("")
for verb in $(verbs_below); do
  paths+=("$verb")
  for sub in $(verbs_below "$verb"); do paths+=("$verb $sub"); done
done
check "all verbs are there" test "${#paths[@]}" -ge 25
for path in "${paths[@]}"; do
  read -ra words <<< "$path"
  expect_exit 0 "grm $path --help" alone/grm "${words[@]}" --help
  cp out asked
  expect_exit 0 "grm help $path" alone/grm help "${words[@]}"
  check "grm help $path says the same" cmp out asked
  check "grm $path: its own usage" grep -q "^Usage: grm ${path:-\[OPTIONS\]}" asked
done
expect_exit 0 "grm alone" alone/grm
check "shows the help" cmp out <(alone/grm --help)
expect_exit 0 "the version" alone/grm --version
check "is a number" grep -qE '^grm [0-9]+\.[0-9]+' out
for shell in bash zsh fish; do check "completion $shell" alone/grm completion $shell; done
expect_exit 99 "work is the engine's" alone/grm methods
rm alone/grm-engine
expect_exit 3 "which may be missing" alone/grm methods
check "and says which" grep -q "grm-engine cannot be started" err

# The same texts from the engine itself.
for path in "" train "study run"; do
  read -ra words <<< "$path"
  check "engine: $path" cmp <("$engine" "${words[@]}" --help) <("$grm" "${words[@]}" --help)
done
check "engine: grm alone" cmp <("$engine") <("$grm")
check "engine: grm help train" cmp <("$engine" help train) <("$grm" train -h)
check "engine: completion" cmp <("$engine" completion bash) <("$grm" completion bash)
check "engine: version" cmp <("$engine" --version) <("$grm" --version)
expect_exit 2 "help for a verb that is none" "$grm" help trian
check "a suggestion" grep -q "train" err
check "with flags in between the engine answers" cmp <("$grm" train --epochs 3 --help) <("$grm" train --help)

# Ten times against once: the machine may be busy, the ratio holds.
seconds() {
  local begin=$EPOCHREALTIME
  "$@" > /dev/null
  echo "$begin $EPOCHREALTIME" | awk '{ print $2 - $1 }'
}
ten() { for _ in 1 2 3 4 5 6 7 8 9 10; do "$grm" --help; done; }
launcher=$(seconds ten) loaded=$(seconds "$engine" --help)
echo "ten times grm --help: $launcher s, once the engine: $loaded s"
check "help is at least five times faster than the engine's" \
  awk -v a="$launcher" -v b="$loaded" 'BEGIN { exit !(a / 10 < b / 5) }'
finish
