// The operators as cases of the harness, each with a reference in plain loops or plain libtorch.
#include <cmath>

#include "harness.h"
#include "ops/bias.h"
#include "ops/generate.h"
#include "ops/messages.h"
#include "ops/sparse.h"

namespace grm::test {
namespace {

using torch::Tensor;

// Calls body(e, j, i) for every pair j -> i, in edge order.
void each_pair(const Adjacency& a, const std::function<void(int64_t, int64_t, int64_t)>& body) {
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t e = a.in.offset()[i]; e < a.in.offset()[i + 1]; ++e) {
      body(e, a.in.index()[e], i);
    }
  }
}

Tensor naive_spmm(const Adjacency& a, const Tensor& w, const Tensor& x) {
  Tensor y = torch::zeros({a.rows(), x.size(1)}, torch::kFloat64);
  const auto from = x.accessor<double, 2>();
  auto to = y.accessor<double, 2>();
  each_pair(a, [&](int64_t e, int64_t j, int64_t i) {
    const double weight = w.defined() ? w.data_ptr<double>()[e] : 1.0;
    for (int64_t c = 0; c < x.size(1); ++c) to[i][c] += weight * from[j][c];
  });
  return y;
}

Tensor naive_row_sum(const Adjacency& a, const Tensor& w) {
  Tensor s = torch::zeros({a.rows()}, torch::kFloat64);
  each_pair(a, [&](int64_t e, int64_t, int64_t i) {
    s.data_ptr<double>()[i] += w.data_ptr<double>()[e];
  });
  return s;
}

Problem spmm_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("w", {a->nnz()}, s.type), normal("x", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::spmm(a, in[0], in[1])}; },
          [a](const Tensors& in) { return Tensors{naive_spmm(*a, in[0], in[1])}; }};
}

Problem spmm_ones_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("x", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::spmm(a, Tensor(), in[0])}; },
          [a](const Tensors& in) { return Tensors{naive_spmm(*a, Tensor(), in[0])}; }};
}

Problem sddmm_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  const auto naive = [a](const Tensors& in) {
    Tensor out = torch::zeros({a->nnz()}, torch::kFloat64);
    const auto p = in[0].accessor<double, 2>(), q = in[1].accessor<double, 2>();
    each_pair(*a, [&](int64_t e, int64_t j, int64_t i) {
      for (int64_t c = 0; c < in[0].size(1); ++c) out.data_ptr<double>()[e] += p[i][c] * q[j][c];
    });
    return Tensors{out};
  };
  return {{normal("p", {a->rows(), s.d}, s.type), normal("q", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::sddmm(a, in[0], in[1])}; },
          naive};
}

Problem add_bias_case(const Setting& s) {
  return {{normal("x", {s.pattern->rows(), s.d}, s.type), normal("bias", {s.d}, s.type)},
          [](const Tensors& in) { return Tensors{ops::add_bias(in[0], in[1])}; },
          [](const Tensors& in) { return Tensors{in[0] + in[1].unsqueeze(0)}; }};
}

Problem affine_case(const Setting& s) {
  return {{normal("x", {s.pattern->rows(), 5}, s.type), normal("w", {5, s.d}, s.type),
           normal("bias", {s.d}, s.type)},
          [](const Tensors& in) { return Tensors{ops::affine(in[0], in[1], in[2])}; },
          [](const Tensors& in) { return Tensors{in[0].matmul(in[1]) + in[2].unsqueeze(0)}; }};
}

// Every third row, last first, and rows that nobody asks for twice but the padding, which has no
// gradient: its rows are multiplied by 0 here.
Problem take_rows_case(const Setting& s) {
  const int64_t n = s.pattern->rows();
  std::vector<int64_t> index, inverse(static_cast<size_t>(n), -1);
  for (int64_t r = n - 1; r >= 0; r -= 3) {
    inverse[static_cast<size_t>(r)] = static_cast<int64_t>(index.size());
    index.push_back(r);
  }
  const auto kept = static_cast<int64_t>(index.size());
  if (n > 0) index.push_back(n - 1);
  const Tensor at = torch::tensor(index, torch::kInt64),
               back = torch::tensor(inverse, torch::kInt64);
  return {{normal("x", {n, s.d}, s.type)},
          [=](const Tensors& in) {
            return Tensors{ops::take_rows(in[0], at, back).narrow(0, 0, kept)};
          },
          [=](const Tensors& in) { return Tensors{in[0].index_select(0, at.narrow(0, 0, kept))}; }};
}

Problem row_sum_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("w", {a->nnz()}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::row_sum(a, in[0])}; },
          [a](const Tensors& in) { return Tensors{naive_row_sum(*a, in[0])}; }};
}

Problem normalise_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  const auto naive = [a](const Tensors& in) {
    const Tensor degree = naive_row_sum(*a, in[0]);
    const double* deg = degree.data_ptr<double>();
    Tensor out = torch::zeros({a->nnz()}, torch::kFloat64);
    each_pair(*a, [&](int64_t e, int64_t j, int64_t i) {
      const double product = deg[i] * deg[j];
      if (deg[i] > 0 && deg[j] > 0) {
        out.data_ptr<double>()[e] = in[0].data_ptr<double>()[e] / std::sqrt(product);
      }
    });
    return Tensors{out};
  };
  return {{positive("w", {a->nnz()}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::normalise(a, in[0])}; },
          naive};
}

Problem row_softmax_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  const auto naive = [a](const Tensors& in) {
    Tensor out = torch::empty_like(in[0]);
    for (int64_t i = 0; i < a->rows(); ++i) {
      const int64_t begin = a->in.offset()[i], count = a->in.offset()[i + 1] - begin;
      out.narrow(0, begin, count).copy_(torch::softmax(in[0].narrow(0, begin, count), 0));
    }
    return Tensors{out};
  };
  return {{3 * normal("s", {a->nnz(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::row_softmax(a, in[0])}; },
          naive};
}

Tensors naive_segments(const Tensor& offsets, const Tensor& x, bool mean) {
  std::vector<Tensor> rows;
  for (int64_t k = 0; k + 1 < offsets.numel(); ++k) {
    const int64_t begin = offsets[k].item<int64_t>(),
                  count = offsets[k + 1].item<int64_t>() - begin;
    const Tensor sum = x.narrow(0, begin, count).sum(0);
    rows.push_back(mean && count > 0 ? sum / static_cast<double>(count) : sum);
  }
  std::vector<int64_t> none = x.sizes().vec();
  none[0] = 0;
  return {rows.empty() ? torch::zeros(none, torch::kFloat64) : torch::stack(rows)};
}

Problem segment_sum_case(const Setting& s) {
  const Tensor offsets = s.pattern->in.offsets;
  return {{normal("x", {s.pattern->nnz(), s.d}, s.type)},
          [=](const Tensors& in) { return Tensors{ops::segment_sum(offsets, in[0])}; },
          [=](const Tensors& in) { return naive_segments(offsets, in[0], false); }};
}

Problem segment_mean_case(const Setting& s) {
  const Tensor offsets = s.pattern->in.offsets;
  return {{normal("x", {s.pattern->nnz(), s.d}, s.type)},
          [=](const Tensors& in) { return Tensors{ops::segment_mean(offsets, in[0])}; },
          [=](const Tensors& in) { return naive_segments(offsets, in[0], true); }};
}

Problem segment_mean_vector_case(const Setting& s) {
  const Tensor offsets = s.pattern->in.offsets;
  return {{normal("x", {s.pattern->nnz()}, s.type)},
          [=](const Tensors& in) { return Tensors{ops::segment_mean(offsets, in[0])}; },
          [=](const Tensors& in) { return naive_segments(offsets, in[0], true); }};
}

Problem gather_rows_case(const Setting& s) {
  const Tensor index = s.pattern->in.indices.to(torch::kInt64);  // repeats, in no order
  return {{normal("x", {s.pattern->cols(), s.d}, s.type)},
          [=](const Tensors& in) { return Tensors{ops::gather_rows(in[0], index)}; },
          [=](const Tensors& in) { return Tensors{in[0].index_select(0, index)}; }};
}

// X = [S | D] - 1 shift^T written out.
Tensor naive_features(const Adjacency& a, const Tensor& values, const Tensor& dense,
                      const Tensor& shift) {
  Tensor x = torch::zeros({a.rows(), a.cols()}, torch::kFloat64);
  each_pair(a, [&](int64_t e, int64_t j, int64_t i) {
    x[i][j] = values.defined() ? values.data_ptr<double>()[e] : 1.0;
  });
  return (dense.defined() ? torch::cat({x, dense}, 1) : x) - shift;
}

Problem feature_linear_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  const int64_t width = a->cols() + 4;
  return {{normal("values", {a->nnz()}, s.type), normal("dense", {a->rows(), 4}, s.type),
           normal("shift", {width}, s.type), normal("w", {width, s.d}, s.type)},
          [a](const Tensors& in) {
            return Tensors{ops::feature_linear({a, in[0], in[1], in[2]}, in[3])};
          },
          [a](const Tensors& in) {
            return Tensors{naive_features(*a, in[0], in[1], in[2]).mm(in[3])};
          }};
}

Problem feature_linear_sparse_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("values", {a->nnz()}, s.type), normal("shift", {a->cols()}, s.type),
           normal("w", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) {
            return Tensors{ops::feature_linear({a, in[0], Tensor(), in[1]}, in[2])};
          },
          [a](const Tensors& in) {
            return Tensors{naive_features(*a, in[0], Tensor(), in[1]).mm(in[2])};
          }};
}

Problem feature_linear_ones_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("w", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) {
            return Tensors{ops::feature_linear({a, Tensor(), Tensor(), Tensor()}, in[0])};
          },
          [a](const Tensors& in) { return Tensors{naive_spmm(*a, Tensor(), in[0])}; }};
}

Problem feature_linear_dense_case(const Setting& s) {
  const int64_t rows = s.pattern->rows();
  return {{normal("dense", {rows, 5}, s.type), normal("shift", {5}, s.type),
           normal("w", {5, s.d}, s.type)},
          [](const Tensors& in) {
            return Tensors{ops::feature_linear({nullptr, Tensor(), in[0], in[1]}, in[2])};
          },
          [](const Tensors& in) { return Tensors{(in[0] - in[1]).mm(in[2])}; }};
}

constexpr double kTheta = 0.2;

Tensor naive_edge_kl(const Tensor& logits) {
  const Tensor e = torch::sigmoid(logits);
  return e * (e / kTheta).log() + (1 - e) * ((1 - e) / (1 - kTheta)).log();
}

Problem edge_kl_case(const Setting& s) {
  return {{3 * normal("logits", {s.pattern->nnz()}, s.type)},
          [](const Tensors& in) { return Tensors{ops::edge_kl(in[0], kTheta)}; },
          [](const Tensors& in) { return Tensors{naive_edge_kl(in[0])}; }};
}

Problem generate_edges_case(const Setting& s) {
  return {{3 * normal("logits", {s.pattern->nnz()}, s.type)},
          [](const Tensors& in) {
            const ops::GeneratedEdges edges = ops::generate_edges(in[0], kTheta);
            return Tensors{edges.weights, edges.kl};
          },
          [](const Tensors& in) {
            return Tensors{torch::sigmoid(in[0]), naive_edge_kl(in[0])};
          }};
}

Problem gaussian_kl_case(const Setting& s) {
  const int64_t rows = s.pattern->rows();
  return {{normal("mu", {rows, s.d}, s.type), normal("log_sigma", {rows, s.d}, s.type)},
          [](const Tensors& in) { return Tensors{ops::gaussian_kl(in[0], in[1])}; },
          [](const Tensors& in) {
            const Tensor terms = ((2 * in[1]).exp() + in[0] * in[0] - 1) / 2 - in[1];
            return Tensors{terms.sum(1)};
          }};
}

Tensor naive_relu_messages(const Adjacency& a, const Tensor& w, const Tensor& x, const Tensor& e) {
  Tensor y = torch::zeros({a.rows(), x.size(1)}, torch::kFloat64);
  const auto from = x.accessor<double, 2>(), edge = e.accessor<double, 2>();
  auto to = y.accessor<double, 2>();
  each_pair(a, [&](int64_t k, int64_t j, int64_t i) {
    const double weight = w.defined() ? w.data_ptr<double>()[k] : 1.0;
    for (int64_t c = 0; c < x.size(1); ++c) {
      to[i][c] += weight * std::max(0.0, from[j][c] + edge[k][c]);
    }
  });
  return y;
}

Problem relu_messages_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("w", {a->nnz()}, s.type), normal("x", {a->cols(), s.d}, s.type),
           normal("e", {a->nnz(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::relu_messages(a, in[0], in[1], in[2])}; },
          [a](const Tensors& in) { return Tensors{naive_relu_messages(*a, in[0], in[1], in[2])}; }};
}

Problem relu_messages_ones_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {
      {normal("x", {a->cols(), s.d}, s.type), normal("e", {a->nnz(), s.d}, s.type)},
      [a](const Tensors& in) { return Tensors{ops::relu_messages(a, Tensor(), in[0], in[1])}; },
      [a](const Tensors& in) { return Tensors{naive_relu_messages(*a, Tensor(), in[0], in[1])}; }};
}

Problem relu_messages_no_edges_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  return {{normal("w", {a->nnz()}, s.type), normal("x", {a->cols(), s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::relu_messages(a, in[0], in[1], Tensor())}; },
          [a](const Tensors& in) { return Tensors{naive_spmm(*a, in[0], torch::relu(in[1]))}; }};
}

Problem pair_scores_case(const Setting& s) {
  const AdjacencyPtr a = s.pattern;
  const auto naive = [a](const Tensors& in) {
    Tensor out = torch::zeros({a->nnz()}, torch::kFloat64);
    const auto p = in[0].accessor<double, 2>(), q = in[1].accessor<double, 2>();
    each_pair(*a, [&](int64_t e, int64_t j, int64_t i) {
      for (int64_t c = 0; c < in[0].size(1); ++c) {
        out.data_ptr<double>()[e] += in[2].data_ptr<double>()[c] * std::max(0.0, p[j][c] + q[i][c]);
      }
    });
    return Tensors{out};
  };
  return {{normal("p", {a->cols(), s.d}, s.type), normal("q", {a->rows(), s.d}, s.type),
           normal("v", {s.d}, s.type)},
          [a](const Tensors& in) { return Tensors{ops::pair_scores(a, in[0], in[1], in[2])}; },
          naive};
}

Problem segment_max_case(const Setting& s) {
  const Tensor offsets = s.pattern->in.offsets;
  const auto naive = [offsets](const Tensors& in) {
    Tensor y = torch::zeros({offsets.numel() - 1, in[0].size(1)}, torch::kFloat64);
    for (int64_t k = 0; k + 1 < offsets.numel(); ++k) {
      const int64_t begin = offsets[k].item<int64_t>(),
                    count = offsets[k + 1].item<int64_t>() - begin;
      if (count > 0) y[k].copy_(in[0].narrow(0, begin, count).amax(0));
    }
    return Tensors{y};
  };
  return {{normal("x", {s.pattern->nnz(), s.d}, s.type)},
          [=](const Tensors& in) { return Tensors{ops::segment_max(offsets, in[0])}; },
          naive};
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = {
      {"spmm", false, spmm_case},
      {"spmm_ones", false, spmm_ones_case},
      {"sddmm", false, sddmm_case},
      {"row_sum", false, row_sum_case},
      {"add_bias", false, add_bias_case},
      {"affine", false, affine_case, true},
      {"normalise", true, normalise_case},
      {"row_softmax", false, row_softmax_case},
      {"segment_sum", false, segment_sum_case},
      {"segment_mean", false, segment_mean_case},
      {"segment_mean_vector", false, segment_mean_vector_case},
      {"gather_rows", false, gather_rows_case},
      {"take_rows", false, take_rows_case},
      {"feature_linear", false, feature_linear_case, true},
      {"feature_linear_sparse", false, feature_linear_sparse_case},
      {"feature_linear_ones", false, feature_linear_ones_case},
      {"feature_linear_dense", false, feature_linear_dense_case, true},
      {"edge_kl", false, edge_kl_case},
      {"generate_edges", false, generate_edges_case},
      {"gaussian_kl", false, gaussian_kl_case},
      {"relu_messages", false, relu_messages_case},
      {"relu_messages_ones", false, relu_messages_ones_case},
      {"relu_messages_no_edges", false, relu_messages_no_edges_case},
      {"pair_scores", false, pair_scores_case},
      {"segment_max", false, segment_max_case},
  };
  return cases;
}

}  // namespace grm::test
