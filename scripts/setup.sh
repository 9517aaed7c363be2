#!/usr/bin/env bash
# Installs the Debian packages that the build needs, if any is missing. Without the right to install
# it prints the line to run and stops.
set -euo pipefail
packages=(cmake ninja-build pkg-config libtorch-dev libopenblas-dev libcli11-dev
  libtomlplusplus-dev nlohmann-json3-dev libfmt-dev zlib1g-dev libzip-dev libmatio-dev
  libsqlite3-dev gnuplot-nox graphviz libgtest-dev libgmock-dev libbenchmark-dev clang-format ccache
  jq clang libclang-rt-dev)

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${Status}' "$package" 2> /dev/null || true)
  [ "$state" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

line="apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get > /dev/null; then
  echo "These packages are missing, and there is no apt-get to install them: ${missing[*]}" >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  as_root=(sudo)
else
  echo "Packages are missing. Run this as root, then try again:" >&2
  echo "  apt-get update && $line" >&2
  exit 1
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" $line -qq > /dev/null

# Debian may leave the slow reference BLAS selected; OpenBLAS must be what runs.
blas=$(update-alternatives --query "libblas.so.3-$(gcc -print-multiarch)" 2> /dev/null |
  sed -n 's/^Value: //p' || true)
case "$blas" in
  *openblas* | '') ;;
  *) echo "warning: the selected BLAS is $blas; see 'grm doctor'" >&2 ;;
esac
