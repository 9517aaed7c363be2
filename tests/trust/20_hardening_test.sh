#!/usr/bin/env bash
# The program is hard to misuse should it have a mistake: read-only relocations, no fixed address, guarded
# stacks and calls. SECURITY.md says so.
source "$(dirname "$0")/../cli/lib.sh" "$@"
command -v readelf > /dev/null && command -v objdump > /dev/null || { echo "no binutils"; exit 77; }
engine=$(dirname "$grm")/grm-engine
check "there is an engine" test -x "$engine"
for program in "$grm" "$engine"; do
  name=$(basename "$program")
  readelf -W -l -d -h "$program" > elf
  readelf -W --dyn-syms "$program" > symbols
  check "$name: a position-independent executable" grep -qE 'Type: +DYN' elf
  check "$name: relocations are read-only" grep -q GNU_RELRO elf
  check "$name: and bound at the start" grep -qE 'BIND_NOW|FLAGS_1.*NOW' elf
  check "$name: the stack is not executable" bash -c "grep GNU_STACK elf | grep -qE ' RW +0x'"
  check "$name: stacks are guarded" grep -q __stack_chk_fail symbols
  if ! nm "$program" | grep -q __asan_init; then
    check "$name: calls that overflow are caught" grep -qE '__[a-z]+_chk(@|$| )' \
      <(grep -v __stack_chk_fail symbols)
  fi
  if [ "$(uname -m)" = x86_64 ]; then
    objdump -d --no-show-raw-insn --disassemble=main "$program" > begin
    check "$name: jumps end where they may" grep -q endbr64 begin
  fi
done
check "the threat model is stated" grep -q "hostile file can and cannot do" "$source_dir/SECURITY.md"
finish
