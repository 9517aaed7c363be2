#!/usr/bin/env bash
# postgres.sh start DIR | stop DIR | crash DIR | again DIR: a private PostgreSQL in DIR, on a unix socket only. It does not run as
# root: there a user without rights has it. Its database: postgresql:///postgres?host=DIR&user=postgres
# (Debian: postgresql). Exit code 77 where it is not installed.
set -eu
what=$1
dir=$(realpath -m "$2")
bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb || echo ./none)")
[ -x "$bin/postgres" ] && [ -x "$bin/initdb" ] || { echo "skipped: PostgreSQL is not installed"; exit 77; }

# as COMMAND...: as somebody who is not root.
as() {
  local user=postgres
  if [ "$(id -u)" != 0 ]; then
    (cd / && exec "$@")
  else
    id $user > /dev/null 2>&1 || user=nobody
    (cd / && exec setpriv --reuid $user --regid "$(id -g $user)" --clear-groups "$@")
  fi
}

running() { [ -s "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2> /dev/null; }

serve() {
  # The number of this shell becomes that of the server.
  as bash -c 'echo $$ > "$1/pid"; exec "$0/postgres" -D "$1/data" -c listen_addresses= -k "$1" -c fsync=off \
    -c max_connections=40 > "$1/log" 2>&1' "$bin" "$dir" &
  for _ in $(seq 200); do
    "$bin/pg_isready" -q -h "$dir" -U postgres 2> /dev/null && return 0
    sleep 0.1
  done
  echo "PostgreSQL did not start:" >&2
  tail -n 5 "$dir/log" >&2
  return 1
}

case $what in
  start)
    mkdir -p "$dir"
    if [ "$(id -u)" = 0 ]; then
      chown "$(id -u postgres 2> /dev/null || id -u nobody)" "$dir"
    fi
    as "$bin/initdb" -D "$dir/data" -A trust -U postgres --no-sync -E UTF8 --locale=C > "$dir/init.log" 2>&1 ||
      { cat "$dir/init.log" >&2; exit 1; }
    serve ;;
  again) serve ;;
  crash | stop)
    running || exit 0
    # SIGQUIT: it ends at once, as in a crash, and recovers when it starts again. SIGINT: connections are ended first.
    kill -"$([ "$what" = crash ] && echo QUIT || echo INT)" "$(cat "$dir/pid")"
    for _ in $(seq 100); do
      running || exit 0
      sleep 0.1
    done
    kill -9 "$(cat "$dir/pid")" ;;
  *) echo "postgres.sh: '$what' is unknown" >&2; exit 2 ;;
esac
