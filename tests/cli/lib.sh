# Shared by the command-line tests: bash NAME_test.sh PATH/TO/grm SOURCE_FOLDER
set -u
grm=$1
source_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GRM_CACHE=$work/cache
unset COLUMNS NO_COLOR  # tables and messages as a file gets them
cd "$work" || exit 1
failures=0

# check DESCRIPTION COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  if ! "$@" > "$work/.out" 2> "$work/.err"; then
    echo "FAILED: $what"
    tail -n 5 "$work/.out" "$work/.err"
    failures=$((failures + 1))
  fi
}

# expect_exit CODE DESCRIPTION COMMAND...: runs it, keeps stdout in out and stderr in err.
expect_exit() {
  local code=$1 what=$2
  shift 2
  "$@" > out 2> err
  local got=$?
  if [ "$got" != "$code" ]; then
    echo "FAILED: $what: exit code $got, expected $code"
    tail -n 5 out err
    failures=$((failures + 1))
  fi
}

# wait_until COMMAND...: tries it until it succeeds, for a minute at most.
wait_until() {
  local begin=$SECONDS
  until "$@" > /dev/null 2>&1; do
    [ $((SECONDS - begin)) -lt 60 ] || return 1
    sleep 0.05
  done
}

finish() {
  if [ "$failures" = 0 ]; then
    echo "all checks passed"
    exit 0
  fi
  echo "$failures checks failed"
  exit 1
}
