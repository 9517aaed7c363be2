#!/usr/bin/env bash
# The published files through the command line. Without GRM_DATA these checks are skipped (code 77).
if [ -z "${GRM_DATA:-}" ] || [ ! -d "$GRM_DATA" ]; then
  echo "4 datasets skipped: set GRM_DATA to the folder of the published files"
  exit 77
fi
source "$(dirname "$0")/lib.sh" "$@"

expect_exit 0 "twitch" "$grm" data describe twitch --json
check "twitch counts" jq -e '[.domains[] | [.name, .nodes, .edges]] == [["DE", 9498, 153138],
  ["ENGB", 7126, 35324], ["ES", 4648, 59382], ["FR", 6549, 112666], ["PTBR", 1912, 31299],
  ["RU", 4385, 37304], ["TW", 2772, 63462]] and all(.domains[]; .features == 3170)' out
check "hashes are recorded" jq -e '(.hashes | length) == 21' out
expect_exit 0 "cora" "$grm" data describe cora --json
check "cora counts" jq -e 'all(.domains[]; .nodes == 2708 and .edges == 10556 and .features == 1443
  and .feature_nonzeros == 49216 + 27080)' out
expect_exit 0 "photo" "$grm" data describe photo --json
check "photo counts" jq -e 'all(.domains[]; .nodes == 7650 and .edges == 238162
  and .features == 755)' out

expect_exit 3 "fb100 without its missing files" "$grm" data describe fb100
if grep -q "Penn94" err; then
  check "the message names path, publisher and what can run" bash -c \
    "grep -q 'facebook100/Penn94.mat' err && grep -q 'allow-missing' err && grep -q 'Brown11' err"
  expect_exit 0 "fb100 with what is there" "$grm" train --dataset fb100 --method erm --epochs 2 \
    --allow-missing --json -q
  check "the record says what was missing" jq -e '.missing | length > 0' out
fi

# A file that changes is parsed anew; a truncated one is an error and harms nothing.
mkdir -p mine/amazon-photo
cp "$GRM_DATA/amazon-photo/amazon_electronics_photo.npz" mine/amazon-photo/
expect_exit 0 "own copy" "$grm" data check photo --data-root mine --json
good=$(jq -r .fingerprint out)
head -c 100000 "$GRM_DATA/amazon-photo/amazon_electronics_photo.npz" \
  > mine/amazon-photo/amazon_electronics_photo.npz
expect_exit 3 "truncated npz" "$grm" data check photo --data-root mine
check "the file is named" grep -q "amazon_electronics_photo.npz" err
cp "$GRM_DATA/amazon-photo/amazon_electronics_photo.npz" mine/amazon-photo/
expect_exit 0 "mended copy" "$grm" data check photo --data-root mine --json
check "same data as before" [ "$(jq -r .fingerprint out)" = "$good" ]
finish
