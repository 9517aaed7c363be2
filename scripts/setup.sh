#!/usr/bin/env bash
# setup.sh [test|deb|python]: looks for what the build needs, and for what only tests or the packages need. Whatever is there is used,
# wherever it came from: a distribution, pip, conda, brew, a prefix in CMAKE_PREFIX_PATH. What is missing is installed
# by apt-get if we may, else listed with the names of packages; it stops if the build cannot do without.
set -euo pipefail

# Found by | the thing that is looked for | apt | dnf | brew
needed=(
  'tool|c++|g++|gcc-c++|gcc'
  'tool|cmake|cmake|cmake|cmake'
  'tool|ninja|ninja-build|ninja-build|ninja'
  'header|torch/types.h|libtorch-dev|python3-torch-devel|pytorch'
  'blas|openblas|libopenblas0-pthread|openblas-threads|openblas'
  'header|CLI/CLI.hpp|libcli11-dev|cli11-devel|cli11'
  'header|toml++/toml.h|libtomlplusplus-dev|tomlplusplus-devel|tomlplusplus'
  'header|nlohmann/json.hpp|nlohmann-json3-dev|json-devel|nlohmann-json'
  'header|fmt/core.h|libfmt-dev|fmt-devel|fmt'
  'header|zlib.h|zlib1g-dev|zlib-devel|zlib'
  'header|zip.h|libzip-dev|libzip-devel|libzip'
  'header|sqlite3.h|libsqlite3-dev|sqlite-devel|sqlite'
)
# Without the first two there is no `grm serve` and no `grm ui`; a test that lacks one of the others is skipped, and `make test` says so.
useful=('header|httplib.h|libcpp-httplib-dev|cpp-httplib-devel|cpp-httplib' 'tool|pkg-config|pkgconf|pkgconf|pkgconf')
# The Python package belongs to the distribution's Python, which has the torch that we link.
python=(
  'file|/usr/include/python3*/Python.h|python3-dev|python3-devel|python'
  'header|pybind11/pybind11.h|pybind11-dev|pybind11-devel|pybind11'
  'module|torch|python3-torch|python3-torch|pytorch'
  'module|numpy|python3-numpy|python3-numpy|numpy'
)
python_tests=()
for name in pytest scipy networkx pandas sklearn matplotlib nbclient ipykernel build pip setuptools wheel; do
  python_tests+=("module|$name|python3-$name|python3-$name|")
done
python_tests+=('module|ensurepip|python3-venv|python3|')
# Training on several processes, graphs in parts, and results in PostgreSQL: a program without them says what it lacks.
processes=('header|gloo/config.h|libgloo-dev|gloo-devel|' 'header|metis.h|libmetis-dev|metis-devel|metis' 'header|postgresql/libpq-fe.h|libpq-dev|libpq-devel|libpq')
case "${1:-}" in
  '') ;;
  python) needed+=("${python[@]}") ;;
  deb)
    needed+=('tool|dpkg-shlibdeps|dpkg-dev|dpkg-dev|dpkg' 'tool|file|file|file|file' "${processes[@]}")
    ;;
  test)
    needed+=('header|gtest/gtest.h|libgtest-dev|gtest-devel|googletest'
      'header|gmock/gmock.h|libgmock-dev|gmock-devel|googletest'
      'tool|jq|jq|jq|jq' 'tool|python3|python3|python3|python3'
      'tool|gnuplot|gnuplot-nox|gnuplot-minimal|gnuplot' 'tool|dot|graphviz|graphviz|graphviz')
    useful+=('tool|chromium|chromium|chromium|chromium' 'tool|chromedriver|chromium-driver|chromedriver|'
      'module|selenium|python3-selenium|python3-selenium|' 'tool|node|nodejs|nodejs|node' 'tool|clang++|clang|clang|llvm'
      'tool|clang-format|clang-format|clang-tools-extra|clang-format'
      'file|/usr/lib/llvm*/lib/clang/*/lib/linux/*fuzzer*|libclang-rt-dev|compiler-rt|llvm'
      "${processes[@]}" 'tool|mpirun|openmpi-bin|openmpi|open-mpi'
      'header|benchmark/benchmark.h|libbenchmark-dev|google-benchmark-devel|google-benchmark'
      'tool|fish|fish|fish|fish' 'tool|zsh|zsh|zsh|zsh' 'tool|localedef|locales|glibc-locale-source|'
      'file|/usr/share/i18n/locales/de_DE|locales|glibc-locale-source|'
      'tool|qemu-x86_64|qemu-user|qemu-user|' 'tool|dpkg-shlibdeps|dpkg-dev|dpkg-dev|dpkg'
      'tool|curl|curl|curl|curl' 'tool|file|file|file|file' 'module|rdkit|python3-rdkit|python3-rdkit|rdkit'
      'file|/usr/lib/postgresql/*/bin/postgres|postgresql|postgresql-server|postgresql'
      'file|/usr/sbin/slurmctld|slurmctld|slurm-slurmctld|' 'file|/usr/sbin/slurmd|slurmd|slurm-slurmd|'
      'tool|sbatch|slurm-client|slurm|' 'file|/usr/sbin/munged|munge|munge|'
      "${python[@]}" "${python_tests[@]}")
    ;;
  *)
    echo "setup.sh: '$1' is unknown; there is 'setup.sh', 'setup.sh test', 'setup.sh deb' and 'setup.sh python'" >&2
    exit 2
    ;;
esac

# Where CMake looks for headers besides the compiler's own folders.
folders=()
IFS=: read -ra prefixes <<< "${CMAKE_PREFIX_PATH:-}:${CONDA_PREFIX:-}"
IFS=: read -ra programs <<< "$PATH"
for prefix in ${prefixes[@]+"${prefixes[@]}"} "${programs[@]%/*bin}"; do
  [ -n "$prefix" ] && [ -d "$prefix/include" ] && folders+=("-I$prefix/include")
done
# A torch of pip or conda: CMakeLists.txt asks the same python3.
pip_torch=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' \
  2> /dev/null || true)
case "$pip_torch" in */dist-packages/torch) pip_torch= ;; esac  # a distribution's, which takes its BLAS
[ -n "$pip_torch" ] && folders+=("-I$pip_torch/include/torch/csrc/api/include")
folders+=(-I/usr/include/torch/csrc/api/include)

# headers_missing NAMES...: those that the compiler does not find; all of them without a compiler.
headers_missing() {
  command -v c++ > /dev/null || { printf '%s\n' "$@"; return; }
  printf '#if !__has_include(<%s>)\n@%s\n#endif\n' $(printf '%s %s ' $(printf '%s\n' "$@" | sed p)) |
    c++ -std=c++17 -E -x c++ "${folders[@]}" - | sed -n 's/^@//p'
}

# modules_missing NAMES...: those that the distribution's Python does not find.
modules_missing() {
  local python=/usr/bin/python3
  [ -x $python ] || { printf '%s\n' "$@"; return; }
  $python -I -c 'import importlib.util as u, sys; [print(m) for m in sys.argv[1:] if u.find_spec(m) is None]' "$@"
}

# missing ROWS...: the rows whose thing is not there.
missing() {
  local row kind thing headers=() modules=()
  for row in "$@"; do
    IFS='|' read -r kind thing _ <<< "$row"
    [ "$kind" != header ] || headers+=("$thing")
    [ "$kind" != module ] || modules+=("$thing")
  done
  [ ${#modules[@]} = 0 ] || modules=" $(modules_missing "${modules[@]}" | tr '\n' ' ')"
  headers=" $(headers_missing ${headers[@]+"${headers[@]}"} | tr '\n' ' ')"
  for row in "$@"; do
    IFS='|' read -r kind thing _ <<< "$row"
    case "$kind" in
      tool) ! command -v "$thing" > /dev/null ;;
      header) [[ "$headers" == *" $thing "* ]] ;;
      module) [[ "${modules[0]}" == *" $thing "* ]] ;;
      file) ! compgen -G "$thing" > /dev/null ;;
      # A distribution's torch takes the BLAS that is installed; one of pip brings its own.
      blas) [ -z "$pip_torch" ] && ! compgen -G '/usr/lib*/libopenblas*' > /dev/null &&
        ! compgen -G '/usr/lib*/*/libopenblas*' > /dev/null && ! compgen -G '/usr/lib*/*/openblas*/*' > /dev/null ;;
    esac && echo "$row"
  done
  return 0
}

# packages COLUMN ROWS: names of one package manager, on one line.
packages() {
  cut -d'|' -f"$1" <<< "$2" | awk 'NF && !seen[$0]++' | paste -sd' '
}
lacking=$(missing "${needed[@]}")
extra=$(missing ${useful[@]+"${useful[@]}"})
[ -n "$lacking$extra" ] || exit 0

# cannot WHY: lists what is missing and ends, as an error if the build cannot do without it.
cannot() {
  local both
  both=$(printf '%s\n%s\n' "$lacking" "$extra" | sed '/^$/d')
  {
    echo "$1"
    echo "  missing:  $(packages 2 "$both")"
    echo "  apt-get install --no-install-recommends $(packages 3 "$both")"
    echo "  dnf install $(packages 4 "$both")"
    echo "  brew install $(packages 5 "$both")"
    if [ -n "$lacking" ]; then
      echo "What lies in a folder of its own is found through CMAKE_PREFIX_PATH, a torch of pip (pip install torch) through python3."
    else
      echo "Without them some tests are skipped; without httplib.h and pkg-config there is no 'grm serve' and no 'grm ui'."
    fi
  } >&2
  [ -z "$lacking" ] || exit 1
  exit 0
}
command -v apt-get > /dev/null || cannot "Some things are missing. Install them in your system's way, as one of these:"
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  as_root=sudo
else
  cannot "Some things are missing. Install them as root, then try again:"
fi
export DEBIAN_FRONTEND=noninteractive
install="$as_root apt-get install -y -qq --no-install-recommends"
echo "installing: $(packages 3 "$(printf '%s\n%s\n' "$lacking" "$extra" | sed '/^$/d')")"
$as_root apt-get update -qq
if [ -n "$lacking" ]; then
  $install $(packages 3 "$lacking") > /dev/null || cannot "apt-get could not install what is missing:"
  lacking=
fi
[ -z "$extra" ] || $install $(packages 3 "$extra") > /dev/null || cannot "apt-get could not install all:"

# Debian may leave the slow reference BLAS selected; OpenBLAS must be what runs.
blas=$(update-alternatives --query "libblas.so.3-$(gcc -print-multiarch)" 2> /dev/null |
  sed -n 's/^Value: //p' || true)
case "$blas" in
  *openblas* | '') ;;
  *) echo "warning: the selected BLAS is $blas; see 'grm doctor'" >&2 ;;
esac
