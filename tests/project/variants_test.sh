#!/usr/bin/env bash
# Kernels for several levels of x86-64 in one program: each can be forced, none leaves code behind that
# older processors could run by accident, and a processor that is too old is told.
source "$(dirname "$0")/../cli/lib.sh" "$@"
build=$(dirname "$grm")
kernels() { jq -r '.checks[] | select(.check == "kernels") | .'"$1" out; }

expect_exit 0 "doctor" "$grm" doctor --json
all=$(kernels value) # "v3 (of v2, v3)"
used=${all%% *}
check "doctor names the variant ($all)" test -n "$used"
expect_exit 2 "an unknown variant" env GRM_CPU=v9 "$grm" doctor
check "and what there is instead" grep -q "GRM_CPU=v9: this machine can run .*$used" err
GRM_CPU=native expect_exit 0 "the machine's own" "$grm" doctor --json
check "is the default" test "$(kernels value | cut -d' ' -f1)" = "$used"
for variant in $(sed 's/.*(of \(.*\))/\1/; s/,//g' <<< "$all"); do
  if GRM_CPU=$variant "$grm" doctor --json > out 2> err; then
    check "$variant runs where it is asked for" test "$(kernels value | cut -d' ' -f1)" = "$variant"
    expect_exit 0 "training on $variant" env GRM_CPU="$variant" "$grm" train --dataset sbm --epochs 2 \
      --out "run-$variant"
    check "is recorded" jq -e ".kernels == \"$variant\" and .legs[0].kernels == \"$variant\"" \
      run-"$variant"/sbm/*/*/env.json
  fi
done

# Whatever else the objects of kernels define is local, or named after its variant: else the linker could
# give it to the whole program.
for object in "$build"/grm_*_v?.o; do
  [ -e "$object" ] || continue
  nm --defined-only --extern-only "$object" | grep -v '_ZN3grm10cpu_kernel\|N3grm3cpu2v[234]' > others || true
  check "$(basename "$object") defines kernels alone" test ! -s others
done

# Other processors through qemu: the oldest level that there is, and one below it.
if ! command -v qemu-x86_64 > /dev/null || [ "$(uname -m)" != x86_64 ]; then
  echo "skipped: other processors (qemu-user is not installed)"
  finish
fi
# With its environment set, the engine does not start anew, which would leave qemu.
export OMP_WAIT_POLICY=passive
if [[ $all == *"of v2"* ]]; then
  expect_exit 0 "training on a processor of 2008" qemu-x86_64 -cpu Nehalem "$build/grm-engine" \
    train --dataset sbm --set dataset.nodes=200 --epochs 1 --threads 1 --out old
  check "with the oldest kernels" jq -e '.kernels == "v2"' old/sbm/*/*/env.json
else
  expect_exit 2 "a processor that is too old" qemu-x86_64 -cpu Nehalem "$build/grm-engine" \
    train --dataset sbm --set dataset.nodes=200 --epochs 1 --threads 1 --out old
  check "is told" grep -q "this machine has less" err
fi
finish
