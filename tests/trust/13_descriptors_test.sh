#!/usr/bin/env bash
# Closed standard descriptors: what is meant for a terminal does not end up in the files of a run.
source "$(dirname "$0")/../cli/lib.sh" "$@"
engine=$(dirname "$grm")/grm-engine
[ -x "$engine" ] || engine=$grm
train=(train --dataset sbm --method erm --epochs 4 --set dataset.nodes=60)
for program in "$grm" "$engine"; do
  for closed in all out err; do
    rm -rf runs
    case $closed in
      all) "$program" "${train[@]}" <&- >&- 2>&- ;;
      out) "$program" "${train[@]}" >&- 2> /dev/null ;;
      err) "$program" "${train[@]}" 2>&- > /dev/null ;;
    esac
    check "$(basename "$program"), $closed closed: exit code 0" test $? = 0
    check "a line for each epoch" test "$(cat runs/sbm/erm/*/metrics.jsonl | wc -l)" = 4
    check "each of them JSON" jq -e -s 'all(has("epoch"))' runs/sbm/erm/*/metrics.jsonl
    check "the configuration is TOML alone" bash -c "! grep -qvE '^(#|\[|[a-z_]+ = |$)' runs/sbm/erm/*/config.toml"
    check "the record is JSON" jq -e . runs/sbm/erm/*/summary.json
  done
done
finish
