#include "ops/generated.h"

#include <algorithm>

#include "grm/graph/batch.h"
#include "ops/check.h"
#include "ops/generate.h"
#include "ops/sparse.h"

namespace grm::ops {
namespace {

/// What a call is asked for besides its tensors.
struct Wanted {
  bool product = false, kl = false;
  bool normalised = true, mean = true;
  double theta = 0.5;
};

kernels::GeneratorBatch kernel_batch(const GeneratedTiles& tiles, const Wanted& wanted,
                                     int64_t edge_width, int64_t width) {
  return {tiles.graphs,
          tiles.offsets.data_ptr<int64_t>(),
          tiles.most,
          edge_width,
          width,
          wanted.theta,
          wanted.normalised,
          wanted.mean};
}

// Like t; zeros on a GPU, where the rows behind the last graph of a batch are never written.
Tensor rows_like(const Tensor& t) {
  return t.is_cuda() ? torch::zeros(t.sizes(), t.options()) : torch::empty(t.sizes(), t.options());
}

// y and kl; either is undefined where it is not wanted.
std::pair<Tensor, Tensor> run_forward(const GeneratedTiles& tiles, const Wanted& wanted,
                                      const Tensor& f, const Tensor& x) {
  Tensor y = wanted.product ? rows_like(x) : Tensor();
  Tensor kl = wanted.kl ? torch::empty({tiles.graphs}, f.options()) : Tensor();
  with_type(f, [&](auto type) {
    using T = decltype(type);
    const auto batch = kernel_batch(tiles, wanted, f.size(1), wanted.product ? x.size(1) : 0);
    launch<kernels::generate_forward<T>>(place_of(f), batch, data<T>(f), data<T>(x),
                                         y.defined() ? y.data_ptr<T>() : nullptr,
                                         kl.defined() ? kl.data_ptr<T>() : nullptr);
  });
  return {y, kl};
}

// df and dx where they are needed; dy and dkl may be undefined.
std::pair<Tensor, Tensor> run_backward(const GeneratedTiles& tiles, const Wanted& wanted,
                                       const Tensor& f, const Tensor& x, const Tensor& dy,
                                       const Tensor& dkl, bool need_f, bool need_x) {
  Tensor df = need_f ? rows_like(f) : Tensor();
  Tensor dx = need_x && dy.defined() ? rows_like(x) : Tensor();
  with_type(f, [&](auto type) {
    using T = decltype(type);
    const auto batch = kernel_batch(tiles, wanted, f.size(1), dy.defined() ? x.size(1) : 0);
    launch<kernels::generate_backward<T>>(place_of(f), batch, data<T>(f), data<T>(x), data<T>(dy),
                                          data<T>(dkl), df.defined() ? df.data_ptr<T>() : nullptr,
                                          dx.defined() ? dx.data_ptr<T>() : nullptr);
  });
  return {df, dx};
}

struct Generated : torch::autograd::Function<Generated> {
  // x is empty where the product is not wanted. Inputs by edge of the autograd graph: 0 f, 1 x.
  static variable_list forward(AutogradContext* context, const Tensor& f, const Tensor& x,
                               const GeneratedTiles& tiles, const Wanted& wanted) {
    const Tensor rows = f.contiguous(), values = wanted.product ? x.contiguous() : Tensor();
    const auto [y, kl] = run_forward(tiles, wanted, rows, values);
    context->save_for_backward({rows, values});
    context->set_materialize_grads(false);
    context->saved_data["offsets"] = tiles.offsets;
    context->saved_data["graphs"] = tiles.graphs;
    context->saved_data["most"] = tiles.most;
    context->saved_data["product"] = wanted.product;
    context->saved_data["kl"] = wanted.kl;
    context->saved_data["normalised"] = wanted.normalised;
    context->saved_data["mean"] = wanted.mean;
    context->saved_data["theta"] = wanted.theta;
    variable_list results;
    if (wanted.product) results.push_back(y);
    if (wanted.kl) results.push_back(kl);
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("generated_product");
    auto& saved = context->saved_data;
    const GeneratedTiles tiles{saved["offsets"].toTensor(), saved["graphs"].toInt(),
                               saved["most"].toInt()};
    const Wanted wanted{saved["product"].toBool(), saved["kl"].toBool(),
                        saved["normalised"].toBool(), saved["mean"].toBool(),
                        saved["theta"].toDouble()};
    Tensor dy = wanted.product ? gradients[0] : Tensor();
    Tensor dkl = wanted.kl ? gradients[wanted.product ? 1 : 0] : Tensor();
    variable_list results(4);
    if (!dy.defined() && !dkl.defined()) return results;
    if (dy.defined()) dy = dy.contiguous();
    if (dkl.defined()) dkl = dkl.contiguous();
    const variable_list tensors = context->get_saved_variables();
    std::tie(results[0], results[1]) =
        run_backward(tiles, wanted, tensors[0], tensors[1], dy, dkl, context->needs_input_grad(0),
                     context->needs_input_grad(1));
    return results;
  }
};

void check_tiles(const char* op, const GeneratedTiles& tiles, const Tensor& f) {
  check_shape(op, "f", f, {-1, -1});
  const Tensor offsets = check_index(op, "offsets", tiles.offsets);
  if (offsets.numel() != tiles.graphs + 1) {
    fail(ErrorKind::shape, "{}: {} offsets were given for {} graphs", op, offsets.numel(),
         tiles.graphs);
  }
  const int64_t most = check_offsets(op, offsets, f);
  if (most > tiles.most) {
    fail(ErrorKind::shape, "{}: a graph has {} nodes, at most {} were expected", op, most,
         tiles.most);
  }
}

void check_product(const char* op, const Tensor& f, const Tensor& x) {
  check_shape(op, "x", x, {f.size(0), -1});
  check_same_type(op, "f", f, "x", x);
}

// The operators over the pattern of all pairs, for graphs beyond the kernels of a GPU.
variable_list over_all_pairs(const Tensor& f, const Tensor& x, const GeneratedTiles& tiles,
                             const Wanted& wanted) {
  GraphBatch batch;
  batch.graphs = tiles.graphs;
  batch.node_offsets = tiles.offsets.cpu();
  batch.nodes = torch::arange(f.size(0), torch::kInt64);
  const AdjacencyPtr pairs = all_pairs(batch);
  const GeneratedEdges e = generate_edges(sddmm(pairs, f, f), wanted.theta);
  variable_list results;
  if (wanted.product) {
    const Tensor w = wanted.normalised ? normalise(pairs, e.weights) : e.weights;
    results.push_back(spmm(pairs, w, x));
  }
  if (wanted.kl) {
    const Tensor offsets = pairs->in.offsets.index_select(0, batch.node_offsets);
    results.push_back(wanted.mean ? segment_mean(offsets, e.kl) : segment_sum(offsets, e.kl));
  }
  return results;
}

variable_list generate(const Tensor& f, const Tensor& x, const GeneratedTiles& tiles,
                       const Wanted& wanted) {
  if (f.is_cuda() && tiles.most > kernels::kMaxGeneratedNodes) {
    return over_all_pairs(f, x, tiles, wanted);
  }
  const Tensor offsets = to_place_of(tiles.offsets.contiguous(), f);
  return Generated::apply(f, x, GeneratedTiles{offsets, tiles.graphs, tiles.most}, wanted);
}

}  // namespace

int64_t most_generated_nodes() {
  return kernels::kMaxGeneratedNodes;
}

GeneratedTiles generated_tiles(const Tensor& offsets) {
  const Tensor at = check_index("generated_tiles", "offsets", offsets);
  ensure(at.device().is_cpu() && at.numel() > 0, "generated_tiles: offsets on the host, from 0 on");
  const int64_t rows = at.data_ptr<int64_t>()[at.numel() - 1];
  const int64_t most = check_offsets("generated_tiles", at, torch::empty({rows, 0}));
  return {at, at.numel() - 1, most};
}

Tensor generated_product(const GeneratedTiles& tiles, const Tensor& f, const Tensor& x,
                         bool normalised) {
  check_tiles("generated_product", tiles, f);
  check_product("generated_product", f, x);
  Wanted wanted;
  wanted.product = true;
  wanted.normalised = normalised;
  return generate(f, x, tiles, wanted)[0];
}

Tensor generated_kl(const GeneratedTiles& tiles, const Tensor& f, double theta, bool mean) {
  check_tiles("generated_kl", tiles, f);
  check_theta("generated_kl", theta);
  Wanted wanted;
  wanted.kl = true;
  wanted.theta = theta;
  wanted.mean = mean;
  return generate(f, torch::empty({0}, f.options()), tiles, wanted)[0];
}

std::pair<Tensor, Tensor> generated_product_and_kl(const GeneratedTiles& tiles, const Tensor& f,
                                                   const Tensor& x, bool normalised, double theta,
                                                   bool mean) {
  check_tiles("generated_product_and_kl", tiles, f);
  check_product("generated_product_and_kl", f, x);
  check_theta("generated_product_and_kl", theta);
  const Wanted wanted{true, true, normalised, mean, theta};
  const variable_list both = generate(f, x, tiles, wanted);
  return {both[0], both[1]};
}

}  // namespace grm::ops
