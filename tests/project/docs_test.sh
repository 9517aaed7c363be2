#!/usr/bin/env bash
# The method pages point from equations to code: `file` `symbol`. Each file must hold the symbol that
# the page gives it. Links between pages lead to files, and the README stays short.
cd "$2" || exit 1
checked=0
failures=0
while read -r file symbol; do
  checked=$((checked + 1))
  if ! grep -qF -- "$symbol" "$file" 2> /dev/null; then
    echo "docs say that $file holds '$symbol'; it does not"
    failures=$((failures + 1))
  fi
done < <(grep -hoE '`[a-z_/]+\.(h|cpp)` `[^`]+`' docs/methods/*.md | sed -E 's/`([^`]+)` `([^`]+)`/\1 \2/')
while IFS=: read -r page link; do
  target=$(dirname "$page")/${link%%#*}
  if [ ! -e "$target" ]; then
    echo "$page links to $link, which does not exist"
    failures=$((failures + 1))
  fi
done < <(find . -name '*.md' -not -path './build*' -not -path './.*/*' -print0 | xargs -0 grep -oE '\]\([^):#][^):]*\)' | sed -E 's/\]\(([^)]*)\)/\1/')
echo "$checked places checked, $failures wrong"
for command in 'make demo' 'make test'; do
  grep -q "$command" README.md || { echo "README does not show '$command'"; failures=1; }
done
words=$(wc -w < README.md)
[ "$words" -le 900 ] || { echo "README has $words words, at most 900"; failures=1; }
[ "$failures" = 0 ] && [ "$checked" -ge 10 ]
