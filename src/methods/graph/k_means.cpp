#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "methods/graph/subgraph.h"

namespace grm::graph_level {
namespace {

constexpr int64_t kRounds = 100;
constexpr double kShift = 1e-4;

torch::Tensor directions(const torch::Tensor& rows) {
  return rows / rows.norm(2, 1, true).clamp_min(1e-12);
}

// The means of the points of each cluster, summed in double in the order of the points; a cluster
// without points keeps its centre.
torch::Tensor moved_centres(const torch::Tensor& points, const torch::Tensor& nearest,
                            const torch::Tensor& centres) {
  const int64_t clusters = centres.size(0), d = points.size(1);
  torch::Tensor sums = torch::zeros({clusters, d}, torch::kFloat64);
  std::vector<int64_t> count(clusters, 0);
  const double* x = points.data_ptr<double>();
  const int64_t* at = nearest.data_ptr<int64_t>();
  double* sum = sums.data_ptr<double>();
  for (int64_t i = 0; i < points.size(0); ++i) {
    ++count[at[i]];
    double* to = sum + at[i] * d;
    for (int64_t c = 0; c < d; ++c) to[c] += x[i * d + c];
  }
  for (int64_t k = 0; k < clusters; ++k) {
    if (count[k] == 0) {
      sums[k].copy_(centres[k]);
    } else {
      sums[k].div_(static_cast<double>(count[k]));
    }
  }
  return sums;
}

}  // namespace

torch::Tensor k_means(const torch::Tensor& points, int64_t clusters, bool cosine, Stream draws) {
  if (points.dim() != 2 || clusters < 1 || clusters > points.size(0)) {
    fail(ErrorKind::config, "k_means: {} clusters of {} points", clusters,
         points.dim() == 2 ? points.size(0) : 0);
  }
  at::NoGradGuard no_grad;
  const torch::Tensor x = points.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const torch::Tensor compared = cosine ? directions(x) : x;
  torch::Tensor centres =
      x.index_select(0, torch::tensor(draws.choose(x.size(0), clusters), torch::kInt64));
  torch::Tensor nearest;
  for (int64_t round = 0; round < kRounds; ++round) {
    // |x - c|^2 = |x|^2 - 2 x.c + |c|^2, and the first term is the same for all centres.
    const torch::Tensor ends = cosine ? directions(centres) : centres;
    const torch::Tensor distance =
        torch::addmm((ends * ends).sum(1), compared, ends.t(), 1.0, -2.0);
    nearest = distance.argmin(1);
    const torch::Tensor next = moved_centres(x, nearest, centres);
    const double shift = (next - centres).norm(2, 1).sum().item<double>();
    centres = next;
    if (shift * shift < kShift) break;
  }
  return nearest;
}

}  // namespace grm::graph_level
