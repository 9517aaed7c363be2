#include "methods/grm/generated.h"

#include <torch/types.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace grm {

void GeneratedSamples::add(const GeneratedEdges& edges, const GeneratedNodes& nodes,
                           const torch::Tensor& z) {
  pairs_ = edges.pairs;
  if (nodes.presence.defined()) {
    presence_.push_back(nodes.presence.to(torch::kCPU, torch::kFloat64));
  }
  weights_.push_back(edges.weights.to(torch::kCPU, torch::kFloat64));
  const torch::Tensor distance = (z - h_).to(torch::kCPU, torch::kFloat64).square().sum(1).sqrt();
  distance_ = distance_.defined() ? distance_ + distance : distance;
}

GeneratedGraph GeneratedSamples::graph(const torch::Tensor& nodes, int64_t centre,
                                       const GrmOptions& options) const {
  GeneratedGraph g;
  g.nodes = nodes;
  g.centre = centre;
  std::tie(g.source, g.target) = edge_list(*pairs_);
  g.samples = torch::stack(weights_);
  g.weight = g.samples.mean(0);
  g.spread = (g.samples - g.weight).square().mean(0).sqrt();
  g.distance = distance_ / static_cast<double>(weights_.size());
  g.prior = options.theta;
  if (!presence_.empty()) {
    g.presence = torch::stack(presence_);
    g.presence_prior = options.presence_prior;
  }
  return g;
}

GeneratedGraph two_hops(const GeneratedGraph& whole, int64_t most) {
  const int64_t* source = whole.source.data_ptr<int64_t>();
  const int64_t* target = whole.target.data_ptr<int64_t>();
  const double* weight = whole.weight.data_ptr<double>();
  const int64_t pairs = whole.source.numel();
  std::vector<int64_t> place(whole.nodes.numel(), -1);  // new row of each row, -1: left out
  std::vector<int64_t> rows = {whole.centre};
  place[whole.centre] = 0;
  for (int hop = 0; hop < 2; ++hop) {
    std::map<int64_t, double> joined;  // row -> its heaviest pair into what is there already
    for (int64_t p = 0; p < pairs; ++p) {
      if (place[target[p]] < 0 || place[source[p]] >= 0) continue;
      const auto [at, fresh] = joined.emplace(source[p], weight[p]);
      if (!fresh) at->second = std::max(at->second, weight[p]);
    }
    std::vector<std::pair<int64_t, double>> next(joined.begin(), joined.end());
    std::stable_sort(next.begin(), next.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto room =
        static_cast<size_t>(std::max<int64_t>(most - static_cast<int64_t>(rows.size()), 0));
    if (next.size() > room) next.resize(room);
    for (const auto& [row, heaviest] : next) {
      place[row] = 0;
      rows.push_back(row);
    }
  }
  std::sort(rows.begin() + 1, rows.end());
  for (size_t k = 0; k < rows.size(); ++k) place[rows[k]] = static_cast<int64_t>(k);
  std::vector<int64_t> kept, from, to;
  for (int64_t p = 0; p < pairs; ++p) {
    if (place[source[p]] < 0 || place[target[p]] < 0) continue;
    kept.push_back(p);
    from.push_back(place[source[p]]);
    to.push_back(place[target[p]]);
  }
  const auto ints = [](const std::vector<int64_t>& v) { return torch::tensor(v, torch::kInt64); };
  const torch::Tensor picked = ints(kept), members = ints(rows);
  GeneratedGraph part;
  part.nodes = whole.nodes.index_select(0, members);
  part.centre = 0;
  part.source = ints(from);
  part.target = ints(to);
  part.samples = whole.samples.index_select(1, picked);
  part.weight = whole.weight.index_select(0, picked);
  part.spread = whole.spread.index_select(0, picked);
  part.distance = whole.distance.index_select(0, members);
  part.prior = whole.prior;
  if (whole.presence.defined()) part.presence = whole.presence.index_select(1, members);
  part.presence_prior = whole.presence_prior;
  return part;
}

}  // namespace grm
