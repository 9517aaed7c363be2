// The fused generator and the fused passes of GRM's step beside the same mathematics in plain
// (batched) libtorch operators.
#include <cmath>

#include "compare.h"
#include "grm/graph/batch.h"
#include "nn/activation.h"
#include "ops/generate.h"
#include "ops/generated.h"
#include "ops/latent.h"
#include "ops/propagate.h"
#include "ops/sparse.h"

namespace {

using grm::bench::add;
using grm::bench::leaf;
using grm::bench::normal;
using torch::Tensor;

constexpr int64_t kGraphs = 500, kNodes = 21, kRows = kGraphs * kNodes;
constexpr double kTheta = 0.3;

// Ego-nets of targets and up to 20 neighbours, with the sizes that a power-law graph gives: a third
// is full. `even`: all of them are, so that the batched formulation needs neither padding nor mask
// and cannot do better.
Tensor offsets(bool even) {
  grm::Stream stream = grm::Rng(1).stream("sizes");
  std::vector<int64_t> at = {0};
  for (int64_t g = 0; g < kGraphs; ++g) {
    const bool full = even || stream.uniform() < 0.34;
    at.push_back(at.back() + (full ? kNodes : 2 + static_cast<int64_t>(stream.below(kNodes - 2))));
  }
  return torch::tensor(at, torch::kInt64);
}

Tensor logit_features(int64_t rows, int64_t d) {
  return normal({rows, d}, "f") / std::sqrt(static_cast<double>(d));
}

// s, e, ...: [graphs, nodes, nodes].
std::pair<Tensor, Tensor> batched(const Tensor& f, const Tensor& x, const Tensor& pair_mask) {
  const Tensor s = torch::bmm(f, f.transpose(1, 2));
  Tensor e = torch::sigmoid(s);
  Tensor kl = e * (-torch::softplus(-s) - std::log(kTheta)) +
              (1 - e) * (-torch::softplus(s) - std::log(1 - kTheta));
  if (!pair_mask.defined()) {
    const Tensor scale = e.sum(2).rsqrt();
    return {torch::bmm(scale.unsqueeze(2) * e * scale.unsqueeze(1), x), kl.mean({1, 2})};
  }
  e = e * pair_mask;
  const Tensor degree = e.sum(2), scale = torch::where(degree > 0, degree, 1.0).rsqrt();
  return {torch::bmm(scale.unsqueeze(2) * e * scale.unsqueeze(1), x),
          (kl * pair_mask).sum({1, 2}) / pair_mask.sum({1, 2})};
}

// Rows to [graphs, nodes, d] and back; what belongs to the batch alone is made once.
struct Padding {
  Tensor slot;       // [rows], place of each row among graphs * nodes
  Tensor pair_mask;  // [graphs, nodes, nodes]
  explicit Padding(const Tensor& at) {
    Tensor mask = torch::zeros({kGraphs, kNodes});
    std::vector<int64_t> slots;
    for (int64_t g = 0; g < kGraphs; ++g) {
      const int64_t size = at[g + 1].item<int64_t>() - at[g].item<int64_t>();
      mask[g].narrow(0, 0, size).fill_(1);
      for (int64_t k = 0; k < size; ++k) slots.push_back(g * kNodes + k);
    }
    slot = torch::tensor(slots, torch::kInt64);
    pair_mask = mask.unsqueeze(2) * mask.unsqueeze(1);
  }
  Tensor padded(const Tensor& rows) const {
    return torch::zeros({kGraphs * kNodes, rows.size(1)})
        .index_copy(0, slot, rows)
        .view({kGraphs, kNodes, -1});
  }
  Tensor rows(const Tensor& batch) const {
    return batch.reshape({kGraphs * kNodes, -1}).index_select(0, slot);
  }
};

void add_generator(const std::string& name, bool even) {
  const Tensor at = offsets(even);
  const int64_t rows = at[-1].item<int64_t>();
  add(name, "ours", {128}, true, [=](int64_t d) {
    const Tensor f = leaf(logit_features(rows, d)), x = leaf(normal({rows, d}, "x"));
    const grm::ops::GeneratedTiles tiles = grm::ops::generated_tiles(at);
    return [=] { return grm::ops::generated_product_and_kl(tiles, f, x, true, kTheta, true); };
  });
  add(name, "batched", {128}, true, [=](int64_t d) -> grm::bench::Formulation {
    const Tensor f = leaf(logit_features(rows, d)), x = leaf(normal({rows, d}, "x"));
    if (even) {
      return [=] {
        return batched(f.view({kGraphs, kNodes, -1}), x.view({kGraphs, kNodes, -1}), Tensor());
      };
    }
    const Padding padding(at);
    return [=] {
      const auto [y, kl] = batched(padding.padded(f), padding.padded(x), padding.pair_mask);
      return std::make_pair(padding.rows(y), kl);
    };
  });
  add(name, "all_pairs", {128}, true, [=](int64_t d) {
    const Tensor f = leaf(logit_features(rows, d)), x = leaf(normal({rows, d}, "x"));
    grm::GraphBatch batch;
    batch.graphs = kGraphs;
    batch.node_offsets = at;
    batch.nodes = torch::arange(rows, torch::kInt64);
    return [=] {  // the pattern belongs to a step: ego-nets are drawn anew for each
      const grm::AdjacencyPtr pairs = grm::all_pairs(batch);
      const auto e = grm::ops::generate_edges(grm::ops::sddmm(pairs, f, f), kTheta);
      const Tensor y = grm::ops::spmm(pairs, grm::ops::normalise(pairs, e.weights), x);
      const Tensor pair_offsets = pairs->in.offsets.index_select(0, batch.node_offsets);
      return std::make_pair(y, grm::ops::segment_mean(pair_offsets, e.kl));
    };
  });
}

void add_latent() {
  add("latent_sample", "ours", {128}, true, [](int64_t d) {
    const Tensor heads = leaf(normal({kRows, 2 * d}, "heads")), eps = normal({kRows, d}, "eps");
    return [=] {
      const auto [z, kl] = grm::ops::latent_sample(heads, -1.0, eps);
      return std::make_pair(z, kl);
    };
  });
  add("latent_sample", "elementwise", {128}, true, [](int64_t d) {
    const Tensor heads = leaf(normal({kRows, 2 * d}, "heads")), eps = normal({kRows, d}, "eps");
    return [=] {
      const std::vector<Tensor> halves = heads.chunk(2, 1);
      const Tensor &mu = halves[0], log_sigma = (halves[1] - 1.0).clamp(-10, 4);
      const Tensor kl = (((2 * log_sigma).exp() + mu * mu - 1) / 2 - log_sigma).sum(1);
      return std::make_pair(mu + log_sigma.exp() * eps, kl);
    };
  });
  const auto index = [] { return torch::arange(kRows, torch::kInt64) * 7919 % kRows; };
  add("row_distance", "ours", {128}, true, [=](int64_t d) {
    const Tensor h = leaf(normal({kRows, d}, "h")), z = leaf(normal({kRows, d}, "z")), at = index();
    return [=] { return grm::ops::row_distance(h, z, at); };
  });
  add("row_distance", "elementwise", {128}, true, [=](int64_t d) {
    const Tensor h = leaf(normal({kRows, d}, "h")), z = leaf(normal({kRows, d}, "z")), at = index();
    return [=] { return ((h.index_select(0, at) - z).square().sum(1) + 1e-12).sqrt(); };
  });
}

void add_layers() {
  const auto pattern = [] {
    grm::Stream stream = grm::Rng(1).stream("pattern");
    std::vector<int64_t> source, target;
    for (int64_t k = 0; k < 30 * kRows; ++k) {
      source.push_back(static_cast<int64_t>(stream.below(kRows)));
      target.push_back(static_cast<int64_t>(stream.below(kRows)));
    }
    return grm::make_adjacency(kRows, kRows, torch::tensor(source, torch::kInt64),
                               torch::tensor(target, torch::kInt64));
  };
  add("propagate", "ours", {128}, true, [=](int64_t d) {
    const grm::AdjacencyPtr a = pattern();
    const Tensor x = leaf(normal({kRows, d}, "x")), bias = leaf(normal({d}, "bias"));
    const Tensor w = torch::rand({a->nnz()});
    return [=] { return grm::ops::propagate(a, w, x, bias, grm::ops::Activation::relu); };
  });
  add("propagate", "index_add", {128}, true, [=](int64_t d) {
    const grm::AdjacencyPtr a = pattern();
    const Tensor x = leaf(normal({kRows, d}, "x")), bias = leaf(normal({d}, "bias"));
    const Tensor w = torch::rand({a->nnz(), 1});
    Tensor source, target;
    std::tie(source, target) = grm::edge_list(*a);
    return [=] {
      const Tensor sum =
          torch::zeros({kRows, d}).index_add(0, target, x.index_select(0, source) * w);
      return torch::relu(sum + bias);
    };
  });
  struct Layer {
    explicit Layer(int64_t d) : set(grm::Rng(1)), norm(set, "norm", d) {}
    grm::nn::ParameterSet set;
    grm::nn::BatchNorm norm;
  };
  add("norm_relu_dropout", "ours", {128}, true, [](int64_t d) {
    const auto layer = std::make_shared<Layer>(d);
    const Tensor x = leaf(normal({kRows, d}, "x")), bias = leaf(normal({d}, "bias"));
    return [=] {
      grm::nn::Pass pass = grm::nn::Pass::train(grm::Stream(1));
      return grm::nn::norm_relu_dropout(layer->norm, x, bias, 0.3, pass);
    };
  });
  add("norm_relu_dropout", "libtorch", {128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({kRows, d}, "x")), bias = leaf(normal({d}, "bias"));
    const Tensor gamma = leaf(torch::ones({d})), beta = leaf(torch::zeros({d}));
    const Tensor mean = torch::zeros({d}), variance = torch::ones({d});
    return [=] {
      const Tensor y =
          torch::batch_norm(x + bias, gamma, beta, mean, variance, true, 0.1, 1e-5, false);
      return torch::dropout(torch::relu(y), 0.3, true);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  grm::bench::count_memory();
  add_generator("generator", false);
  add_generator("generator_even", true);
  add_latent();
  add_layers();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
