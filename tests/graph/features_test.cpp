#include <gtest/gtest.h>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"

namespace grm {
namespace {

constexpr int64_t kRows = 7, kSparse = 5, kDense = 3;

torch::Tensor random_values(uint64_t key, at::IntArrayRef shape) {
  torch::Tensor values = torch::empty(shape, torch::kFloat32);
  Stream(key).fill_uniform(values.data_ptr<float>(), values.numel(), -2.0f, 3.0f);
  return values;
}

// Features with the asked parts, and beside them the dense matrix they stand for.
struct Case {
  Features x;
  torch::Tensor dense;  // [rows, width]
};

Case make_case(bool sparse, bool values, bool dense, bool shift) {
  Case made;
  std::vector<torch::Tensor> parts;
  if (sparse) {
    const torch::Tensor source = torch::tensor({0, 4, 2, 2, 1, 0}, torch::kInt64);
    const torch::Tensor target = torch::tensor({0, 0, 1, 3, 3, 6}, torch::kInt64);
    made.x.sparse = make_adjacency(kRows, kSparse, source, target);
    torch::Tensor block = torch::zeros({kRows, kSparse});
    // In edge order: rows ascending, columns ascending inside a row.
    const int64_t row[] = {0, 0, 1, 3, 3, 6}, column[] = {0, 4, 2, 1, 2, 0};
    if (values) made.x.sparse_values = random_values(1, {6});
    for (int64_t e = 0; e < 6; ++e) {
      block[row[e]][column[e]] = values ? made.x.sparse_values[e].item<float>() : 1.0f;
    }
    parts.push_back(block);
  }
  if (dense) {
    made.x.dense = random_values(2, {kRows, kDense});
    parts.push_back(made.x.dense);
  }
  made.dense = torch::cat(parts, 1);
  if (shift) {
    made.x.shift = random_values(3, {made.dense.size(1)});
    made.dense = made.dense - made.x.shift;
  }
  return made;
}

// All combinations that hold at least one part.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int mask = 0; mask < 16; ++mask) {
    const bool sparse = mask & 1, values = mask & 2, dense = mask & 4, shift = mask & 8;
    if ((sparse || dense) && (sparse || !values)) {
      cases.push_back(make_case(sparse, values, dense, shift));
    }
  }
  return cases;
}

TEST(Features, ToDenseIsSparsePartThenDensePartMinusShift) {
  for (const Case& c : all_cases()) {
    EXPECT_EQ(c.x.rows(), kRows);
    EXPECT_EQ(c.x.width(), c.dense.size(1));
    EXPECT_TRUE(torch::equal(c.x.to_dense(), c.dense));
  }
}

TEST(Features, ColumnMeanIsTheMeanOfTheDenseMatrix) {
  for (const Case& c : all_cases()) {
    const torch::Tensor expected = c.dense.to(torch::kFloat64).mean(0);
    const torch::Tensor mean = c.x.column_mean();
    EXPECT_EQ(mean.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::allclose(mean.to(torch::kFloat64), expected, 1e-6, 1e-6));
  }
}

TEST(Features, CentredSubtractsTheMeanWithoutTouchingTheParts) {
  for (const Case& c : all_cases()) {
    const Features centred = c.x.centred();
    EXPECT_TRUE(torch::allclose(centred.to_dense(), c.dense - c.dense.mean(0), 1e-5, 1e-5));
    EXPECT_EQ(centred.sparse, c.x.sparse);
    EXPECT_TRUE(!c.x.dense.defined() || centred.dense.is_same(c.x.dense));
    EXPECT_LT(centred.column_mean().abs().max().item<float>(), 1e-5f);
  }
}

TEST(Features, NonzerosCountsStoredNumbers) {
  EXPECT_EQ(make_case(true, false, false, true).x.nonzeros(), 6);
  EXPECT_EQ(make_case(true, true, true, false).x.nonzeros(), 6 + kRows * kDense);
  EXPECT_EQ(make_case(false, false, true, false).x.nonzeros(), kRows * kDense);
}

}  // namespace
}  // namespace grm
