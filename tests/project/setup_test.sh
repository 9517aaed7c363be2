#!/usr/bin/env bash
# scripts/setup.sh where nothing can be installed: silent if all is there, else one message with names of packages.
source "$(dirname "$0")/../cli/lib.sh" "$@"
setup=$source_dir/scripts/setup.sh
mkdir bin
for tool in bash sh c++ cmake ninja pkg-config python3 awk cut sed paste tr id sleep; do
  ln -s "$(command -v $tool)" bin/$tool || { echo "skipped: there is no $tool"; exit 77; }
done

expect_exit 0 "all is there, without apt-get" env PATH="$work/bin" bash "$setup"
check "not a word about it" test ! -s out -a ! -s err

# A compiler that finds no header but those of a prefix.
rm bin/c++ bin/ninja
printf '#!/bin/sh\nexec %s -nostdinc "$@"\n' "$(command -v c++)" > bin/c++
chmod +x bin/c++
mkdir -p prefix/include/fmt prefix/include/toml++
touch prefix/include/fmt/core.h prefix/include/toml++/toml.h
expect_exit 1 "headers and a tool are missing" env PATH="$work/bin" CMAKE_PREFIX_PATH="$work/prefix" bash "$setup"
check "names for apt" grep -qE '^ *apt-get install .*ninja-build libcli11-dev .*libzip-dev' err
check "names for dnf" grep -qE '^ *dnf install .*ninja-build .*json-devel' err
check "names for brew" grep -qE '^ *brew install ninja .*nlohmann-json' err
check "what lies in a prefix is not missing" bash -c "! grep -q 'fmt\|toml' err"
check "nor are tools that are there" bash -c "! grep -q 'g++\|cmake ' err"
expect_exit 2 "a word that it does not know" bash "$setup" everything
finish
