#!/usr/bin/env bash
# shell_files.sh GRM PREFIX: manual pages and completions of an installed grm, under PREFIX/share. CMake calls it
# when it installs or packs the program.
set -euo pipefail
grm=$1
share=$2/share
bash "$(dirname "$0")/man_pages.sh" "$grm" "$share/man/man1"
gzip -9nf "$share"/man/man1/grm*.1
mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
"$grm" completion bash > "$share/bash-completion/completions/grm"
"$grm" completion zsh > "$share/zsh/vendor-completions/_grm"
"$grm" completion fish > "$share/fish/vendor_completions.d/grm.fish"
