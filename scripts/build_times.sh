#!/usr/bin/env bash
# build_times.sh [FOLDER [PAGE]]: where the time of the last whole build in FOLDER (default: build) went, as a Markdown
# table. Made from ninja's log: seconds of all jobs of a part, which on a quiet machine are seconds of one core. With
# PAGE the table takes the place of the one between the lines "<!-- build times -->" of that file.
set -euo pipefail
log=${1:-build}/.ninja_log
page=${2:-}
table=$(awk -F'\t' '
  NR == 1 { next }
  { begin[$4] = $1; end[$4] = $2 }  # the last time that it was built
  function part(name) {
    if (name ~ /grm_(test_)?pch\.dir/) return "precompiled headers"
    if (name ~ /^cuda\//) return "nvcc"
    if (name ~ /\/cpu\//) return "kernels"
    if (name ~ /_library\.cpp/) return "JSON and TOML"
    if (name ~ /_tests(\.dir|$)|grm_test_support|grm_gtest/) return "tests"
    if (name ~ /_bench(\.dir|$)/) return "benchmarks"
    if (name ~ /grm-engine\.dir|grm\.dir/) return "cli"
    if (match(name, /grm_[a-z]+\.dir/)) return substr(name, 5 + index(name, "grm_") - 1, RLENGTH - 8)
    if (name ~ /^(grm|grm-engine)$|\.a$/) return "linking"
    return ""
  }
  END {
    for (name in begin) {
      p = part(name)
      if (p == "") continue
      spent[p] += (end[name] - begin[name]) / 1000
      jobs[p]++
    }
    print "| part | jobs | seconds |\n|---|---|---|"
    count = split("precompiled headers,kernels,JSON and TOML,core,graph,io,data,ops,nn,methods,train,study,report,cli,linking,tests,benchmarks,nvcc", order, ",")
    for (k = 1; k <= count; k++) {
      p = order[k]
      if (!(p in jobs)) continue
      printf "| %s | %d | %.0f |\n", p ~ /^(core|graph|io|data|ops|nn|methods|train|study|report|cli)$/ ? "`" p "/`" : p, jobs[p], spent[p]
      total += spent[p]
    }
    printf "| all | | %.0f |\n", total
  }' "$log")
[ -n "$page" ] || { printf '%s\n' "$table"; exit; }
awk -v table="$table" '
  /^<!-- build times -->$/ { print; inside = !inside; if (inside) print table; next }
  !inside' "$page" > "$page.new"
mv "$page.new" "$page"
