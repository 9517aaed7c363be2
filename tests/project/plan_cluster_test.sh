#!/usr/bin/env bash
# The tables of docs/cluster.md are those that its commands print, and the arithmetic is that of a small case done by hand.
source "$(dirname "$0")/../cli/lib.sh" "$@"
command -v python3 > /dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
plan=$source_dir/bench/plan_cluster.py
check "the page has what the commands print" python3 "$source_dir/scripts/plan_tables.py" --check
check "the rates of the page, each with where it is from" bash -c \
  "python3 '$plan' --show-rates | awk -F'|' 'NR > 2 && \$4 !~ /measured|assumed/ { bad = 1 } END { exit bad || NR < 8 }'"
expect_exit 1 "an unknown rate" python3 "$plan" --set speed=3
check "is named, with those that there are" grep -q "no rate 'speed'; there are: gpu_gflops" err

# 2 GPUs of 2 machines; batches of 10 with one neighbour each: 20 rows of 8 bytes, half of them elsewhere, and lists of 8 bytes each: 160 bytes.
# Weights: 4 x 3 and 3 x 5 numbers, 108 bytes, sent once and once back, halved: 108 bytes. At 1,000 bytes a second for each machine:
# 160 ms and 108 ms; 2 exchanges of 2 messages of 1 ms, and 2 for the gradients. Products: 6 x (10 x 12 + 10 x 15) = 1,620 FLOP.
rates=(network_gbyte=1e-6 loopback_gbyte=1e9 message_microseconds=1000 gpu_gflops=1e-4 least_step_microseconds=1
  gather_gbyte_per_core=1e9 copy_to_gpu_gbyte=1.6e-6 drawn_rows_per_second_per_core=2000 cores_per_gpu=10)
python3 "$plan" --nodes 1e3 --edges 1e4 --features 2 --hidden 3 --classes 5 --batch 10 --fanout 1 --targets 100 --gpus 2 \
  --per-machine 1 "${rates[@]/#/--set=}" > out
check "bytes, messages and times of a small case" grep -qE '^\| 2 \| 0\.0 \| 0\.0 \| 0\.00 \| 6 \| 1\.00 \| 164\.00 \| 0\.00 \| 100\.00 \| 16\.20 \| 110\.00 \| 164\.00 \| fetch \|' out
check "its epoch" grep -q '| fetch | 0.82 s | 1.00 |$' out
finish
