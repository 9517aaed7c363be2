#!/usr/bin/env bash
# OpenBLAS takes new processors for old ones: the launcher says which core to use, where and only where
# that is so, and doctor tells when kernels do not fit the processor.
source "$(dirname "$0")/../cli/lib.sh" "$@"
core() { jq -r '.checks[] | select(.check == "blas core") | .'"$1" out; }

expect_exit 0 "doctor" "$grm" doctor --json
if ! jq -e '.checks[] | select(.check == "blas") | .value | startswith("OpenBLAS")' out > /dev/null; then
  echo "skipped: BLAS is not OpenBLAS"
  exit 77
fi
if grep -qw avx2 /proc/cpuinfo; then
  check "the core is named" test -n "$(core value)"
  check "and fits this processor" test "$(core level)" = ok
  OPENBLAS_CORETYPE=Prescott expect_exit 3 "kernels of 2004" "$grm" doctor --json --strict
  check "are named" test "$(core value)" = "Prescott (OPENBLAS_CORETYPE=Prescott)"
  check "are to be fixed" test "$(core level)" = fix
  check "with the way out" grep -q "unset OPENBLAS_CORETYPE" <(core advice)
fi
check "the rate is set beside the peak" jq -e '.checks[] | select(.check == "sgemm") | .value | test("% of what")' out

# What a processor is told, in an engine that prints it. qemu shows the program other processors.
if ! command -v qemu-x86_64 > /dev/null || [ "$(uname -m)" != x86_64 ]; then
  echo "not tried: other processors (qemu-user is not installed)"
  finish
fi
mkdir other
cp "$grm" other/
printf '#!/bin/sh\necho "core=$OPENBLAS_CORETYPE policy=$OMP_WAIT_POLICY"\n' > other/grm-engine
chmod +x other/grm-engine
# told EXPECTED CPU
told() {
  unset OPENBLAS_CORETYPE OMP_WAIT_POLICY GOMP_SPINCOUNT
  local got
  got=$(qemu-x86_64 -cpu "$2" other/grm methods 2> /dev/null)
  check "$2: $got" test "$got" = "core=$1 policy=passive"
}
told Haswell "Haswell,model=207,stepping=2"
told Haswell "Haswell,model=183"
told "" "Haswell"
told "" "Haswell,model=143"
told "" "Haswell,model=170"
told "" "Nehalem,model=207"
told Zen "Haswell,vendor=AuthenticAMD,family=15,model=107"
told "" "EPYC-Rome"
check "what the user says stays" test \
  "$(OPENBLAS_CORETYPE=Nehalem qemu-x86_64 -cpu Haswell,model=207 other/grm methods)" = "core=Nehalem policy=passive"
finish
