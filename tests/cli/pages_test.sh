#!/usr/bin/env bash
# The commands of pages of docs/ (pages.sh says how blocks are marked), and that every point of the daily work has a
# section with commands that run here.
source "$(dirname "$0")/lib.sh" "$@"
source "$source_dir/tests/cli/pages.sh"
pages="eval fit watch attributions inputs export targets predict large"
for page in $pages; do
  blocks_of "$source_dir/docs/$page.md" "all/$page"
  run_page "$page"
done

# Several processes, where the build can have them.
blocks_of "$source_dir/docs/cluster.md" all/cluster
if ldd "$grm-engine" | grep -q libgloo; then
  run_page cluster "Training on several processes"
  run_page cluster "Graphs in parts"
else
  echo "skipped: docs/cluster.md: built without Gloo"
fi

# has PAGE HEADING WORDS...: below this heading is a block that runs all these words.
has() {
  local page=$1 heading=$2 block words
  shift 2
  check "docs/$page.md: '$heading' has a command with: $*" bash -c '
    heading=$1; shift
    for block in "$0"/*.sh; do
      grep -qxF -- "$heading" "${block%.sh}.under" || continue
      for words in "$@"; do grep -qF -- "$words" "$block" || continue 2; done
      exit 0
    done
    exit 1' "all/$page" "$heading" "$@"
}
has fit "From own data to a model" "grm fit" "--minutes"
has eval "Scores and decisions" "grm eval" "--data" "--precision" "--recall"
has targets "Rare classes" "train.class_weights=balanced" "train.focal"
has targets "Splits inside a graph" 'split = "masks"' 'split = "time"' "grm train"
has targets "What edges carry" "[edge_columns]" "method.backbone=gin" "method.backbone=gatv2"
has targets "Multi-label targets and regression" 'target = "regression"' 'target = "multi-label"' "grm eval" "grm predict"
has predict "New graphs of a known dataset" "grm predict" "grm eval" "grm explain" "grm attribute"
has predict "New graphs of a known dataset" "grm watch"
has attributions "Which features matter: \`grm attribute\`" "grm attribute"
has attributions "Which edges matter, for every method" "grm explain" "--by removal"
has inputs "Sparse tables, libsvm files and Parquet, step by step" 'features = "features.csv"' "grm train"
has inputs "Sparse tables, libsvm files and Parquet, step by step" 'nodes.libsvm' "grm train"
has inputs "Parquet" "nodes.parquet" "grm data check"
has export "Logs: CSV and TensorBoard" "train.log=both"
has export "Models: TorchScript" "grm export"
has watch "Drift watch" "grm watch"
has large "Steps on samples" "train.batch" "train.fanout"
has large "Mapped graphs" "grm data convert" "--mapped" "grm train" "grm data check"
has cluster "What the arithmetic is" "--processes 2" "cmp one"
has cluster "Graphs in parts" "grm data partition" "--processes 2" "grm data stats"
finish
