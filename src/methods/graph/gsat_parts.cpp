#include <torch/types.h>

#include <algorithm>

#include "graph/random.h"
#include "methods/graph/gsat.h"
#include "methods/graph/normalised_scorer.h"
#include "ops/sparse.h"

namespace grm::graph_level::gsat {

using torch::Tensor;

double prior(double final, int64_t interval, int64_t epochs_before) {
  return std::max(final, 0.9 - 0.1 * static_cast<double>(epochs_before / interval));
}

Tensor information(const Tensor& attention, const Tensor& r) {
  constexpr double kEps = 1e-6;
  const Tensor rest = 1.0 - attention;
  return attention * torch::log(attention / r + kEps) +
         rest * torch::log(rest / (1.0 - r + kEps) + kEps);
}

Tensor both_directions(const Tensor& values, const Adjacency& edges) {
  if (values.numel() == 0) return values;
  const Adjacency& there = edges.on(values.device());
  const auto [source, target] = edge_list(there);
  // Edges lie by target, then by source: the other direction is found by bisection.
  const Tensor place = target * edges.cols() + source, other = source * edges.cols() + target;
  const Tensor at = torch::searchsorted(place, other).clamp_max(values.numel() - 1);
  const Tensor found = place.index_select(0, at).eq(other);
  const Tensor back = ops::gather_rows(values.unsqueeze(1), at).squeeze(1);
  return 0.5 * (values + torch::where(found, back, values));
}

Tensor attention_of(const Tensor& scores, const Tensor& u, const Tensor& t) {
  if (!u.defined()) return torch::sigmoid(scores);
  const Tensor noisy = scores + torch::log(u) - torch::log1p(-u);
  return torch::sigmoid(t.defined() ? noisy / t : noisy);
}

Tensor attention_noise(const Stream& stream, const Tensor& scores) {
  constexpr double kLeast = 1e-6;
  const Tensor u = torch::empty_like(scores.detach());
  fill_uniform(stream, u, kLeast, 1.0 - kLeast);
  return u;
}

Tensor mean_of_graphs(const Tensor& values, const Tensor& offsets) {
  const Tensor sums = ops::segment_sum(offsets, values);
  return sums.sum() / offsets.slice(0, -1).clamp_min(1).to(values.scalar_type()).squeeze(0);
}

NodeScorer::NodeScorer(nn::ParameterSet& set, const std::string& name, int64_t width,
                       double dropout)
    : first_(set, name + ".linear1", width, 2 * width),
      second_(set, name + ".linear2", 2 * width, width),
      last_(set, name + ".linear3", width, 1),
      dropout_(dropout) {}

Tensor NodeScorer::forward(const Tensor& rows, const nn::GraphInput& batch, nn::Pass& pass) const {
  Tensor h = rows;
  for (const nn::Linear* map : {&first_, &second_}) {
    h = torch::relu(instance_norm(batch.node_offsets, map->forward(h)));
    h = pass.dropout(h, dropout_);
  }
  return last_.forward(h).squeeze(1);
}

}  // namespace grm::graph_level::gsat
