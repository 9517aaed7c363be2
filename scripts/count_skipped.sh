#!/usr/bin/env bash
# Says how many tests of the last ctest run in folder $1 were skipped for want of real data.
log=$1/Testing/Temporary/LastTest.log
unit=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed below:/\1/p' "$log" | awk "{ n += \$1 } END { print n + 0 }")
scripts=$(grep -c '^[0-9]* datasets skipped' "$log")
total=$((${unit:-0} + scripts))
if [ "$total" -gt 0 ]; then
  echo "$total tests skipped: they need the published data; set GRM_DATA to its folder"
else
  echo "no test was skipped"
fi
