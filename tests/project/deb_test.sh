#!/usr/bin/env bash
# The Debian package: what is in it, what it depends on, and that grm works from its files wherever they are unpacked.
source "$(dirname "$0")/../cli/lib.sh" "$@"
build=$(cd "$(dirname "$grm")" && pwd)
for tool in dpkg-deb dpkg-shlibdeps file cpack; do
  command -v $tool > /dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
torch=$(ldd "$build/grm-engine" | awk '/libtorch_cpu/ { print $3 }')
dpkg-query -S "$(realpath "$torch")" > /dev/null 2>&1 ||
  { echo "skipped: libtorch comes from no package here, so that a package cannot depend on it"; exit 77; }

expect_exit 0 "pack" cpack --config "$build/CPackConfig.cmake" -B "$work/packed"
deb=$(echo "$work"/packed/grm_*.deb)
check "one package" test -f "$deb"
dpkg-deb --field "$deb" > fields
# Some of them only where the program was built with them.
linked=$(ldd "$build/grm-engine" | grep -oE '^\s*lib(gloo|pq|cpp-httplib)\b')
for name in libopenblas0-pthread libtorch libzip libsqlite3 $linked; do
  check "it depends on $name" grep -qE "^Depends:.*\b$name" fields
done
check "and recommends what draws pictures" grep -qE '^Recommends:.*gnuplot-nox.*graphviz' fields
check "a description of more than a line" awk '/^Description: ./ { on = 1; next } on && /^ ./ { found = 1 } END { exit !found }' fields

dpkg-deb --extract "$deb" "$work/tree"
share=tree/usr/share
for path in tree/usr/bin/grm tree/usr/libexec/grm/grm-engine tree/usr/libexec/grm/grm-engine.help \
  $share/doc/grm/README.md $share/doc/grm/LICENSE $share/doc/grm/CHANGELOG.md $share/man/man1/grm.1.gz \
  $share/man/man1/grm-train.1.gz $share/bash-completion/completions/grm $share/zsh/vendor-completions/_grm \
  $share/fish/vendor_completions.d/grm.fish; do
  check "it has $path" test -s "$path"
done
check "all ready studies" diff <(cd "$source_dir/studies" && ls -- *.toml) <(ls $share/grm/studies)
check "no headers and no archives" bash -c '! find tree -name "*.h" -o -name "*.a" | grep -q .'
"$grm" help | awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' > verbs
while read -r verb; do
  check "a page for $verb" bash -c "zcat $share/man/man1/grm-$verb.1.gz | grep -q '^grm\\\\-$verb \\\\- .'"
done < verbs
check "flags on their page" bash -c "zcat $share/man/man1/grm-train.1.gz | grep -qF '\\fB\\-\\-epochs INT:1 or more\\fR'"

# Anywhere, and without the build folder beside it.
mv tree "$work/some where"
installed="$work/some where/usr/bin/grm"
expect_exit 0 "the version" "$installed" --version
check "is this one" cmp out <("$grm" --version)
expect_exit 0 "completion" "$installed" completion bash
check "is the file of the package" cmp out "$work/some where/usr/share/bash-completion/completions/grm"
expect_exit 0 "an epoch of training" "$installed" train --dataset sbm --method erm --epochs 1 --out runs
check "leaves a run" bash -c 'ls runs/*/*/*/summary.json'
finish
