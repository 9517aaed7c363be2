#!/usr/bin/env bash
# A node-level method takes one source file and one row, as HACKING.md says: new_method/mmrex.cpp and
# new_method/row.txt. Only these two are compiled, and linked with the libraries that are there.
source "$(dirname "$0")/../cli/lib.sh" "$@"
build=$(cd "$(dirname "$grm")" && pwd)
new=$source_dir/tests/project/new_method
export OMP_WAIT_POLICY=passive
[ -f "$build/compile_commands.json" ] && command -v ninja > /dev/null ||
  { echo "skipped: needs ninja and its build folder"; exit 77; }

# compile SOURCE OBJECT: as src/methods/registry.cpp is compiled there.
compile() {
  local command
  command=$(jq -r 'map(select(.file | endswith("/src/methods/registry.cpp")))[0].command' \
    "$build/compile_commands.json" | sed 's/ -o [^ ]* -c .*//')
  (cd "$build" && eval "$command -I'$source_dir/src/methods' -o '$2' -c '$1'")
}
sed "/std::vector<MethodEntry> rows = {/r $new/row.txt" "$source_dir/src/methods/registry.cpp" > registry.cpp
check "the registry has one row more" [ $(($(wc -l < registry.cpp) - $(wc -l < "$source_dir/src/methods/registry.cpp"))) = 1 ]
expect_exit 0 "the new file compiles" compile "$new/mmrex.cpp" "$work/mmrex.o"
expect_exit 0 "so does the registry" compile "$work/registry.cpp" "$work/registry.o"
check "without a warning" [ ! -s err ]
# The libraries' own registry is not taken: all that it defines is there already.
link=$(ninja -C "$build" -t commands grm-engine | tail -n 1 | sed "s|^: && ||; s| && .*||
  s| -o grm-engine | -o $work/grm-engine $work/mmrex.o $work/registry.o |")
expect_exit 0 "and the program links" bash -c "cd '$build' && $link"
[ "$failures" = 0 ] || finish
grm=$work/grm-engine

expect_exit 0 "methods" "$grm" methods --json
check "it is listed" jq -e 'map(.name) | index("mmrex")' out
check "with its summary" jq -e '.[] | select(.name == "mmrex") | .summary | test("risks")' out
expect_exit 0 "options" "$grm" options --json
check "it has options" jq -e '.method.mmrex | map(.key) | contains(["beta", "hidden", "lr"])' out
expect_exit 2 "a mistyped option" "$grm" train --method mmrex --set method.betta=1
check "is understood" grep -q "did you mean 'beta'" err

args=(train --dataset sbm --threads 1 --set train.checkpoint_seconds=0 --set train.eval_every=5 -q)
mmrex=("${args[@]}" --method mmrex --set method.domains=random --epochs 60)
expect_exit 0 "it trains" "$grm" "${mmrex[@]}" --out whole --json
check "and learns" jq -e '.avg > .constant.avg + 10' out
check "other than with beta = 0" bash -c "'$grm' ${args[*]} --method mmrex --epochs 60 \
  --set method.domains=random --set method.beta=0 --out zero &&
  ! cmp -s whole/sbm/*/*/model.safetensors zero/sbm/*/*/model.safetensors"

# Killed half-way and resumed, it ends with the same bits.
${CC:-cc} -shared -fPIC -O1 -o kill_at.so "$source_dir/tests/cli/kill_at.c" -ldl
KILL_COUNT=$work/count LD_PRELOAD=$work/kill_at.so "$grm" "${mmrex[@]}" --out counted > /dev/null 2> err
KILL_AT=$(($(cat count) / 2)) bash -c 'LD_PRELOAD=$0 "$@"; exit $?' "$work/kill_at.so" \
  "$grm" "${mmrex[@]}" --out parts > /dev/null 2> err
check "it was killed on the way" bash -c '[ -e parts/sbm/*/*/state.safetensors ] && [ ! -e parts/sbm/*/*/summary.json ]'
expect_exit 0 "it resumes" "$grm" "${mmrex[@]}" --out parts --resume
check "with the same bits" cmp whole/sbm/*/*/model.safetensors parts/sbm/*/*/model.safetensors

# It declares no memory: no estimate of another method refuses it, and --verbose says so.
tight=(--epochs 1 --memory-limit 225 --set method.hidden=1024 --out tight --verbose)
expect_exit 4 "ERM is known not to fit" "$grm" "${args[@]}" --method erm "${tight[@]}"
expect_exit 0 "of the new method nothing is known" "$grm" train --dataset sbm --threads 1 \
  --method mmrex --set method.domains=random "${tight[@]}"
check "which is said" grep -q "mmrex: the method declares no memory of its own" err
finish
