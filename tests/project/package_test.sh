#!/usr/bin/env bash
# The installed package: another program finds it, builds against it and predicts with a model file.
source "$(dirname "$0")/../cli/lib.sh" "$@"
build=$(cd "$(dirname "$grm")" && pwd)
example=$source_dir/examples/predict
model=$source_dir/tests/fixtures/models/sbm-grm-format1.safetensors

expect_exit 0 "install" cmake --install "$build" --prefix "$work/prefix"
check "the program is installed" test -x "$work/prefix/bin/grm"
expect_exit 0 "it works where it is installed" "$work/prefix/bin/grm" methods --json
check "and lists methods" jq -e 'map(.name) | index("grm")' out
check "its help comes from there, too" cmp <("$work/prefix/bin/grm" train --help) <("$grm" train --help)
check "only what grm.h reaches is installed" diff \
  <(cd "$work/prefix/include" && find grm -name '*.h' | LC_ALL=C sort) \
  <(cd "$source_dir/include" && (find grm -name '*.h'; echo grm/version.h) | LC_ALL=C sort)
check "no header of the build tree is needed" bash -c "! grep -rq '$source_dir' '$work/prefix/include'"
expect_exit 0 "configure the consumer" cmake -S "$example" -B consumer \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_FLAGS="-O0 -Wall -Wextra"
expect_exit 0 "build the consumer" cmake --build consumer
export OMP_WAIT_POLICY=passive
expect_exit 0 "run the consumer" ./consumer/predict "$model"
check "a class, a probability and a spread for each of five nodes" awk '
  NF != 4 || $1 != NR - 1 || $2 !~ /^[0-9]$/ || $3 <= 0.1 || $3 > 1 || $4 < 0 || $4 > 0.5 { bad = 1 }
  END { exit bad || NR != 5 }' out
expect_exit 1 "a model that is not there" ./consumer/predict "$work/none"
check "the error names it" grep -q "$work/none" err
finish
