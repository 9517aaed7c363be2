# Real services for tests, in folders of their own below $work. Sourced after lib.sh; the PostgreSQL that all of these tests
# need runs afterwards and is named by $url. A test is skipped where a service, or libpq in grm, is not there.
support=$source_dir/tests/support
export OMP_NUM_THREADS=1
chmod 755 "$work"  # servers run as another user
services=()
stop_services() {
  local service
  for service in ${services[@]+"${services[@]}"}; do bash "$support/$service.sh" stop "$work/$service" > /dev/null 2>&1; done
  rm -rf "$work"
}
trap stop_services EXIT

# start_service NAME: with tests/support/NAME.sh; the last one is stopped first.
start_service() {
  services=("$1" ${services[@]+"${services[@]}"})
  bash "$support/$1.sh" start "$work/$1" > service.out 2>&1
  local code=$?
  [ $code = 0 ] && return
  cat service.out
  [ $code = 77 ] && exit 77
  exit 1
}

start_service postgres
url="postgresql:///postgres?host=$work/postgres&user=postgres"
"$grm" study status --db "$url" > out 2> err
if grep -q "libpq was not there" err; then
  echo "skipped: grm was built without libpq"
  exit 77
fi
