// Random label and feature generators. They run once per dataset in double precision and plain
// loops, so that labels do not depend on a BLAS or on the number of threads.
#include <torch/types.h>

#include <cmath>

#include "data/spurious.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr int64_t kHidden = 10;
constexpr int64_t kHeads = 2;
constexpr double kLeakySlope = 0.2;

torch::Tensor uniform(Stream& draws, std::vector<int64_t> shape, double bound) {
  torch::Tensor values = torch::empty(shape, torch::kFloat64);
  double* value = values.data_ptr<double>();
  for (int64_t k = 0; k < values.numel(); ++k) value[k] = draws.uniform(-bound, bound);
  return values;
}

torch::Tensor glorot(Stream& draws, int64_t rows, int64_t cols) {
  return uniform(draws, {rows, cols}, std::sqrt(6.0 / static_cast<double>(rows + cols)));
}

// X W for 0/1 features: the sum of the rows of W that a node has.
torch::Tensor times(const Adjacency& x, const torch::Tensor& weight) {
  const int64_t width = weight.size(1);
  torch::Tensor result = torch::zeros({x.rows(), width}, torch::kFloat64);
  const double* w = weight.data_ptr<double>();
  for (int64_t i = 0; i < x.rows(); ++i) {
    double* out = result.data_ptr<double>() + i * width;
    for (int64_t e = x.in.offset()[i]; e < x.in.offset()[i + 1]; ++e) {
      const double* row = w + x.in.index()[e] * width;
      for (int64_t c = 0; c < width; ++c) out[c] += row[c];
    }
  }
  return result;
}

torch::Tensor times(const torch::Tensor& x, const torch::Tensor& weight) {
  const int64_t inner = weight.size(0), width = weight.size(1);
  torch::Tensor result = torch::zeros({x.size(0), width}, torch::kFloat64);
  const double* w = weight.data_ptr<double>();
  for (int64_t i = 0; i < x.size(0); ++i) {
    const double* in = x.data_ptr<double>() + i * inner;
    double* out = result.data_ptr<double>() + i * width;
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t c = 0; c < width; ++c) out[c] += in[k] * w[k * width + c];
    }
  }
  return result;
}

// P H, with `loops` the pattern of A + I.
torch::Tensor propagate(const Adjacency& loops, const torch::Tensor& h) {
  const int64_t width = h.size(1);
  const int64_t* offset = loops.in.offset();
  const int32_t* source = loops.in.index();
  std::vector<double> scale(loops.rows());
  for (int64_t i = 0; i < loops.rows(); ++i) {
    scale[i] = 1.0 / std::sqrt(static_cast<double>(offset[i + 1] - offset[i]));
  }
  torch::Tensor result = torch::zeros_like(h);
  for (int64_t i = 0; i < loops.rows(); ++i) {
    double* out = result.data_ptr<double>() + i * width;
    for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
      const double weight = scale[i] * scale[source[e]];
      const double* in = h.data_ptr<double>() + source[e] * width;
      for (int64_t c = 0; c < width; ++c) out[c] += weight * in[c];
    }
  }
  return result;
}

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

// One attention layer on u = X W [n, heads * width]: each head's weighted sum over in-neighbours
// and the node itself, heads side by side.
torch::Tensor attend(const Adjacency& loops, const torch::Tensor& u, const torch::Tensor& source,
                     const torch::Tensor& target) {
  const int64_t n = loops.rows(), width = source.size(1), stride = kHeads * width;
  const double* in = u.data_ptr<double>();
  torch::Tensor result = torch::zeros_like(u);
  std::vector<double> from(n), to(n), alpha;
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t i = 0; i < n; ++i) {
      const double* row = in + i * stride + head * width;
      from[i] = dot(row, source.data_ptr<double>() + head * width, width);
      to[i] = dot(row, target.data_ptr<double>() + head * width, width);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t begin = loops.in.offset()[i], end = loops.in.offset()[i + 1];
      alpha.assign(end - begin, 0.0);
      double highest = -INFINITY, total = 0;
      for (int64_t e = begin; e < end; ++e) {
        const double score = from[loops.in.index()[e]] + to[i];
        alpha[e - begin] = score > 0 ? score : kLeakySlope * score;
        highest = std::max(highest, alpha[e - begin]);
      }
      for (double& a : alpha) total += a = std::exp(a - highest);
      double* out = result.data_ptr<double>() + i * stride + head * width;
      for (int64_t e = begin; e < end; ++e) {
        const double weight = alpha[e - begin] / total;
        const double* row = in + loops.in.index()[e] * stride + head * width;
        for (int64_t c = 0; c < width; ++c) out[c] += weight * row[c];
      }
    }
  }
  return result;
}

torch::Tensor mean_of_heads(const torch::Tensor& h) {
  const int64_t width = h.size(1) / kHeads;
  return (h.narrow(1, 0, width) + h.narrow(1, width, width)) / static_cast<double>(kHeads);
}

}  // namespace

RandomGenerator draw_generator(GeneratorFamily family, int64_t inputs, int64_t outputs,
                               Stream draws) {
  RandomGenerator generator{family, {}};
  std::vector<torch::Tensor>& w = generator.weights;
  if (family == GeneratorFamily::gcn) {
    w.push_back(glorot(draws, inputs, kHidden));
    w.push_back(glorot(draws, kHidden, outputs));
  } else if (family == GeneratorFamily::sgc) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    w.push_back(uniform(draws, {inputs, outputs}, bound));
    w.push_back(uniform(draws, {outputs}, bound));
  } else {
    w.push_back(glorot(draws, inputs, kHeads * kHidden));
    w.push_back(glorot(draws, kHeads, kHidden));
    w.push_back(glorot(draws, kHeads, kHidden));
    w.push_back(glorot(draws, kHeads * kHidden, kHeads * outputs));
    w.push_back(glorot(draws, kHeads, outputs));
    w.push_back(glorot(draws, kHeads, outputs));
  }
  return generator;
}

torch::Tensor run_generator(const RandomGenerator& generator, const Adjacency& edges,
                            const Adjacency& x) {
  const AdjacencyPtr loops = with_self_loops(edges);
  const std::vector<torch::Tensor>& w = generator.weights;
  if (generator.family == GeneratorFamily::gcn) {
    const torch::Tensor h = torch::relu(propagate(*loops, times(x, w[0])));
    return propagate(*loops, times(h, w[1]));
  }
  if (generator.family == GeneratorFamily::sgc) {
    return propagate(*loops, propagate(*loops, times(x, w[0]))) + w[1];
  }
  const torch::Tensor h = torch::elu(attend(*loops, times(x, w[0]), w[1], w[2]));
  return mean_of_heads(attend(*loops, times(h, w[3]), w[4], w[5]));
}

}  // namespace grm
