#!/usr/bin/env bash
# Verbs, exit codes and the JSON names that scripts rely on.
source "$(dirname "$0")/lib.sh" "$@"
small=(--dataset sbm --set dataset.nodes=150 --epochs 6 --set train.eval_every=2)

expect_exit 0 "help" "$grm" --help
check "help shows examples" grep -q "Examples:" out
for verb in train eval data methods options doctor study reproduce plot bench; do
  expect_exit 0 "$verb --help" "$grm" $verb --help
done
expect_exit 0 "version" "$grm" --version

expect_exit 0 "no verb: the help" "$grm"
expect_exit 2 "unknown verb" "$grm" trian
check "nearest verb is named" grep -q "did you mean 'train'" err
expect_exit 2 "unknown flag" "$grm" train --colour
expect_exit 2 "unknown dataset" "$grm" train --dataset twich
check "nearest dataset is named" grep -q "did you mean 'twitch'" err
expect_exit 2 "unknown method" "$grm" train --method gram
expect_exit 2 "unknown preset" "$grm" train --method grm --preset paperr
expect_exit 2 "unknown key" "$grm" train --set method.alhpa=1
check "nearest key is named" grep -q "did you mean 'alpha'" err
expect_exit 2 "value outside its range" "$grm" train --set method.theta=2
expect_exit 2 "setting without value" "$grm" train --set method.lr
expect_exit 2 "configuration file with an unknown section" "$grm" train --config <(echo '[modell]
a = 1')
expect_exit 3 "data root that is not there" "$grm" train --dataset cora --data-root "$work/none"
check "the missing path is named" grep -q "$work/none/cora/ind.cora" err
expect_exit 3 "model that is not there" "$grm" eval "$work/none"
expect_exit 4 "device that is not there" "$grm" train --device cuda:63
check "what to do is told" grep -q "use --device cpu\|the last one is" err
expect_exit 2 "device that does not exist" "$grm" train --device gpu
check "the devices are named" grep -q "expected cpu, cuda" err

"$grm" train --dataset twich --json > out 2> /dev/null
check "errors are JSON too" jq -e '.error.kind == "config"' out

expect_exit 0 "train" "$grm" train "${small[@]}" --method grm --seeds 2 --json
check "stdout is one JSON object with the promised names" jq -e '
  [.dataset, .method, .preset, .metric, .selection] == ["sbm", "grm", "paper", "accuracy", "val"]
  and .seeds == [1000, 1001] and (.test | length) == 8
  and (.test[0] | has("domain") and has("mean") and has("std"))
  and ([.validation, .min, .avg, .seconds_per_epoch, .evaluate_seconds, .peak_memory_mib,
        .parameters] | all(type == "number"))
  and (.best_epochs | length) == 2
  and (.by_selection | has("val") and has("last") and has("oracle"))' out
check "no progress bar off a terminal" bash -c "! grep -q $'\r' err"
run=$(jq -r '.runs[0]' out)
expect_exit 0 "train without test scores" "$grm" train "${small[@]}" --method erm \
  --set train.test=never
check "there is a validation score and no test score" bash -c "grep -q validation out && ! grep -q Avg out"
for file in config.toml env.json metrics.jsonl summary.json model.safetensors state.safetensors \
  log.txt; do
  check "the run has $file" test -s "$run/$file"
done
check "all loss terms are logged apart" jq -e '.loss | has("total") and has("supervision")
  and has("latent_kl") and has("edge_kl") and has("invariance")' <(head -1 "$run/metrics.jsonl")

expected=$(jq '.chosen.val.test[0].value' "$run/summary.json")
expect_exit 0 "eval" "$grm" eval "$run" --json
check "eval repeats the run's scores" \
  jq -e --argjson v "$expected" '[.domains[] | select(.role == "test")][0].value == $v' out

motifs=(--dataset spmotif --set dataset.train_per_class=8 --set dataset.val_per_class=4
  --set dataset.test_per_class=4 --epochs 1)
"$grm" train "${motifs[@]}" --method grm --preset gin --json > out 2> err
expect_exit 0 "eval on graphs" "$grm" eval "$(jq -r '.runs[0]' out)" --json
check "eval scores explanations where true edges are known" jq -e '.explanations[0] | .graphs == 12
  and ([.roc_auc, .roc_auc_per_graph, .precision_at_k] | all(. >= 0 and . <= 100))' out

expect_exit 0 "several methods" "$grm" train "${small[@]}" --method erm,grm:centred
check "the table has Min, Avg and seconds" bash -c \
  "grep -q '^Min' out && grep -q '^Avg' out && grep -q '^seconds' out"
check "the table has every test domain" bash -c "[ \$(grep -c '^T[1-8] ' out) = 8 ]"

"$grm" train "${small[@]}" --method erm --config <(printf '[dataset]\nname = "sbm"\n[method]\nname = "erm"\nhidden = 16\n') \
  --json > out 2> err
check "a TOML file configures a run" grep -q 'hidden = 16' "$(jq -r '.runs[0]' out)/config.toml"

expect_exit 0 "data describe" "$grm" data describe sbm --json
check "describe has the promised names" jq -e '(.domains | length) == 10 and (.domains[0]
  | has("name") and has("role") and has("nodes") and has("edges") and has("features")
    and has("feature_nonzeros") and has("labels"))' out
expect_exit 0 "data describe of a set" "$grm" data describe spmotif --json
check "a set has sizes and degrees by split" jq -e '.level == "graph" and (.domains | length) == 3
  and (.domains[0] | .graphs == 3000 and has("mean_nodes") and has("mean_edges")
    and ([.sizes[].count] | add) == .graphs and ([.degrees[].count] | add) == .nodes)' out
expect_exit 0 "data describe of a set as text" "$grm" data describe spmotif
check "the histograms have a column for every split" \
  grep -qE '^nodes of a graph +train +validation +test' out
expect_exit 0 "data list" "$grm" data list --json
check "all datasets are listed" jq -e '[.datasets[].name] | contains(["sbm", "cora", "cora-mix",
  "photo", "twitch", "fb100", "elliptic", "arxiv"])' out
expect_exit 0 "data check" "$grm" data check sbm
expect_exit 0 "methods" "$grm" methods --json
check "methods have the promised names" jq -e 'all(.[]; has("name") and has("levels")
  and has("summary") and has("presets")) and ([.[].name] | contains(["erm", "grm"]))' out
expect_exit 0 "doctor" "$grm" doctor --json
check "OpenBLAS is what runs" jq -e '.checks[] | select(.check == "blas") | .ok' out
finish
