#!/usr/bin/env bash
# grm bench: the promised names, shares that make sense, memory that was foreseen.
source "$(dirname "$0")/lib.sh" "$@"
export OMP_WAIT_POLICY=passive

expect_exit 0 "bench --help" "$grm" bench --help
check "help shows examples" grep -q "Examples:" out

expect_exit 0 "bench of grm" "$grm" bench --dataset sbm --method grm --preset paper --epochs 3 --json
check "the promised names are there" jq -e '
  ([.sgemm_gflops, .epoch_gflop, .seconds_per_epoch, .share_of_sgemm, .peak_memory_mib,
    .estimated_mib, .epoch_gbyte, .copy_gbyte_per_second, .share_of_copy, .setup_seconds,
    .targets_per_epoch, .seconds_per_target, .evaluate_seconds, .evaluate_seconds_per_node,
    .threads] | all(type == "number"))
  and ([.dataset, .method, .preset, .device] == ["sbm", "grm", "paper", "cpu"])
  and (.grm | type) == "string" and has("data_hashes")' out
check "all stages are named" jq -e '.stages | has("sample") and has("batch") and has("encode")
  and has("generate") and has("classify") and has("losses") and has("backward")
  and has("optimiser") and has("other")' out
check "the share of the product rate makes sense" \
  jq -e '.share_of_sgemm > 0 and .share_of_sgemm < 1.5' out
check "stages add up to the epoch" \
  jq -e '([.stages[]] | add) as $s | ($s / .seconds_per_epoch - 1) | fabs < 0.02' out
check "most of the epoch is marked" jq -e '.stages.other < 0.3 * .seconds_per_epoch' out
check "terms of the count add up" \
  jq -e '(([.work[].gflop] | add) / .epoch_gflop - 1) | fabs < 1e-9' out
check "progress goes to stderr" grep -q "epoch 3 of 3" err

expect_exit 0 "bench of another method" "$grm" bench --dataset sbm --method mmd \
  --set method.domains=random --epochs 2 --no-evaluation -q --json
check "its operations are counted" jq -e '.epoch_gflop > 0 and .share_of_sgemm > 0' out

expect_exit 0 "bench of a method without a count" "$grm" bench --dataset sbm --method grm \
  --set dataset.nodes=100 --set method.domain_encoding=exact --epochs 2 --no-evaluation -q --json
check "what is not counted is null" jq -e '.epoch_gflop == null and .share_of_sgemm == null
  and .seconds_per_epoch > 0 and .evaluate_seconds == 0' out
check "quiet is quiet" test ! -s err

expect_exit 0 "bench as a table" "$grm" bench --dataset sbm --method erm --epochs 2 -q
check "the table has the share and the memory" bash -c \
  "grep -q 'share of the SGEMM rate' out && grep -q 'peak memory' out"
expect_exit 2 "unknown method" "$grm" bench --method gram
expect_exit 2 "a method without peers" "$grm" bench --dataset sbm --set dataset.nodes=60 --method mmd --epochs 1 --no-evaluation -q --peers
check "the error names what has peers" grep -q "use --method erm" err
# A python3 without PyTorch Geometric says so; one with it gives times and ratios.
expect_exit 2 "peers without PyTorch Geometric" env PYTHONPATH=/nonexistent PYTHONNOUSERSITE=1 PATH="/usr/bin:/bin" \
  "$grm" bench --dataset sbm --set dataset.nodes=60 --method erm --epochs 1 --no-evaluation -q --peers
check "the error says what is missing" grep -q "torch_geometric" err
expect_exit 2 "no epochs" "$grm" bench --epochs 0

# What does not fit fails at once, names the limit and offers changes that do fit.
big=(--dataset scale --set dataset.nodes=10000 --method grm --set method.influence=exact)
expect_exit 4 "a run beyond the limit" "$grm" train "${big[@]}" --memory-limit 500
check "the error names the limit" grep -q "500 MiB (--memory-limit)" err
check "no run folder is left behind" test ! -e runs
option=$(sed -n 's/^  \(--[^(]*\)  (about.*/\1/p' err | head -1)
check "an option is offered" test -n "$option"
expect_exit 4 "errors are JSON too" "$grm" bench "${big[@]}" --memory-limit 500 --json
check "its kind is memory" jq -e '.error.kind == "memory"' out
# shellcheck disable=SC2086  # the option is several words
expect_exit 0 "the first option offered runs within the limit" "$grm" bench "${big[@]}" $option \
  --memory-limit 500 --epochs 1 -q --json
check "and stays within the limit" jq -e '.peak_memory_mib <= 1.3 * 500' out
expect_exit 0 "train -v shows the estimate" "$grm" train --dataset sbm --set dataset.nodes=150 \
  --method erm --epochs 2 -v
check "estimate, parts and limit are shown" \
  grep -qE 'erm: about [0-9.]+ [MG]iB of memory \(program .*activations .*\), limit' err

# Estimates and peaks, where the numbers outweigh the program itself.
memory() {
  local what=$1
  shift
  expect_exit 0 "bench: $what" "$grm" bench --epochs 1 -q --json "$@"
  jq -r --arg what "$what" '"\($what): estimated \(.estimated_mib | round), peak \(.peak_memory_mib | round)"' out
  check "the estimate of $what is within a factor of two of the peak" \
    jq -e '.estimated_mib / .peak_memory_mib | . > 0.5 and . < 2' out
}
scale() { echo "--dataset scale --set dataset.nodes=$1"; }
# shellcheck disable=SC2046  # several words
{
memory "erm" $(scale 100000) --method erm
memory "erm on sage" $(scale 60000) --method erm --set method.backbone=sage \
  --set method.dropout=0.5 --set method.hidden=256
memory "grm, exact influence" $(scale 14000) --method grm --set method.influence=exact
memory "grm, sampled influence" $(scale 4000) --method grm --set method.influence=sampled \
  --set method.hidden=512 --set method.latent=256
memory "grm on raw features, local influence" $(scale 60000) --method grm \
  --set method.encoder_input=raw --set method.influence=local
memory "grm on the whole graph" $(scale 12000) --method grm --preset centred \
  --set method.hidden=512 --set method.latent=512
memory "eerm with explicit editors" $(scale 5000) --method eerm \
  --set method.editor_memory_mib=2000
memory "lisa" $(scale 60000) --method lisa --set method.inner_steps=1
memory "mario" $(scale 30000) --method mario --set method.contrast_nodes=1000 \
  --set method.head_epochs=2 --set method.prototype_steps=2
memory "mmd on random domains" $(scale 60000) --method mmd --set method.domains=random
}
finish
