#!/usr/bin/env bash
# Every verb explains itself: a sentence, examples, and examples that the parser takes. What the help
# lists is what a shell completes.
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
export OMP_WAIT_POLICY=passive  # the program need not start itself anew: half the time
"$grm" completion bash > grm.bash
source ./grm.bash

# help_of VERB...: its help, asked for once.
help_of() {
  local file="help-$*"
  [ -e "$file" ] || "$grm" "$@" --help > "$file" || rm "$file"
  cat "$file"
}

# section TITLE VERB...: the lines below a title of the help.
section() {
  local title=$1
  shift
  help_of "$@" | awk -v title="$title:" '$0 == title { on = 1; next } /^[^ ]|^$/ { on = 0 } on'
}
verbs_below() { section Subcommands "$@" | awk '/^  [a-z]/ { print $1 }'; }
# Without the remark that follows two spaces.
examples() { section Examples "$@" | sed -nE 's/^  (grm .*)/\1/; s/  .*//; /^grm/p'; }

# takes LINE: the parser does. Its verb is stopped by a device that does not exist, which is noticed
# right after parsing; verbs without --device run here, where there is nothing to find.
takes() {
  local line=${1%%[|>]*} words verb
  read -ra words <<< "${line#grm }"
  verb=${words[0]}
  if [[ $verb == data || $verb == study ]]; then verb+=" ${words[1]}"; fi
  if help_of $verb | grep -q -- --device; then words+=(--device nowhere); fi
  timeout 60 "$grm" "${words[@]}" > out 2> err < /dev/null
  local code=$?
  [ $code != 1 ] && [ $code -lt 124 ] && ! grep -q "see 'grm.* --help'" err
}

check_verb() {
  check "grm $*: there is help" help_of "$@"
  check "grm $*: a sentence says what it does" bash -c "head -1 'help-$*' | grep -qE '^[A-Za-z].{15,}'"
  check "grm $*: an example shows this verb" grep -q "^grm ${*:-[a-z]}" <(examples "$@")
  examples "$@" >> lines
  local flags
  flags=$(section Options "$@" | sed -nE 's/^  (-.{0,26}).*/\1/p' | grep -oE -- '--?[a-z][a-z-]*' | sort -u)
  COMP_WORDS=(grm "$@" -)
  COMP_CWORD=$(($# + 1))
  _grm
  check "grm $*: its flags are completed" test "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u)" = "$flags"
}

check_verb
for verb in $(verbs_below); do
  check_verb "$verb"
  for sub in $(verbs_below "$verb"); do check_verb "$verb" "$sub"; done
done
check "all verbs were visited" test "$(verbs_below | wc -l)" -ge 13
check "and those of data and study" \
  test "$(verbs_below data | wc -l)-$(verbs_below study | wc -l)" = 8-7

sort -u lines > different
while IFS= read -r line; do check "'$line' parses" takes "$line"; done < different
check "many examples were tried" test "$(wc -l < different)" -ge 50
check "a flag that is none would be noticed" bash -c "$(declare -f help_of takes); grm='$grm'
  takes 'grm doctor --strict' && ! takes 'grm doctor --strickt'"
finish
