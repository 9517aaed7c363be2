#!/usr/bin/env bash
# setup.sh [test]: installs the Debian packages that the build needs, if any is missing, and with "test" those
# that only tests need. Without the right to install it prints the line to run; it stops if the missing ones
# cannot be done without.
set -euo pipefail
needed=(cmake ninja-build pkg-config libtorch-dev libopenblas-dev libcli11-dev libtomlplusplus-dev
  nlohmann-json3-dev libfmt-dev zlib1g-dev libzip-dev libsqlite3-dev gnuplot-nox graphviz
  libgtest-dev libgmock-dev ccache)
useful=()  # a test that lacks one of these is skipped, and `make test` says so
case "${1:-}" in
  '') ;;
  test)
    needed+=(jq python3)
    useful+=(chromium clang clang-format libclang-rt-dev libbenchmark-dev fish zsh locales qemu-user)
    ;;
  *)
    echo "setup.sh: '$1' is unknown; there is 'setup.sh' and 'setup.sh test'" >&2
    exit 2
    ;;
esac

# missing NAMES...: those that are not installed, on one line.
missing() {
  local package state
  for package in "$@"; do
    state=$(dpkg-query -W -f='${Status}' "$package" 2> /dev/null || true)
    [ "$state" = "install ok installed" ] || printf '%s ' "$package"
  done
}
lacking=$(missing "${needed[@]}")
extra=$(missing ${useful[@]+"${useful[@]}"})
[ -n "$lacking$extra" ] || exit 0

# cannot WHY: ends, as an error if something is missing that cannot be done without.
cannot() {
  echo "$1" >&2
  [ -z "$lacking" ] || exit 1
  echo "Without them some tests are skipped." >&2
  exit 0
}
command -v apt-get > /dev/null ||
  cannot "These packages are missing, and there is no apt-get to install them: $lacking$extra"
line="apt-get install -y --no-install-recommends"
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  as_root=sudo
else
  cannot "Packages are missing. Run this as root, then try again:
  apt-get update && $line $lacking$extra"
fi
echo "installing: $lacking$extra"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
if [ -n "$lacking" ]; then
  $as_root $line -qq $lacking > /dev/null || cannot "apt-get could not install: $lacking"
  lacking=
fi
[ -z "$extra" ] || $as_root $line -qq $extra > /dev/null || cannot "apt-get could not install: $extra"

# Debian may leave the slow reference BLAS selected; OpenBLAS must be what runs.
blas=$(update-alternatives --query "libblas.so.3-$(gcc -print-multiarch)" 2> /dev/null |
  sed -n 's/^Value: //p' || true)
case "$blas" in
  *openblas* | '') ;;
  *) echo "warning: the selected BLAS is $blas; see 'grm doctor'" >&2 ;;
esac
