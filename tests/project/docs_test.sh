#!/usr/bin/env bash
# The method pages point from equations to lines: `file:line` `name`. Each line must still hold the
# name that the page gives it.
cd "$2" || exit 1
checked=0
failures=0
while read -r place name; do
  file=${place%%:*}
  line=${place##*:}
  checked=$((checked + 1))
  if ! sed -n "${line}p" "$file" 2> /dev/null | grep -qF -- "$name"; then
    now=$(grep -nF -- "$name" "$file" 2> /dev/null | head -1 | cut -d: -f1)
    echo "docs say $place holds '$name'; it is at line ${now:-none}"
    failures=$((failures + 1))
  fi
done < <(grep -hoE '`[a-z_/]+\.(h|cpp):[0-9]+` `[^`]+`' docs/methods/*.md | sed -E 's/`([^`]+)` `([^`]+)`/\1 \2/')
echo "$checked places checked, $failures wrong"
for command in 'make demo' 'make test'; do
  grep -q "$command" README.md || { echo "README does not show '$command'"; failures=1; }
done
[ "$failures" = 0 ] && [ "$checked" -ge 10 ]
