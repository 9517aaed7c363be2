#!/usr/bin/env bash
# A row of the comparison from its recorded command: the same bits a second time, in another folder and
# with another number of processes. Without GRM_DATA it is skipped (code 77).
if [ -z "${GRM_DATA:-}" ] || [ ! -d "$GRM_DATA/twitch" ]; then
  echo "1 comparison skipped: set GRM_DATA to the folder of the published files"
  exit 77
fi
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive  # spares the program its restart

row() {  # FOLDER JOBS
  expect_exit 0 "reproduce best, $1" "$grm" reproduce best --dataset twitch --method erm,grm:best --seeds 1 \
    --db "$1.db" --runs "$1-runs" --out "$1" --jobs "$2" --threads 1 -q
}
row first 2
row second 1
check "three rows of five test domains" test "$(wc -l < first/best.csv)" = 16
check "all scores to the last bit" cmp first/best.csv second/best.csv
models() { find "$1-runs" -name model.safetensors -exec sha256sum {} + | cut -d' ' -f1 | sort; }
check "three models" test "$(models first | wc -l)" = 3
check "models byte for byte" test "$(models first)" = "$(models second)"
finish
