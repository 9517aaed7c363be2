#!/usr/bin/env bash
# A study on a disk, or in a folder, that cannot be written can still be read.
source "$(dirname "$0")/../cli/lib.sh" "$@"
export OMP_WAIT_POLICY=passive
printf '%s\n' 'name = "s"' 'about = "A small study."' 'seeds = 2' 'methods = ["erm"]' \
  'datasets = ["sbm"]' '[set]' 'train.epochs = 2' 'dataset.nodes = 100' > s.toml
mkdir disk
expect_exit 0 "a study" "$grm" study run s.toml --db disk/r.db --out disk/runs --jobs 1 --threads 1 -q
for verb in "status s" "table s" "export s"; do
  expect_exit 0 "$verb" "$grm" study $verb --db disk/r.db
  cp out "expected ${verb% s}"
done

# reading HOW COMMAND...: all that reads, through a prefix that takes the right to write away.
reading() {
  local how=$1
  shift
  before=$(cd disk && find . -type f -print0 | sort -z | xargs -0 sha256sum)
  for verb in "status s" "table s" "export s"; do
    expect_exit 0 "$how: $verb" "$@" "$grm" study $verb --db disk/r.db
    check "$how: the same answer" cmp out "expected ${verb% s}"
  done
  expect_exit 0 "$how: a report" "$@" "$grm" report --study s --db disk/r.db --out "$work/open/r.html" \
    --no-data
  check "$how: with its curves" grep -qE '"sections":\[[^]]*"curves"' open/r.html
  rm -f open/r.html
  expect_exit 0 "$how: what is left to run" "$@" "$grm" study run s.toml --db disk/r.db --dry-run
  check "$how: is nothing" grep -q "2 cells, 2 done already" out
  check "$how: nothing was written" [ "$before" = \
    "$(cd disk && find . -type f -print0 | sort -z | xargs -0 sha256sum)" ]
  expect_exit 3 "$how: running it" "$@" "$grm" study run s.toml --db disk/r.db --out disk/runs -q
  check "$how: is refused with the path" grep -q "grm: disk/r.db: " err
}

mkdir -m 777 open
reading_done=0
if mount --bind disk disk 2> /dev/null && mount -o remount,bind,ro disk 2> /dev/null; then
  reading "a read-only disk"
  reading_done=1
fi
if mountpoint -q disk; then umount disk; fi
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2> /dev/null; then
  chmod 755 "$work"
  if setpriv --reuid=65534 --regid=65534 --clear-groups "$grm" --version > /dev/null 2>&1; then
    reading "another user's folder" setpriv --reuid=65534 --regid=65534 --clear-groups
    reading_done=1
  fi
elif [ "$(id -u)" != 0 ]; then
  chmod -R a-w disk
  reading "a folder without the right to write"
  reading_done=1
  chmod -R u+w disk
fi
if [ $reading_done = 0 ]; then
  echo "neither mounting nor another user is possible here"
  exit 77
fi

# Changes that a killed process left in the log beside the file are not lost in silence.
if command -v sqlite3 > /dev/null && mount --bind disk disk 2> /dev/null; then
  umount disk
  cp -r disk killed
  sqlite3 killed/r.db "PRAGMA journal_mode = WAL" ".dbconfig no_ckpt_on_close on" \
    "UPDATE study SET about = 'changed'" > /dev/null
  rm -f killed/r.db-shm
  if [ -s killed/r.db-wal ] && mount --bind killed killed && mount -o remount,bind,ro killed; then
    expect_exit 3 "a log that cannot be read" "$grm" study status s --db killed/r.db
    check "is named with what to do" grep -q "r.db-wal.*copy both files" err
  fi
  if mountpoint -q killed; then umount killed; fi
  expect_exit 0 "where it can be written" "$grm" study status s --db killed/r.db
  check "the changes are there" grep -q changed out
fi
finish
