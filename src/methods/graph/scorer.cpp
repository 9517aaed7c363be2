#include <torch/types.h>

#include "grm/core/error.h"
#include "methods/graph/subgraph.h"
#include "ops/bias.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::graph_level {

EdgeScorer::EdgeScorer(nn::ParameterSet& set, const std::string& name,
                       const std::vector<int64_t>& widths) {
  ensure(widths.size() >= 2 && widths.front() % 2 == 0 && widths.back() == 1,
         "EdgeScorer: widths go from twice the row width to 1");
  first_ = nn::Linear(set, name + ".linear1", widths[0], widths[1]);
  deep_ = widths.size() > 3;
  if (deep_) {
    rest_ = nn::Mlp(set, name + ".rest", {widths.begin() + 1, widths.end()});
  } else if (widths.size() == 3) {
    const nn::Linear second(set, name + ".linear2", widths[1], 1);
    last_ = second.weight;
    constant_ = second.bias;
  }
}

torch::Tensor EdgeScorer::forward(const torch::Tensor& rows, const AdjacencyPtr& edges) const {
  const int64_t d = rows.size(1);
  if (2 * d != first_.weight.size(0)) {
    fail(ErrorKind::shape, "EdgeScorer: rows of {} columns came, {} were expected", d,
         first_.weight.size(0) / 2);
  }
  const torch::Tensor as_source = ops::affine(rows, first_.weight.narrow(0, 0, d), first_.bias);
  const torch::Tensor as_target = torch::mm(rows, first_.weight.narrow(0, d, d));
  if (last_.defined()) {
    return ops::pair_scores(edges, as_source, as_target, last_.squeeze(1)) + constant_;
  }
  const auto [source, target] = edge_list(edges->on(rows.device()));
  const torch::Tensor pairs =
      ops::gather_rows(as_source, source) + ops::gather_rows(as_target, target);
  return (deep_ ? rest_.forward(torch::relu(pairs)) : pairs).squeeze(1);
}

}  // namespace grm::graph_level
