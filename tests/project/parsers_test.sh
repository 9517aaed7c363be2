#!/usr/bin/env bash
# One place reads JSON and one reads TOML: they bound how deep and how large a text may be. Nobody
# calls the libraries' parsers past them.
cd "$2" || exit 1
failures=0
# only WHAT PATTERN FILES...: no file but these has a line with the pattern.
only() {
  local what=$1 pattern=$2
  shift 2
  local others
  others=$(grep -rlE "$pattern" src include | grep -vxF -f <(printf '%s\n' "$@"))
  if [ -n "$others" ]; then
    echo "$what past $1:"
    echo "$others"
    failures=$((failures + 1))
  fi
  for file in "$@"; do
    if ! grep -qE "$pattern" "$file"; then
      echo "$file: nothing that this test looks for; has the parser moved?"
      failures=$((failures + 1))
    fi
  done
}
only "JSON is parsed" '([jJ]son|JSON|Json)::parse\(|_json::accept\(|json::from_[a-z]+\(' \
  src/core/json.h
only "JSON is parsed" 'sax_parse\(' src/io/json_lists.cpp
only "TOML is parsed" 'toml::parse(_file)?\(' src/core/toml_library.h
streams=$(grep -rnE '>> *[a-z_]*json|^[^/]*_json_?literal|"_json' src include)
if [ -n "$streams" ]; then
  echo "JSON is parsed from a stream or a literal: $streams"
  failures=$((failures + 1))
fi
echo "$failures wrong"
[ "$failures" = 0 ]
