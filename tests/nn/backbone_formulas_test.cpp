// Whole backbones against their formulas written with dense matrices.
#include <cmath>

#include "checks.h"
#include "nn/backbone.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::small_graph;
using test::uniform;

class Formulas : public testing::Test {
 protected:
  Formulas() : edges_(small_graph()), x_(uniform({7, 6}, 41)), set_(Rng(3), torch::kFloat64) {
    a_ = test::dense_matrix(*edges_, {});
    const torch::Tensor looped = torch::clamp(a_ + torch::eye(7, torch::kFloat64), 0.0, 1.0);
    const torch::Tensor r = torch::rsqrt(looped.sum(1));
    kipf_ = r.unsqueeze(1) * looped * r;
  }

  BackboneOutput run(const BackboneOptions& options, const Pass& from, const Features& x,
                     const torch::Tensor& weights = {}) {
    backbone_ = make_backbone(set_, "", options, 6, 3);
    Pass pass = from;
    return backbone_->forward({edges_, x, weights}, pass);
  }
  BackboneOutput run(const BackboneOptions& options, const Pass& from = Pass::evaluate()) {
    return run(options, from, test::dense_features(x_));
  }

  torch::Tensor at(const std::string& name) const { return set_.snapshot().at(name); }

  static BackboneOptions named(BackboneKind kind, int64_t layers = 2) {
    BackboneOptions options;
    options.backbone = kind;
    options.layers = layers;
    options.hidden = 5;
    options.heads = 3;
    options.batch_norm = false;
    return options;
  }

  AdjacencyPtr edges_;
  torch::Tensor x_, a_, kipf_;
  ParameterSet set_;
  std::unique_ptr<Backbone> backbone_;
};

TEST_F(Formulas, Gcn) {
  for (const Conv conv : {Conv::sum, Conv::kipf}) {
    ParameterSet set(Rng(3), torch::kFloat64);
    BackboneOptions options = named(BackboneKind::gcn);
    options.conv = conv;
    const auto backbone = make_backbone(set, "net", options, 6, 3);
    Pass pass = Pass::evaluate();
    const BackboneOutput out = backbone->forward({edges_, test::dense_features(x_), {}}, pass);
    const auto tensors = set.snapshot();
    const torch::Tensor& p = conv == Conv::sum ? a_ : kipf_;
    const torch::Tensor h =
        torch::relu(p.mm(x_).mm(tensors.at("net.conv1.weight")) + tensors.at("net.conv1.bias"));
    expect_close(out.hidden, h, 1e-12);
    expect_close(out.logits,
                 p.mm(h).mm(tensors.at("net.conv2.weight")) + tensors.at("net.conv2.bias"), 1e-12);
  }
}

TEST_F(Formulas, GcnNormalisesOverTheRowsOfTheTrainingPass) {
  BackboneOptions options = named(BackboneKind::gcn);
  options.batch_norm = true;
  const BackboneOutput out = run(options, Pass::train(Stream(1)));
  const torch::Tensor z = kipf_.mm(x_).mm(at("conv1.weight"));
  const torch::Tensor y = (z - z.mean(0)) * torch::rsqrt(z.var(0, false) + 1e-5);
  expect_close(out.hidden, torch::relu(y), 1e-12);
  expect_close(at("norm1.mean"), 0.1 * z.mean(0), 1e-12);
}

TEST_F(Formulas, WeightedSageDividesByTheNumberOfPairs) {
  BackboneOptions options = named(BackboneKind::sage);
  options.weight_last_layer = true;
  const torch::Tensor w = uniform({edges_->nnz()}, 42, 0.5, 1.5);
  const BackboneOutput out = run(options, Pass::evaluate(), test::dense_features(x_), w);
  const torch::Tensor pairs = torch::clamp_min(a_.sum(1), 1.0).unsqueeze(1);
  const torch::Tensor m = test::dense_matrix(*edges_, w) / pairs;
  const torch::Tensor h = torch::relu(m.mm(x_).mm(at("conv1.neighbours.weight")) +
                                      at("conv1.neighbours.bias") + x_.mm(at("conv1.self.weight")));
  expect_close(out.hidden, h, 1e-12);
  expect_close(out.logits,
               m.mm(h).mm(at("conv2.neighbours.weight")) + at("conv2.neighbours.bias") +
                   h.mm(at("conv2.self.weight")),
               1e-12);
}

TEST_F(Formulas, Gat) {
  const BackboneOutput out = run(named(BackboneKind::gat));
  const torch::Tensor looped = torch::clamp(a_ + torch::eye(7, torch::kFloat64), 0.0, 1.0);
  const auto layer = [&](const torch::Tensor& x, const std::string& name, int64_t c) {
    std::vector<torch::Tensor> heads;
    for (int64_t t = 0; t < 3; ++t) {
      const torch::Tensor u = x.mm(at(name + ".weight").narrow(1, t * c, c));
      const torch::Tensor from = u.mv(at(name + ".source")[t]), to = u.mv(at(name + ".target")[t]);
      const torch::Tensor e = torch::leaky_relu(to.unsqueeze(1) + from, 0.2);
      const torch::Tensor alpha =
          torch::softmax(e.masked_fill(looped == 0, -std::numeric_limits<double>::infinity()), 1);
      heads.push_back(alpha.mm(u));
    }
    return heads;
  };
  const torch::Tensor h = torch::elu(torch::cat(layer(x_, "conv1", 5), 1) + at("conv1.bias"));
  expect_close(out.hidden, h, 1e-12);
  const auto last = layer(h, "conv2", 3);
  expect_close(out.logits, (last[0] + last[1] + last[2]) / 3 + at("conv2.bias"), 1e-12);
}

TEST_F(Formulas, Gpr) {
  const BackboneOutput out = run(named(BackboneKind::gpr));
  const torch::Tensor h = torch::relu(x_.mm(at("linear1.weight")) + at("linear1.bias"));
  torch::Tensor power = h.mm(at("linear2.weight")) + at("linear2.bias");
  torch::Tensor expected = torch::zeros_like(power);
  for (int64_t k = 0; k <= 10; ++k) {
    expected += (k < 10 ? 0.1 : 1.0) * std::pow(0.9, k) * power;
    power = kipf_.mm(power);
  }
  expect_close(out.hidden, h, 1e-12);
  expect_close(out.logits, expected, 1e-12);
}

TEST_F(Formulas, GprDropsHalfOfItsScoresInTrainingEvenAtRateZero) {
  // All coefficients but the first set to zero leave the dropped scores themselves.
  BackboneOptions options = named(BackboneKind::gpr);
  const torch::Tensor hidden = run(options).hidden;
  const torch::Tensor whole = hidden.mm(at("linear2.weight")) + at("linear2.bias");
  {
    at::NoGradGuard no_grad;
    auto state = set_.snapshot();
    state["coefficients"].zero_()[0] = 1.0;
    set_.restore(state);
  }
  Pass pass = Pass::train(Stream(2));
  const torch::Tensor dropped =
      backbone_->forward({edges_, test::dense_features(x_), {}}, pass).logits;
  const torch::Tensor kept = dropped != 0;
  EXPECT_GT(kept.sum().item<int64_t>(), 0);
  EXPECT_LT(kept.sum().item<int64_t>(), kept.numel());
  expect_close(dropped, 2 * whole * kept, 1e-12);
}

TEST_F(Formulas, GcniiReceivesFromOutNeighboursAndEndsInLogSoftmax) {
  const BackboneOutput out = run(named(BackboneKind::gcnii, 3));
  const torch::Tensor h0 = torch::relu(x_.mm(at("linear1.weight")) + at("linear1.bias"));
  torch::Tensor h = h0;
  for (int64_t l = 1; l <= 3; ++l) {
    const double theta = std::log(1 + 1.0 / static_cast<double>(l));
    const torch::Tensor s = 0.9 * kipf_.t().mm(h) + 0.1 * h0;
    h = torch::relu(theta * s.mm(at("conv" + std::to_string(l) + ".weight")) + (1 - theta) * s);
  }
  expect_close(out.hidden, h, 1e-12);
  const torch::Tensor scores = h.mm(at("linear2.weight")) + at("linear2.bias");
  expect_close(out.logits, torch::log_softmax(scores, 1), 1e-12);
}

TEST_F(Formulas, Mlp) {
  const BackboneOutput out = run(named(BackboneKind::mlp));
  const torch::Tensor h = torch::relu(x_.mm(at("linear1.weight")) + at("linear1.bias"));
  expect_close(out.hidden, h, 1e-12);
  expect_close(out.logits, h.mm(at("linear2.weight")) + at("linear2.bias"), 1e-12);
}

TEST_F(Formulas, InputDropoutLeavesZerosAndTheShiftAlone) {
  // All sparse values 0: whatever the masks are, only the shift reaches the first layer.
  BackboneOptions options = named(BackboneKind::gcnii, 1);
  options.dropout = 0.9;
  Features x = test::small_features();
  x.sparse_values = torch::zeros_like(x.sparse_values);
  x.dense = torch::zeros_like(x.dense);
  run(options);
  const torch::Tensor h0 = torch::relu(at("linear1.bias") - x.shift.matmul(at("linear1.weight")));
  {
    at::NoGradGuard no_grad;
    auto state = set_.snapshot();
    state["conv1.weight"].zero_();
    set_.restore(state);
  }
  ASSERT_GT(h0.max().item<double>(), 0.0);
  const double theta = std::log(2.0);
  const torch::Tensor unpropagated = (1 - theta) * 0.1 * h0;
  Pass pass = Pass::train(Stream(7));
  const torch::Tensor hidden = backbone_->forward({edges_, x, {}}, pass).hidden;
  // Node 6 is isolated, so its s is 0.9 d h0 + 0.1 h0 with one dropout mask d in {0, 10}; the mask
  // after the layer is again 0 or 10.
  for (int64_t c = 0; c < 5; ++c) {
    const double unit = 10 * unpropagated[c].item<double>();
    const double value = hidden[6][c].item<double>();
    const double nearest =
        std::min({std::abs(value), std::abs(value - unit), std::abs(value - 91 * unit)});
    EXPECT_LT(nearest, 1e-12) << c;
  }
}

}  // namespace
}  // namespace grm::nn
