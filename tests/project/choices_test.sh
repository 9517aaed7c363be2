#!/usr/bin/env bash
# Choices are values: no code of methods, nn and train compares with a text in quotes. An enum says its words
# once (GRM_WORDS, core/words.h), OptionList::choice reads and writes them, code compares the enum's values.
# The same for levels: a Graph, a Task or an entry of a table says its own (level()), nobody looks at `parts`.
cd "$2" || exit 1
failures=0
told() {  # told WHAT LINES
  [ -z "$2" ] && return
  echo "$1:"
  echo "$2"
  failures=$((failures + 1))
}
stations='src/methods src/nn src/train include/grm/methods include/grm/nn include/grm/train'
# shellcheck disable=SC2086
told "a text in quotes is compared; make it a value of an enum with words" \
  "$(grep -rnE '[=!]= *"|"s? *[=!]= ' --include=*.cpp --include=*.h --include=*.cu $stations)"
told "'parts' is asked for the level; ask level()" \
  "$(grep -rnE 'parts\.defined\(\)' src include | grep -vE 'Level level\(\) const')"
# shellcheck disable=SC2086
checked=$(grep -rlE '' --include=*.cpp --include=*.h $stations | wc -l)
if [ "$checked" -lt 100 ]; then
  echo "only $checked files were looked at; have the stations moved?"
  failures=$((failures + 1))
fi
echo "$failures wrong"
[ "$failures" = 0 ]
