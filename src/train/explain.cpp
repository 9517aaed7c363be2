#include "train/explain.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "train/metrics.h"

namespace grm {
namespace {

// The share of true pairs among the k highest scores, k the number of true pairs. Pairs whose score
// equals the k-th fill the places left over, each as likely as the others.
double precision_at_k(const double* score, const int64_t* truth, int64_t n, int64_t k) {
  std::vector<double> sorted(score, score + n);
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
  const double border = sorted[k - 1];
  int64_t above = 0, true_above = 0, tied = 0, true_tied = 0;
  for (int64_t p = 0; p < n; ++p) {
    above += score[p] > border;
    true_above += score[p] > border && truth[p] == 1;
    tied += score[p] == border;
    true_tied += score[p] == border && truth[p] == 1;
  }
  const double of_tied = static_cast<double>((k - above) * true_tied) / static_cast<double>(tied);
  return 100.0 * (static_cast<double>(true_above) + of_tied) / static_cast<double>(k);
}

}  // namespace

ScoredPairs tie_directions(const GraphBatch& batch, const torch::Tensor& scores,
                           const torch::Tensor& truth) {
  const Csr& in = batch.edges->in;
  ensure(scores.numel() == in.nnz() && truth.numel() == in.nnz(),
         "tie_directions: a score and a truth for every edge");
  const torch::Tensor s = scores.to(torch::kFloat64).contiguous();
  const torch::Tensor t = truth.to(torch::kInt64).contiguous();
  const double* score = s.data_ptr<double>();
  const int64_t* label = t.data_ptr<int64_t>();
  // Position of the pair j -> i, or -1.
  const auto find = [&](int64_t j, int64_t i) {
    const int32_t* begin = in.index() + in.offset()[i];
    const int32_t* end = in.index() + in.offset()[i + 1];
    const int32_t* at = std::lower_bound(begin, end, static_cast<int32_t>(j));
    return at != end && *at == j ? at - in.index() : -1;
  };
  const int64_t* first = batch.node_offsets.data_ptr<int64_t>();
  std::vector<double> pair_scores;
  std::vector<int64_t> pair_truth, offsets = {0};
  for (int64_t b = 0; b < batch.graphs; ++b) {
    for (int64_t i = first[b]; i < first[b + 1]; ++i) {
      for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
        const int64_t j = in.index()[e];
        const int64_t reverse = j == i ? -1 : find(i, j);
        if (reverse >= 0 && j > i) continue;  // counted in row j
        pair_scores.push_back(reverse < 0 ? score[e] : 0.5 * (score[e] + score[reverse]));
        pair_truth.push_back(label[e] != 0 || (reverse >= 0 && label[reverse] != 0));
      }
    }
    offsets.push_back(static_cast<int64_t>(pair_scores.size()));
  }
  return {torch::tensor(pair_scores, torch::kFloat64), torch::tensor(pair_truth, torch::kInt64),
          torch::tensor(offsets, torch::kInt64)};
}

Explanation score_pairs(const ScoredPairs& pairs) {
  Explanation result;
  result.auc = roc_auc_of_scores(pairs.scores, pairs.truth);
  const double* score = pairs.scores.data_ptr<double>();
  const int64_t* truth = pairs.truth.data_ptr<int64_t>();
  const int64_t* offset = pairs.offsets.data_ptr<int64_t>();
  int64_t mixed = 0;
  for (int64_t b = 0; b + 1 < pairs.offsets.numel(); ++b) {
    const int64_t begin = offset[b], n = offset[b + 1] - offset[b];
    const int64_t k = std::count(truth + begin, truth + begin + n, 1);
    if (k == 0) continue;
    ++result.graphs;
    result.precision += precision_at_k(score + begin, truth + begin, n, k);
    if (k == n) continue;
    ++mixed;
    result.graph_auc += roc_auc_of_scores(pairs.scores.slice(0, begin, begin + n),
                                          pairs.truth.slice(0, begin, begin + n));
  }
  result.precision /= static_cast<double>(result.graphs);
  // Where each graph has pairs of one kind only, there is nothing to rank inside a graph.
  result.graph_auc = mixed > 0 ? result.graph_auc / static_cast<double>(mixed) : 50.0;
  return result;
}

std::vector<Explanation> explanations(Method& method, const Task& task, Role role) {
  std::vector<Explanation> all;
  for (const Domain& domain : task.domains(role)) {
    if (!domain.labels.edge_truth.defined() || domain.graph.level() == Level::node) continue;
    torch::Tensor scores = method.edge_scores(domain.graph, domain.labels.evaluate);
    if (!scores.defined()) return {};
    scores = scores.cpu();
    const GraphBatch batch = pick_graphs(domain.graph, domain.labels.evaluate);
    const ScoredPairs pairs =
        tie_directions(batch, scores, domain.labels.edge_truth.index_select(0, batch.edge_ids));
    const int64_t positives = pairs.truth.sum().item<int64_t>();
    if (positives == 0 || positives == pairs.truth.numel()) continue;
    all.push_back(score_pairs(pairs));
    all.back().domain = domain.name;
  }
  return all;
}

}  // namespace grm
