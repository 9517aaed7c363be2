// Operators on sparse patterns beside their plain libtorch formulations, in one run. Compare the
// rows `<op>/<pass>/ours` with `<op>/<pass>/<formulation>`; bench/ops.sh does.
#include <cmath>

#include "compare.h"
#include "ops/generate.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace {

using grm::AdjacencyPtr;
using grm::bench::add;
using grm::bench::leaf;
using grm::bench::normal;
using torch::Tensor;

constexpr int64_t kRows = 10000, kPairs = 300000;

// About the size of Twitch DE: 10,000 nodes, 300,000 pairs, degrees by a power law.
struct Data {
  AdjacencyPtr pattern;
  Tensor source, target, w;
  Data() {
    grm::Stream stream = grm::Rng(1).stream("pattern");
    const auto draw = [&] {
      return std::min<int64_t>(kRows - 1,
                               static_cast<int64_t>(kRows * std::pow(stream.uniform(), 2)));
    };
    // One relabelling for both ends: popular nodes lie anywhere in memory.
    const std::vector<int64_t> label = stream.choose(kRows, kRows);
    std::vector<int64_t> s(kPairs), t(kPairs);
    for (int64_t k = 0; k < kPairs; ++k) {
      s[k] = label[draw()];
      t[k] = label[draw()];
    }
    pattern = grm::make_adjacency(kRows, kRows, torch::tensor(s, torch::kInt64),
                                  torch::tensor(t, torch::kInt64));
    std::tie(source, target) = grm::edge_list(*pattern);
    w = torch::rand({pattern->nnz()}) + 0.1;
  }
};

const Data& data() {
  static const Data instance;
  return instance;
}

void add_products() {
  const std::vector<int64_t> widths = {32, 128, 256};
  add("spmm", "ours", widths, true, [](int64_t d) {
    const Tensor w = leaf(data().w), x = leaf(normal({kRows, d}, "x"));
    return [=] { return grm::ops::spmm(data().pattern, w, x); };
  });
  add("spmm", "index_add", widths, true, [](int64_t d) {
    const Tensor w = leaf(data().w), x = leaf(normal({kRows, d}, "x"));
    return [=] {
      const Tensor messages = x.index_select(0, data().source) * w.unsqueeze(1);
      return torch::zeros({kRows, x.size(1)}).index_add(0, data().target, messages);
    };
  });
  add("spmm", "torch_csr", widths, false, [](int64_t d) {
    const Tensor x = normal({kRows, d}, "x");
    const Tensor csr = torch::sparse_csr_tensor(data().pattern->in.offsets,
                                                data().pattern->in.indices.to(torch::kInt64),
                                                data().w, {kRows, kRows}, torch::kFloat32);
    return [=] { return csr.matmul(x); };
  });
  add("spmm", "torch_coo", widths, false, [](int64_t d) {
    const Tensor x = normal({kRows, d}, "x");
    const Tensor coo = torch::sparse_coo_tensor(torch::stack({data().target, data().source}),
                                                data().w, {kRows, kRows})
                           .coalesce();
    return [=] { return torch::mm(coo, x); };
  });
  add("sddmm", "ours", widths, true, [](int64_t d) {
    const Tensor p = leaf(normal({kRows, d}, "p")), q = leaf(normal({kRows, d}, "q"));
    return [=] { return grm::ops::sddmm(data().pattern, p, q); };
  });
  add("sddmm", "gather", widths, true, [](int64_t d) {
    const Tensor p = leaf(normal({kRows, d}, "p")), q = leaf(normal({kRows, d}, "q"));
    return [=] {
      return (p.index_select(0, data().target) * q.index_select(0, data().source)).sum(1);
    };
  });
}

void add_edges() {
  add("row_sum", "ours", {1}, true, [](int64_t) {
    const Tensor w = leaf(data().w);
    return [=] { return grm::ops::row_sum(data().pattern, w); };
  });
  add("row_sum", "index_add", {1}, true, [](int64_t) {
    const Tensor w = leaf(data().w);
    return [=] { return torch::zeros({kRows}).index_add(0, data().target, w); };
  });
  add("normalise", "ours", {1}, true, [](int64_t) {
    const Tensor w = leaf(data().w);
    return [=] { return grm::ops::normalise(data().pattern, w); };
  });
  add("normalise", "index_add", {1}, true, [](int64_t) {
    const Tensor w = leaf(data().w);
    return [=] {
      const Tensor scale = torch::zeros({kRows}).index_add(0, data().target, w).rsqrt();
      return w * scale.index_select(0, data().target) * scale.index_select(0, data().source);
    };
  });
  add("row_softmax", "ours", {1, 4}, true, [](int64_t heads) {
    const Tensor s = leaf(normal({data().pattern->nnz(), heads}, "s"));
    return [=] { return grm::ops::row_softmax(data().pattern, s); };
  });
  add("row_softmax", "index_add", {1, 4}, true, [](int64_t heads) {
    // No row maximum is subtracted: libtorch 1.13 has no cheap one. Ours does subtract it.
    const Tensor s = leaf(normal({data().pattern->nnz(), heads}, "s"));
    return [=] {
      const Tensor e = s.exp();
      const Tensor total = torch::zeros({kRows, heads}).index_add(0, data().target, e);
      return e / total.index_select(0, data().target);
    };
  });
}

void add_rows() {
  add("segment_mean", "ours", {1, 128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({data().pattern->nnz(), d}, "x"));
    return [=] { return grm::ops::segment_mean(data().pattern->in.offsets, x); };
  });
  add("segment_mean", "index_add", {1, 128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({data().pattern->nnz(), d}, "x"));
    const Tensor count = data().pattern->in.offsets.diff().clamp_min(1).to(torch::kFloat32);
    return [=] {
      return torch::zeros({kRows, d}).index_add(0, data().target, x) / count.unsqueeze(1);
    };
  });
  add("gather_rows", "ours", {128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({kRows, d}, "x"));
    const Tensor index = data().source.narrow(0, 0, 20000).contiguous();
    return [=] { return grm::ops::gather_rows(x, index); };
  });
  add("gather_rows", "index_select", {128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({kRows, d}, "x"));
    const Tensor index = data().source.narrow(0, 0, 20000).contiguous();
    return [=] { return x.index_select(0, index); };
  });
  // 10,000 nodes with 20 of 3,170 columns set, centred.
  const auto features = [] {
    grm::Stream stream = grm::Rng(1).stream("features");
    std::vector<int64_t> column, row;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t c : stream.choose(3170, 20)) {
        column.push_back(c);
        row.push_back(i);
      }
    }
    grm::Features x;
    x.sparse = grm::make_adjacency(kRows, 3170, torch::tensor(column, torch::kInt64),
                                   torch::tensor(row, torch::kInt64));
    return x.centred();
  };
  add("feature_linear", "ours", {128}, true, [=](int64_t d) {
    const grm::Features x = features();
    const Tensor w = leaf(normal({3170, d}, "w"));
    return [=] { return grm::ops::feature_linear(x, w); };
  });
  add("feature_linear", "dense", {128}, true, [=](int64_t d) {
    const Tensor x = features().to_dense();
    const Tensor w = leaf(normal({3170, d}, "w"));
    return [=] { return x.mm(w); };
  });
}

void add_messages() {
  add("relu_messages", "ours", {32, 128}, true, [](int64_t d) {
    const Tensor w = leaf(data().w), x = leaf(normal({kRows, d}, "x"));
    const Tensor e = leaf(normal({data().pattern->nnz(), d}, "e"));
    return [=] { return grm::ops::relu_messages(data().pattern, w, x, e); };
  });
  add("relu_messages", "index_add", {32, 128}, true, [](int64_t d) {
    const Tensor w = leaf(data().w), x = leaf(normal({kRows, d}, "x"));
    const Tensor e = leaf(normal({data().pattern->nnz(), d}, "e"));
    return [=] {
      const Tensor m = torch::relu(x.index_select(0, data().source) + e) * w.unsqueeze(1);
      return torch::zeros({kRows, x.size(1)}).index_add(0, data().target, m);
    };
  });
  add("pair_scores", "ours", {32, 128}, true, [](int64_t d) {
    const Tensor p = leaf(normal({kRows, d}, "p")), q = leaf(normal({kRows, d}, "q"));
    const Tensor v = leaf(normal({d}, "v"));
    return [=] { return grm::ops::pair_scores(data().pattern, p, q, v); };
  });
  add("pair_scores", "gather", {32, 128}, true, [](int64_t d) {
    const Tensor p = leaf(normal({kRows, d}, "p")), q = leaf(normal({kRows, d}, "q"));
    const Tensor v = leaf(normal({d}, "v"));
    return [=] {
      const Tensor m = p.index_select(0, data().source) + q.index_select(0, data().target);
      return torch::mv(torch::relu(m), v);
    };
  });
  add("segment_max", "ours", {32, 128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({data().pattern->nnz(), d}, "x"));
    return [=] { return grm::ops::segment_max(data().pattern->in.offsets, x); };
  });
  add("segment_max", "index_reduce", {32, 128}, true, [](int64_t d) {
    const Tensor x = leaf(normal({data().pattern->nnz(), d}, "x"));
    return [=] {
      return torch::zeros({kRows, d})
          .index_reduce(0, data().target, x, "amax",
                        /*include_self=*/false);
    };
  });
}

void add_divergences() {
  constexpr int64_t kLogits = 500 * 21 * 21;
  const auto kl_by_softplus = [](const Tensor& s) {
    const Tensor e = torch::sigmoid(s);
    return e * (-torch::softplus(-s) - std::log(0.3)) +
           (1 - e) * (-torch::softplus(s) - std::log(0.7));
  };
  add("generate_edges", "ours", {1}, true, [](int64_t) {
    const Tensor s = leaf(normal({kLogits}, "s"));
    return [=] {
      const grm::ops::GeneratedEdges edges = grm::ops::generate_edges(s, 0.3);
      return edges.weights + edges.kl;
    };
  });
  add("generate_edges", "softplus", {1}, true, [=](int64_t) {
    const Tensor s = leaf(normal({kLogits}, "s"));
    return [=] { return torch::sigmoid(s) + kl_by_softplus(s); };
  });
  add("edge_kl", "ours", {1}, true, [](int64_t) {
    const Tensor s = leaf(normal({kLogits}, "s"));
    return [=] { return grm::ops::edge_kl(s, 0.3); };
  });
  add("edge_kl", "softplus", {1}, true, [=](int64_t) {
    const Tensor s = leaf(normal({kLogits}, "s"));
    return [=] { return kl_by_softplus(s); };
  });
  add("gaussian_kl", "ours", {128}, true, [](int64_t d) {
    const Tensor mu = leaf(normal({kRows, d}, "mu")), log_sigma = leaf(normal({kRows, d}, "l"));
    return [=] { return grm::ops::gaussian_kl(mu, log_sigma); };
  });
  add("gaussian_kl", "elementwise", {128}, true, [](int64_t d) {
    const Tensor mu = leaf(normal({kRows, d}, "mu")), log_sigma = leaf(normal({kRows, d}, "l"));
    return [=] { return (((2 * log_sigma).exp() + mu * mu - 1) / 2 - log_sigma).sum(1); };
  });
}

}  // namespace

int main(int argc, char** argv) {
  grm::bench::count_memory();
  add_products();
  add_edges();
  add_rows();
  add_messages();
  add_divergences();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
