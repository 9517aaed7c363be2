#!/usr/bin/env bash
# What was not tested is said, of whatever kind: a script that exits 77, a skipped unit test, a part of a
# script; and nothing else is. The logs are those of a real ctest over a made-up project.
source "$(dirname "$0")/../cli/lib.sh" "$@"
count=$source_dir/scripts/count_skipped.sh

# project NAME 'name: command'...: a project of these tests, run by ctest as `make test` does.
project() {
  local name=$1 line
  shift
  mkdir "$name"
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(made_up NONE)\nenable_testing()\n' > "$name/CMakeLists.txt"
  for line in "$@"; do
    printf '%s\n' "${line#*: }" > "$name/${line%%: *}.sh"
    printf 'add_test(NAME %s COMMAND bash %s)\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n' \
      "${line%%: *}" "$work/$name/${line%%: *}.sh" "${line%%: *}" >> "$name/CMakeLists.txt"
  done
  cmake -S "$name" -B "$name/build" > /dev/null
  (cd "$name/build" && ctest -O Testing/summary.log > /dev/null)
  bash "$count" "$name/build" > "$name/said"
}
# said NAME LINE...: these lines and no others.
said() {
  local name=$1
  shift
  check "$name: what is said" diff "$name/said" <(printf '%s\n' "$@")
}

project none "one: echo all checks passed" "two: echo 'nobody skipped: anything'"
said none "no test was skipped"

project browser "one: echo all checks passed" \
  "page: echo 'skipped: there is no chromium'; exit 77" "bare: exit 77"
said browser "2 tests were skipped:" "  there is no chromium" "    page" \
  "  skipped without a word" "    bare"

# The output of GoogleTest, as it is.
cat > google.txt <<'TEXT'
[ RUN      ] Cora.Counts
/src/tests/data/cora_test.cpp:68: Skipped
needs real data: set GRM_DATA

[  SKIPPED ] Cora.Counts (0 ms)
[ RUN      ] Cora.Other
[       OK ] Cora.Other (1 ms)
[ RUN      ] Cora.Bare
/src/tests/data/cora_test.cpp:80: Skipped

[  SKIPPED ] Cora.Bare (0 ms)
[  PASSED  ] 1 test.
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] Cora.Counts
[  SKIPPED ] Cora.Bare
TEXT
project mixed "data: cat $work/google.txt" "fails: echo wrong; exit 1" \
  "real: echo '4 datasets skipped: set GRM_DATA'; exit 77" \
  "shells: echo 'skipped: there is no fish'; echo all checks passed" \
  "other: echo 'skipped: needs real data: set GRM_DATA'; exit 77"
said mixed "5 tests were skipped:" "  needs real data: set GRM_DATA" "    data: Cora.Counts" "    other" \
  "  no reason given" "    data: Cora.Bare" "  4 datasets skipped: set GRM_DATA" "    real" \
  "  there is no fish" "    shells, a part"

project one "page: echo 'skipped: no browser'; exit 77"
said one "1 test was skipped:" "  no browser" "    page"

expect_exit 1 "a folder without logs is no proof" bash "$count" nowhere
check "and the message says what to do" grep -q "make test" err

# `make test` installs the browser, `make demo` does not; both are asked without being run.
check "make test sets up for tests" bash -c "make -C '$source_dir' -n test | grep -q 'setup.sh test'"
check "make demo does not" bash -c "! make -C '$source_dir' -n demo | grep -q 'setup.sh test'"
check "what tests need has the browser" grep -qE 'useful\+=\(.*chromium' "$source_dir/scripts/setup.sh"
finish
