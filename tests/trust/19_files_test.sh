#!/usr/bin/env bash
# Files: temporaries that nobody can prepare, no cache in a folder that others could make first, and
# what a model may make the program read.
source "$(dirname "$0")/../cli/lib.sh" "$@"
source "$source_dir/tests/trust/own_data.sh"
export OMP_WAIT_POLICY=passive
own_data data
expect_exit 0 "a run" "$grm" train --dataset ./data --method erm --epochs 3 --threads 1 --out runs -q
run=$(echo runs/own/erm/*)

# An attacker who may write into the folder guesses the name of the temporary, which began with the
# number of the process: exec keeps that number. What the links lead to must stay as it is.
guess='for k in $(seq 0 60); do ln -s "$PWD/victim" "$1.tmp$$-$k"; done; shift; exec "$@"'
for file in p.csv r.html; do
  echo precious > victim
  case $file in
    p.csv) words=("$grm" predict "$run" --data ./data --out p.csv) ;;
    r.html) words=("$grm" report runs --out r.html --no-data) ;;
  esac
  expect_exit 0 "$file beside prepared links" bash -c "$guess" bash "$file" "${words[@]}"
  check "what they lead to is as it was" [ "$(cat victim)" = precious ]
  check "the file is a file" [ -f "$file" -a ! -L "$file" -a -s "$file" ]
  find . -maxdepth 1 -type l -delete
done
check "no temporary is left" [ -z "$(find . -name '*.tmp*-*')" ]

# Without HOME: never below /tmp.
cache_of() { env -u HOME -u XDG_CACHE_HOME -u GRM_CACHE "$@" "$grm" doctor --json |
  jq -r '.checks[] | select(.check == "cache") | .value'; }
check "no cache that others could prepare" bash -c "[[ '$(cache_of)' != /tmp/* ]]"
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" = 0 ] && "${as_nobody[@]}" true 2> /dev/null; then
  chmod 755 "$work"
  mkdir -m 777 nobody
  if "${as_nobody[@]}" "$grm" --version > /dev/null 2>&1 && [ ! -d ~nobody ]; then
    check "an account without a home has no cache" [ "$(cache_of "${as_nobody[@]}")" = none ]
    expect_exit 0 "and trains" env -u HOME -u XDG_CACHE_HOME -u GRM_CACHE "${as_nobody[@]}" "$grm" \
      train --dataset sbm --set dataset.nodes=100 --method grm --epochs 1 --out nobody/runs
    check "without a warning" bash -c "! grep -q warning err"
  fi
fi

# A model says which data eval reads, and the reader is told.
expect_exit 0 "eval" "$grm" eval "$run"
check "says what it reads" grep -q "names its data itself: ./data is read" err

# Links that lead nowhere: a message, no internal error.
ln -s loop loop
for verb in "plot loop" "study status --db loop" "study run ./loop"; do
  expect_exit 3 "$verb" "$grm" $verb
  check "names the path" grep -q "loop.*Too many levels of symbolic links" err
done
finish
