#!/usr/bin/env bash
# A bounded campaign: inputs, models, kills, descriptors, signals, limits, names. scripts/attack.sh
# runs the same for as long as one likes. bash attack_test.sh PATH/TO/grm SOURCE_FOLDER
set -u
grm=$1
source_dir=$2
command -v python3 > /dev/null || { echo "python3 is needed"; exit 77; }
# Another seed for every commit, the same one for everybody.
seed=${GRM_ATTACK_SEED:-$(git -C "$source_dir" rev-list --count HEAD 2> /dev/null || echo 1)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
keep=${GRM_ATTACK_KEEP:-$work/findings}
python3 -B "$source_dir/tests/attack/campaign.py" --grm "$grm" --seed "$seed" \
  --minutes "${GRM_ATTACK_MINUTES:-2}" --keep "$keep"
code=$?
[ $code = 0 ] || tail -n 20 "$keep"/*/finding.txt "$keep"/*/stderr
exit $code
