#!/usr/bin/env bash
# count_skipped.sh BUILD: what the last `make test` in this folder did not test, and why. Three kinds:
# tests that ctest counts as skipped or disabled (scripts that exit 77), tests inside a unit test program
# that were skipped (GTEST_SKIP), and parts of scripts, which say so in a line "skipped: why".
summary=$1/Testing/summary.log      # ctest -O: one line a test, then those that did not run
outputs=$1/Testing/Temporary/LastTest.log  # what each test printed
for file in "$summary" "$outputs"; do
  [ -r "$file" ] || { echo "count_skipped: $file is not there: run make test" >&2; exit 1; }
done

awk '
  # What did not run at all: "  4 - report_browser_test (Skipped)".
  FNR == NR {
    if (match($0, /^[ \t]*[0-9]+ - .* \((Skipped|Disabled)\)[ \t]*$/)) {
      name = $0
      sub(/^[ \t]*[0-9]+ - /, "", name)
      whole[substr(name, 1, index(name, " (") - 1)] = name ~ /Disabled/ ? "disabled" : "skipped"
    }
    next
  }
  # The outputs, one block a test: "4/9 Test: name", "Output:", a rule, lines, "<end of output>".
  /^[0-9]+\/[0-9]+ Test: / { test = $0; sub(/^[0-9]+\/[0-9]+ Test: /, "", test); inside = 0; last = "" }
  /^Output:$/ { inside = 1; next }
  /^<end of output>$/ {
    inside = 0
    if (test in whole) tell(test, last == "" ? whole[test] " without a word" : last)
  }
  !inside || /^-+$/ || /^[ \t]*$/ { next }
  { last = $0 }
  test in whole { next }
  # GoogleTest: "x_test.cpp:12: Skipped", the reason, "[  SKIPPED ] Suite.Name (0 ms)".
  /: Skipped$/ { reason = ""; expects = 1; next }
  /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ {
    tell(test ": " $4, reason == "" ? "no reason given" : reason)
    reason = ""; expects = 0
    next
  }
  expects { reason = reason (reason == "" ? "" : " ") $0; next }
  /^skipped: / { tell(test ", a part", $0) }

  function tell(what, why) {
    sub(/^skipped: /, "", why)
    if (!(why in names)) order[++reasons] = why
    names[why] = names[why] "\n    " what
    ++total
  }
  END {
    if (total == 0) { print "no test was skipped"; exit }
    print total (total == 1 ? " test was skipped:" : " tests were skipped:")
    for (k = 1; k <= reasons; ++k) print "  " order[k] names[order[k]]
  }
' "$summary" "$outputs"
