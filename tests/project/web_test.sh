#!/usr/bin/env bash
# Unit tests of the page's modules that need no browser (tests/web/*_test.mjs), where there is node 18 or newer.
source_dir=$2
command -v node > /dev/null || { echo "skipped: there is no node"; exit 77; }
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || { echo "skipped: node is older than 18"; exit 77; }
node --test "$source_dir"/tests/web/*_test.mjs
