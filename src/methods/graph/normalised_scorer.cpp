#include "methods/graph/normalised_scorer.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "graph/place.h"
#include "grm/core/error.h"
#include "methods/graph/batches.h"
#include "methods/kernels.h"
#include "ops/bias.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

constexpr double kEps = 1e-5;

// Zeros on a GPU, where rows behind the last graph are never written.
torch::Tensor rows_like(const torch::Tensor& x) {
  return x.is_cuda() ? torch::zeros_like(x) : torch::empty_like(x);
}

struct InstanceNorm : torch::autograd::Function<InstanceNorm> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& offsets, const torch::Tensor& rows) {
    const torch::Tensor x = rows.contiguous();
    const int64_t graphs = offsets.numel() - 1, cols = x.size(1);
    torch::Tensor y = rows_like(x);
    const torch::Tensor scale = torch::empty({graphs, cols}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "instance_norm", [&] {
      launch<kernels::instance_norm<scalar_t>>(place_of(x), offsets.data_ptr<int64_t>(), graphs,
                                               x.data_ptr<scalar_t>(), cols, kEps,
                                               y.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>());
    });
    context->save_for_backward({offsets, y, scale});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "instance_norm has no second derivative");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &offsets = saved[0], &y = saved[1], &scale = saved[2];
    const torch::Tensor dy = outputs[0].contiguous();
    const int64_t graphs = offsets.numel() - 1, cols = y.size(1);
    torch::Tensor dx = rows_like(y);
    AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "instance_norm gradient", [&] {
      launch<kernels::instance_norm_gradient<scalar_t>>(
          place_of(y), offsets.data_ptr<int64_t>(), graphs, y.data_ptr<scalar_t>(),
          dy.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>(), cols, dx.data_ptr<scalar_t>());
    });
    return {torch::Tensor(), dx};
  }
};

}  // namespace

torch::Tensor instance_norm(const torch::Tensor& offsets, const torch::Tensor& rows) {
  ensure(rows.dim() == 2 && offsets.numel() > 0 &&
             (!offsets.device().is_cpu() ||
              offsets.data_ptr<int64_t>()[offsets.numel() - 1] == rows.size(0)),
         "instance_norm: the segments must cover the rows");
  return InstanceNorm::apply(to_place_of(offsets, rows), rows);
}

NormalisedScorer::NormalisedScorer(nn::ParameterSet& set, const std::string& name, int64_t width,
                                   double dropout, ScorerNorm norm)
    : first_(set, name + ".linear1", 2 * width, 4 * width),
      second_(set, name + ".linear2", 4 * width, width),
      last_(set, name + ".linear3", width, 1),
      dropout_(dropout) {
  if (norm == ScorerNorm::instance) return;
  norms_.emplace_back(set, name + ".norm1", 4 * width);
  norms_.emplace_back(set, name + ".norm2", width);
}

torch::Tensor NormalisedScorer::hidden(size_t layer, const torch::Tensor& rows,
                                       const torch::Tensor& offsets, nn::Pass& pass) const {
  if (norms_.empty()) return pass.dropout(torch::relu(instance_norm(offsets, rows)), dropout_);
  nn::BatchNorm norm = norms_[layer];  // a handle to its tensors
  // On a GPU there is room for more edges than there are.
  const torch::Tensor counted = offsets.is_cuda() ? offsets.slice(0, -1) : torch::Tensor();
  return pass.dropout(torch::relu(norm.forward(rows, pass, counted)), dropout_);
}

torch::Tensor NormalisedScorer::forward(const torch::Tensor& rows, const nn::GraphInput& batch,
                                        nn::Pass& pass) const {
  const int64_t width = rows.size(1);
  const torch::Tensor offsets = edge_offsets(batch);
  const auto [source, target] = edge_list(batch.edges->on(rows.device()));
  // The first map is applied to the nodes, of which there are fewer than ends of edges. Its bias
  // would be subtracted again by the normalisation, but it is part of the model as published.
  const torch::Tensor of_source = torch::mm(rows, first_.weight.slice(0, 0, width));
  const torch::Tensor of_target =
      ops::affine(rows, first_.weight.slice(0, width, 2 * width), first_.bias);
  const torch::Tensor pairs =
      ops::gather_rows(of_source, source) + ops::gather_rows(of_target, target);
  const torch::Tensor h = hidden(0, pairs, offsets, pass);
  return last_.forward(hidden(1, second_.forward(h), offsets, pass)).squeeze(1);
}

}  // namespace grm::graph_level
