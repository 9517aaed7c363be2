#!/usr/bin/env bash
# Processes killed in the middle of writing: parsed data, influential nodes, edited domains, the
# files of a run and the database of a study. kill_at.c chooses the operation on files at which they
# die. Whoever comes next ends with the bits of an undisturbed run, and finds no half-written file.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive  # spares the program its restart
${CC:-cc} -shared -fPIC -O1 -o kill_at.so "$source_dir/tests/cli/kill_at.c" -ldl ||
  { echo "no C compiler"; exit 77; }
seed=${GRM_KILL_SEED:-$$}
RANDOM=$seed

# Seven small regions in the format of the Twitch files.
for region in DE ENGB ES FR PTBR RU TW; do
  mkdir -p data/twitch/$region
  awk -v stem="data/twitch/$region/musae_${region}_" -v seed="${#region}$(printf %d "'$region")" '
    BEGIN {
      srand(seed); n = 60
      target = stem "target.csv"; edges = stem "edges.csv"; features = stem "features.json"
      print "id,days,mature,views,partner,new_id" > target
      print "from,to" > edges
      for (i = 0; i < n; ++i) {
        printf "%d,1,%s,5,False,%d\n", 900 + i, i % 2 ? "True" : "False", i > target
        for (k = 0; k < 3; ++k) printf "%d,%d\n", i, (i + 1 + int(rand() * (n - 1))) % n > edges
        printf "%s\"%d\": [%d, %d]", i ? ", " : "{", i, int(rand() * 3000), i % 2 > features
      }
      print "}" > features
    }'
done
args=(--dataset twitch --data-root data --epochs 3 --set train.eval_every=1
  --set train.checkpoint_seconds=0 --threads 1 -q)
model_hash() { sha256sum "$1"/twitch/*/*/model.safetensors | cut -d' ' -f1; }
cache_hashes() {
  (cd cache && find . -type f ! -name '*.tmp*' -print0 | sort -z | xargs -0 sha256sum)
}

# killed_at NUMBER COMMAND...: the command with its stderr in err; the shell does not comment on it.
killed_at() {
  KILL_AT=$1 bash -c 'LD_PRELOAD=$0 "$@"; exit $?' "$work/kill_at.so" "${@:2}" > /dev/null 2> err
}

kills=0
# kill_while_writing METHOD CACHE FLAGS...: the method writes the caches `data` and CACHE.
kill_while_writing() {
  local method=$1 cache=$2 expected hashes operations round code
  shift 2
  rm -rf cache
  KILL_COUNT=$work/count LD_PRELOAD=$work/kill_at.so "$grm" train "${args[@]}" --method $method "$@" \
    --out straight_$method > /dev/null 2> err || { cat err; exit 1; }
  operations=$(cat count)
  expected=$(model_hash straight_$method)
  hashes=$(cache_hashes)
  check "the caches data and $cache are in play" [ -n "$(ls cache/data)" -a -n "$(ls cache/$cache)" ]
  for round in $(seq 15); do
    # Every third time all caches are empty again, otherwise they stay as the last kill left them.
    if [ $((round % 3)) = 1 ]; then rm -rf cache killed; fi
    killed_at $((RANDOM % operations + 1)) "$grm" train "${args[@]}" --method $method "$@" \
      --out killed --resume
    code=$?
    [ $code = 137 ] && kills=$((kills + 1))
    check "killed or done" [ $code = 137 -o $code = 0 ]
    [ $((round % 3)) = 0 ] || continue
    expect_exit 0 "the resumed run" "$grm" train "${args[@]}" --method $method "$@" --out killed --resume
    check "the same bits after the kills" [ "$(model_hash killed)" = "$expected" ]
    check "nothing was damaged" bash -c \
      "! grep -hiE 'damaged|anew|again' err killed/twitch/$method/*/log.txt"
    check "the caches are those of an undisturbed run" [ "$(cache_hashes)" = "$hashes" ]
    check "no half of a file is left in the run" [ -z "$(find killed/twitch/$method/2* -name '*.tmp*')" ]
  done
}
kill_while_writing grm influence
kill_while_writing drnn domains --set method.domains=eerm_frozen --set method.eerm_epochs=2

# A study: its database and the folders of its runs.
cat > s.toml <<'TOML'
name = "s"
seeds = 2
methods = ["erm", "grm"]
datasets = ["sbm"]
[set]
dataset.nodes = 100
train.epochs = 4
train.test = "selected"
TOML
flags=(--jobs 1 --threads 1 --checkpoint-seconds 0 -q)
essence='[.cells[] | {dataset, method, variant, seed, chosen}]'
KILL_COUNT=$work/count LD_PRELOAD=$work/kill_at.so "$grm" study run s.toml "${flags[@]}" \
  --db straight.db --out straight_runs > /dev/null 2> err || { cat err; exit 1; }
operations=$(cat count)
"$grm" study status s --db straight.db --json > straight.json
for round in $(seq 12); do
  # The number counts in the study's process and in each cell's.
  killed_at $((RANDOM % operations + 1)) "$grm" study run s.toml "${flags[@]}" --retry-failed \
    --db killed.db --out killed_runs || kills=$((kills + 1))
done
check "the study is finished" "$grm" study run s.toml "${flags[@]}" --retry-failed --db killed.db \
  --out killed_runs
"$grm" study status s --db killed.db --json > killed.json
check "the results are those of the undisturbed study" \
  [ "$(jq -c "$essence" killed.json)" = "$(jq -c "$essence" straight.json)" ]
check "all cells are done" jq -e 'all(.cells[]; .state == "done")' killed.json
models() { find "$1" -name model.safetensors -print0 | xargs -0 sha256sum | cut -d' ' -f1 | sort -u; }
check "the models are those of the undisturbed study" [ "$(models killed_runs)" = "$(models straight_runs)" ]
echo "$kills kills while writing"
check "at least ten of them" [ $kills -ge 10 ]
[ "$failures" = 0 ] || echo "kill moments: GRM_KILL_SEED=$seed"
finish
