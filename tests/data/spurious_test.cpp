#include "data/spurious.h"

#include <torch/types.h>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

struct Example {
  AdjacencyPtr edges;
  AdjacencyPtr x;
};

// A random undirected graph with a few isolated nodes, and random 0/1 features.
Example random_example(uint64_t seed, int64_t n, int64_t d) {
  Stream draws(seed);
  std::vector<int64_t> source, target, column, row;
  for (int64_t e = 0; e < 2 * n; ++e) {
    const auto u = static_cast<int64_t>(draws.below(n - 2));
    const auto v = static_cast<int64_t>(draws.below(n - 2));
    if (u == v) continue;
    source.insert(source.end(), {u, v});
    target.insert(target.end(), {v, u});
  }
  for (int64_t i = 0; i < n; ++i) {
    for (const int64_t c : draws.choose(d, 4)) {
      row.push_back(i);
      column.push_back(c);
    }
  }
  return {make_adjacency(n, n, torch::tensor(source), torch::tensor(target)),
          make_adjacency(n, d, torch::tensor(column), torch::tensor(row))};
}

torch::Tensor dense_pattern(const Adjacency& pattern) {
  Features features;
  features.sparse = std::make_shared<Adjacency>(pattern);
  return features.to_dense().to(torch::kFloat64);
}

// D^-1/2 (A + I) D^-1/2 as a full matrix.
torch::Tensor dense_kipf(const Adjacency& edges) {
  torch::Tensor a = dense_pattern(edges) + torch::eye(edges.rows(), torch::kFloat64);
  const torch::Tensor scale = a.sum(1).rsqrt();
  return scale.unsqueeze(1) * a * scale.unsqueeze(0);
}

// One attention layer with full matrices; heads stay apart: [heads][n, width].
std::vector<torch::Tensor> dense_attention(const torch::Tensor& mask, const torch::Tensor& x,
                                           const torch::Tensor& weight, const torch::Tensor& from,
                                           const torch::Tensor& to) {
  std::vector<torch::Tensor> heads;
  for (int64_t head = 0; head < 2; ++head) {
    const int64_t width = from.size(1);
    const torch::Tensor u = x.matmul(weight.narrow(1, head * width, width));
    torch::Tensor score = u.matmul(to[head]).unsqueeze(1) + u.matmul(from[head]).unsqueeze(0);
    score = torch::leaky_relu(score, 0.2).masked_fill(mask.eq(0), -INFINITY);
    heads.push_back(torch::softmax(score, 1).matmul(u));
  }
  return heads;
}

torch::Tensor reference(const RandomGenerator& generator, const Example& example) {
  const std::vector<torch::Tensor>& w = generator.weights;
  const torch::Tensor p = dense_kipf(*example.edges), x = dense_pattern(*example.x);
  if (generator.family == GeneratorFamily::gcn) {
    return p.matmul(torch::relu(p.matmul(x).matmul(w[0]))).matmul(w[1]);
  }
  if (generator.family == GeneratorFamily::sgc) return p.matmul(p).matmul(x).matmul(w[0]) + w[1];
  const auto first = dense_attention(p, x, w[0], w[1], w[2]);
  const torch::Tensor h = torch::elu(torch::cat({first[0], first[1]}, 1));
  const auto last = dense_attention(p, h, w[3], w[4], w[5]);
  return (last[0] + last[1]) / 2;
}

class Families : public ::testing::TestWithParam<GeneratorFamily> {};
INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::ValuesIn(all_values<GeneratorFamily>()));

TEST_P(Families, GeneratorEqualsItsFormulaWithFullMatrices) {
  const Example example = random_example(5, 40, 15);
  const RandomGenerator generator = draw_generator(GetParam(), 15, 6, Stream(9));
  const torch::Tensor out = run_generator(generator, *example.edges, *example.x);
  EXPECT_EQ(out.sizes(), (std::vector<int64_t>{40, 6}));
  EXPECT_LT((out - reference(generator, example)).abs().max().item<double>(), 1e-12);
}

TEST_P(Families, WeightsFillTheirIntervalAndNothingBeyond) {
  const RandomGenerator generator = draw_generator(GetParam(), 300, 10, Stream(3));
  // Hidden width 10, two heads for gat: Glorot sqrt(6 / (in + out)); sgc 1 / sqrt(in).
  const double bound = GetParam() == GeneratorFamily::gcn   ? std::sqrt(6.0 / 310)
                       : GetParam() == GeneratorFamily::sgc ? 1 / std::sqrt(300.0)
                                                            : std::sqrt(6.0 / 320);
  const double highest = generator.weights[0].abs().max().item<double>();
  EXPECT_LE(highest, bound);
  EXPECT_GT(highest, 0.99 * bound);
}

TEST_P(Families, LabelsAreEqualInAllDomainsAndSpuriousColumnsDifferByOneConstantVector) {
  const Example example = random_example(6, 60, 20);
  Task task;
  task.name = "example";
  add_spurious_domains(task, example.edges, example.x,
                       draw_spurious(*example.edges, *example.x, GetParam(), 10, 4));
  ASSERT_EQ(task.training.size() + task.validation.size(), 2u);
  ASSERT_EQ(task.test.size(), 8u);
  const Domain& first = task.training[0];
  EXPECT_EQ(first.graph.x.width(), 30);
  for (const Role role : {Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      EXPECT_TRUE(torch::equal(domain.labels.y, first.labels.y));
      EXPECT_EQ(domain.graph.edges, first.graph.edges);
      const torch::Tensor difference = domain.graph.x.to_dense() - first.graph.x.to_dense();
      EXPECT_EQ(difference.narrow(1, 0, 20).abs().max().item<float>(), 0);
      const torch::Tensor columns = difference.narrow(1, 20, 10);
      EXPECT_LT((columns - columns[0]).abs().max().item<float>(), 1e-6);
      EXPECT_GT(columns[0].abs().max().item<float>(), 0.01) << "the domains do not differ";
    }
  }
}

TEST(Spurious, LabelsAreTheFirstMaximumOfTheLabelGenerator) {
  // Without any feature all outputs are zero, so the first class wins everywhere.
  const torch::Tensor none = torch::zeros({0}, torch::kInt64);
  const Example example = random_example(6, 30, 20);
  const AdjacencyPtr blank = make_adjacency(30, 20, none, none);
  EXPECT_EQ(draw_spurious(*example.edges, *blank, GeneratorFamily::gcn, 10, 0)
                .y.abs()
                .sum()
                .item<int64_t>(),
            0);
}

TEST(Spurious, OffsetsAreALinearLayerOfTheUnitVectors) {
  // N(u_e) = W[:, e] + b with all parts within 1/sqrt(10): sums stay within twice that.
  const Example example = random_example(6, 30, 20);
  const SpuriousDraw draw = draw_spurious(*example.edges, *example.x, GeneratorFamily::gcn, 400, 1);
  EXPECT_EQ(draw.offset.sizes(), (std::vector<int64_t>{10, 400}));
  EXPECT_LE(draw.offset.abs().max().item<double>(), 2 / std::sqrt(10.0));
  // The shared bias makes domains correlate: variance of the mean over domains is about that of b.
  const double shared = draw.offset.mean(0).var().item<double>();
  EXPECT_NEAR(shared, (1.0 / 10 / 3) * 1.1, 0.01);
}

TEST(Spurious, MixKeepsTheDomainOutOfTheSharedDensePart) {
  const Example example = random_example(7, 50, 20);
  const SpuriousDraw draw = draw_spurious(*example.edges, *example.x, GeneratorFamily::gcn, 20, 2);
  Task task;
  task.name = "example";
  add_mixed_domains(task, example.edges, example.x, draw, 0.3);
  const torch::Tensor x1 = dense_pattern(*example.x);
  for (int64_t e = 2; e < 10; ++e) {
    const Features& x = task.test[e - 2].graph.x;
    EXPECT_EQ(x.dense.data_ptr(), task.training[0].graph.x.dense.data_ptr());
    const torch::Tensor expected = x1 * 0.7 + (draw.base + draw.offset[e]) * 0.3;
    EXPECT_LT((x.to_dense() - expected).abs().max().item<double>(), 1e-6);
  }
}

TEST(Spurious, MixOfRatioZeroIsTheOriginalAndOfRatioOneTheSpuriousPart) {
  const Example example = random_example(7, 50, 20);
  const SpuriousDraw draw = draw_spurious(*example.edges, *example.x, GeneratorFamily::gcn, 20, 2);
  Task original, spurious;
  original.name = spurious.name = "example";
  add_mixed_domains(original, example.edges, example.x, draw, 0);
  add_mixed_domains(spurious, example.edges, example.x, draw, 1);
  const torch::Tensor x1 = dense_pattern(*example.x).to(torch::kFloat32);
  EXPECT_TRUE(torch::equal(original.test[3].graph.x.to_dense(), x1));
  const torch::Tensor x2 = draw.base + draw.offset[5];
  EXPECT_LT((spurious.test[3].graph.x.to_dense() - x2).abs().max().item<double>(), 1e-6);
}

TEST(Spurious, NotesTellTheLabelHistogram) {
  const Example example = random_example(6, 60, 20);
  Task task;
  task.name = "example";
  add_spurious_domains(task, example.edges, example.x,
                       draw_spurious(*example.edges, *example.x, GeneratorFamily::gcn, 10, 4));
  const torch::Tensor& y = task.training[0].labels.y;
  EXPECT_EQ(task.classes, y.max().item<int64_t>() + 1);
  int64_t most = 0;
  for (int64_t c = 0; c < 10; ++c) most = std::max(most, y.eq(c).sum().item<int64_t>());
  ASSERT_EQ(task.notes.size(), 1u);
  EXPECT_THAT(task.notes[0],
              ::testing::HasSubstr(fmt::format("majority share {:.3f}", double(most) / 60)));
}

}  // namespace
}  // namespace grm
