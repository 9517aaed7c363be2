#!/usr/bin/env bash
# Attacks the program for MINUTES: scripts/attack.sh MINUTES [PART...] [-- FLAGS of tests/attack/campaign.py]
# Parts: models inputs descriptors signals limits paths kills mutants study-kills writer-kills (default: all but the last two).
#   scripts/attack.sh 60                                       an hour of everything, another seed each time
#   scripts/attack.sh 10 mutants models -- --seed 7            two parts, a seed that can be repeated
#   scripts/attack.sh 1 kills -- --kills 200 --study-kills 100 --writer-kills 50 --report results/attack.md
# BUILD names the build folder (build; build-sanitize for both sanitizers). What is found lies in BUILD/attack/.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?usage: scripts/attack.sh MINUTES [PART...] [-- FLAGS]}
shift
build=${BUILD:-build}
flags=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  flags+=(--part "$1")
  shift
done
[ $# = 0 ] || shift
exec python3 -B tests/attack/campaign.py --grm "$build/grm" --minutes "$minutes" --seed "$(date +%s)" \
  --keep "$build/attack/$(date +%Y%m%dT%H%M%S)" "${flags[@]}" "$@"
