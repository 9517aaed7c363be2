#!/usr/bin/env bash
# How well the edge scores of trained graph-level models find the edges that make the label.
#   scripts/explanations.sh RUN... > results/explanations.md
# where RUN are folders of finished runs on data that knows its true edges, as those which
# grm reproduce table-graph --quick leaves under runs/spmotif.
set -euo pipefail
grm=${GRM:-build/grm}
echo "# Edges found"
echo
echo "Made by \`scripts/explanations.sh\` with $($grm --version) from the runs of \`grm reproduce table-graph --quick\`."
echo "Test graphs of the dataset; the two directions of an edge are one pair with the mean of their scores. 50 is"
echo "what random scores get as ROC-AUC, the share of true pairs what they get as precision."
echo
echo "| dataset | method | seed | test score | ROC-AUC over all pairs | mean ROC-AUC per graph | precision@k |"
echo "|---|---|---|---|---|---|---|"
for run in "$@"; do
  $grm eval "$run" --json 2> /dev/null | jq -r '
    . as $r | .explanations // [] | .[]
    | "| \($r.dataset) | \($r.method):\($r.preset) | \($r.seed) | \($r.avg * 10 | round / 10) | \(.roc_auc * 10 | round / 10) | \(.roc_auc_per_graph * 10 | round / 10) | \(.precision_at_k * 10 | round / 10) |"'
done
