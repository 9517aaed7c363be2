#include "nn/backbone.h"

#include <gmock/gmock.h>

#include <cmath>

#include "checks.h"
#include "grm/core/error.h"
#include "nn/losses.h"

namespace grm::nn {
namespace {

using test::expect_close;
using test::graph_of;
using test::small_features;
using test::small_graph;
using test::uniform;

BackboneOptions small_options(BackboneKind kind, int64_t layers = 2) {
  BackboneOptions options;
  options.backbone = kind;
  options.hidden = 4;
  options.layers = layers;
  options.heads = 2;
  return options;
}

std::vector<BackboneKind> kinds_of_ours() {
  std::vector<BackboneKind> kinds;
  for (const BackboneEntry& entry : backbones()) kinds.push_back(entry.kind);
  return kinds;
}

class EveryBackbone : public testing::TestWithParam<BackboneKind> {};

INSTANTIATE_TEST_SUITE_P(Table, EveryBackbone, testing::ValuesIn(kinds_of_ours()),
                         [](const auto& chosen) { return to_string(chosen.param); });

TEST(Backbone, TheTableIsInTheOrderOfTheKinds) {
  std::vector<BackboneKind> kinds = kinds_of_ours();
  kinds.push_back(BackboneKind::own);
  EXPECT_EQ(kinds, all_values<BackboneKind>());
}

TEST_P(EveryBackbone, GradientsAgreeWithFiniteDifferences) {
  for (const int64_t layers : {1, 2, 3}) {
    ParameterSet set(Rng(2), torch::kFloat64);
    const auto backbone = make_backbone(set, "b", small_options(GetParam(), layers), 6, 2);
    const BackboneInput input{small_graph(), small_features(), {}};
    const torch::Tensor y = torch::tensor({0, 1, 1, 0, 1, 0, 1}, torch::dtype(torch::kInt64));
    test::expect_gradients(
        [&] {
          Pass pass = Pass::train(Stream(3));  // the same masks in every pass
          return supervised_loss(LossKind::binary_pair, backbone->forward(input, pass).logits, y);
        },
        set.parameters());
  }
}

TEST_P(EveryBackbone, ShapesAreThoseOfTheContractAndIsolatedNodesStayFinite) {
  ParameterSet set(Rng(2), torch::kFloat64);
  BackboneOptions options = small_options(GetParam());
  options.dropout = 0.3;
  const auto backbone = make_backbone(set, "b", options, 6, 3);
  const BackboneInput isolated{graph_of(7, {}, {}), small_features(), {}};
  const BackboneInput looped{graph_of(7, {0, 1, 2}, {0, 1, 2}), small_features(), {}};
  for (const BackboneInput& input : {isolated, looped}) {
    Pass train = Pass::train(Stream(3)), evaluate = Pass::evaluate();
    for (Pass* pass : {&train, &evaluate}) {
      const BackboneOutput out = backbone->forward(input, *pass);
      EXPECT_EQ(out.logits.sizes(), at::IntArrayRef({7, 3}));
      const bool heads = GetParam() == BackboneKind::gat || GetParam() == BackboneKind::gatv2;
      EXPECT_EQ(out.hidden.sizes(), at::IntArrayRef({7, heads ? 8 : 4}));
      EXPECT_TRUE(torch::isfinite(out.logits).all().item<bool>());
      if (pass->training()) out.logits.pow(2).sum().backward();
    }
  }
  for (const auto& [name, tensor] : set.parameters()) {
    EXPECT_TRUE(torch::isfinite(tensor.grad()).all().item<bool>()) << name;
  }
}

TEST_P(EveryBackbone, SingleNodeGraphTrainsWithoutNan) {
  ParameterSet set(Rng(2), torch::kFloat64);
  const auto backbone = make_backbone(set, "b", small_options(GetParam()), 6, 2);
  Pass pass = Pass::train(Stream(3));
  const BackboneInput input{graph_of(1, {}, {}), small_features(1), {}};
  const torch::Tensor logits = backbone->forward(input, pass).logits;
  logits.sum().backward();
  EXPECT_TRUE(torch::isfinite(logits).all().item<bool>());
  for (const auto& [name, tensor] : set.buffers()) {
    EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>()) << name;
  }
}

TEST_P(EveryBackbone, SparseAndDenseFormsOfTheSameFeaturesGiveTheSameLogits) {
  ParameterSet set(Rng(2), torch::kFloat64);
  const auto backbone = make_backbone(set, "b", small_options(GetParam()), 6, 2);
  const Features x = small_features();
  const auto [column, row] = edge_list(*x.sparse);
  torch::Tensor whole = torch::zeros({7, 6}, torch::kFloat64);
  whole.index_put_({row, column}, x.sparse_values);
  whole.narrow(1, 4, 2).copy_(x.dense);
  whole -= x.shift;
  Pass a = Pass::evaluate(), b = Pass::evaluate();
  const AdjacencyPtr edges = small_graph();
  expect_close(backbone->forward({edges, x, {}}, a).logits,
               backbone->forward({edges, test::dense_features(whole), {}}, b).logits, 1e-12);
}

TEST_P(EveryBackbone, EvaluationIsRepeatableAndTrainingDependsOnTheKeyOnly) {
  ParameterSet set{Rng(2)};
  BackboneOptions options = small_options(GetParam());
  options.dropout = 0.5;
  const auto backbone = make_backbone(set, "b", options, 6, 2);
  Features x = small_features();
  x.sparse_values = x.sparse_values.to(torch::kFloat32);
  x.dense = x.dense.to(torch::kFloat32);
  x.shift = x.shift.to(torch::kFloat32);
  const BackboneInput input{small_graph(), x, {}};
  const auto logits = [&](Pass pass) { return backbone->forward(input, pass).logits; };
  EXPECT_TRUE(torch::equal(logits(Pass::evaluate()), logits(Pass::evaluate())));
  EXPECT_TRUE(torch::equal(logits(Pass::train(Stream(4))), logits(Pass::train(Stream(4)))));
  EXPECT_FALSE(torch::equal(logits(Pass::train(Stream(4))), logits(Pass::train(Stream(5)))));
}

TEST_P(EveryBackbone, InputDropoutIsThatOfTheFeaturesWhileTraining) {
  ParameterSet set{Rng(2), torch::kFloat64}, same{Rng(2), torch::kFloat64};
  BackboneOptions options = small_options(GetParam());
  const auto plain = make_backbone(same, "b", options, 6, 2);
  options.input_dropout = 0.5;
  const auto dropping = make_backbone(set, "b", options, 6, 2);
  const Features x = small_features();
  SharedProduct shared;
  const BackboneInput input{small_graph(), x, {}, &shared};
  Pass a = Pass::evaluate(), b = Pass::evaluate();
  expect_close(dropping->forward(input, a).logits, plain->forward({small_graph(), x, {}}, b).logits,
               0);
  // The first two masks of a pass are those of the sparse and of the dense part.
  Pass masks = Pass::train(Stream(4));
  Features dropped = x;
  dropped.sparse_values = masks.dropout(x.sparse_values, 0.5);
  dropped.dense = masks.dropout(x.dense, 0.5);
  Pass c = Pass::train(Stream(4)), d = Pass::train(Stream(4));
  for (int k = 0; k < 2; ++k) d.next_key(0.5);  // what the network draws itself comes after them
  EXPECT_FALSE(torch::equal(dropped.dense, x.dense));
  expect_close(dropping->forward(input, c).logits,
               plain->forward({small_graph(), dropped, {}}, d).logits, 1e-12);
}

TEST_P(EveryBackbone, AnotherLayerDoesNotChangeTheDrawsOfTheOthers) {
  ParameterSet two{Rng(6)}, three{Rng(6)};
  make_backbone(two, "b", small_options(GetParam(), 2), 6, 2);
  make_backbone(three, "b", small_options(GetParam(), 3), 6, 2);
  const auto longer = three.snapshot();
  int64_t compared = 0;
  for (const auto& [name, tensor] : two.snapshot()) {
    if (!longer.count(name) || longer.at(name).sizes() != tensor.sizes()) continue;
    EXPECT_TRUE(torch::equal(tensor, longer.at(name))) << name;
    ++compared;
  }
  EXPECT_GE(compared, 1);
}

TEST_P(EveryBackbone, EdgeWeightsAreTakenByGcnAndSageAndRefusedByName) {
  ParameterSet set(Rng(2), torch::kFloat64);
  const auto backbone = make_backbone(set, "b", small_options(GetParam()), 6, 2);
  const AdjacencyPtr edges = small_graph();
  const torch::Tensor w = uniform({edges->nnz()}, 8, 0.5, 1.5);
  Pass pass = Pass::evaluate();
  if (GetParam() == BackboneKind::gcn || GetParam() == BackboneKind::sage ||
      GetParam() == BackboneKind::gin) {
    const torch::Tensor ones = torch::ones_like(w);
    const torch::Tensor plain = backbone->forward({edges, small_features(), {}}, pass).logits;
    expect_close(backbone->forward({edges, small_features(), ones}, pass).logits, plain, 1e-12);
    const torch::Tensor weighted = backbone->forward({edges, small_features(), w}, pass).logits;
    EXPECT_GT((weighted - plain).abs().max().item<double>(), 1e-3);
    EXPECT_THROW(backbone->forward({edges, small_features(), w.slice(0, 1)}, pass), Error);
  } else {
    try {
      backbone->forward({edges, small_features(), w}, pass);
      FAIL() << "edge weights were accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_THAT(error.what(), testing::HasSubstr("'" + to_string(GetParam()) + "'"));
    }
  }
}

TEST_P(EveryBackbone, FeaturesOfAnotherGraphAreRefused) {
  ParameterSet set(Rng(2), torch::kFloat64);
  const auto backbone = make_backbone(set, "b", small_options(GetParam()), 6, 2);
  Pass pass = Pass::evaluate();
  EXPECT_THROW(backbone->forward({small_graph(), small_features(5), {}}, pass), Error);
}

TEST(Backbone, UnknownNamesAreRefusedWithTheNearestOne) {
  BackboneOptions options;
  OptionList list;
  options.declare(list);
  try {
    list.set("method", "backbone", "gcm");
    FAIL() << "an unknown backbone was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'gcn'"));
  }
}

TEST(Backbone, OptionsAreDeclaredWithTheirDefaults) {
  BackboneOptions options;
  OptionList list;
  options.declare(list);
  list.set("method", "backbone", "gat");
  list.set("method", "layers", "5");
  EXPECT_EQ(options.backbone, BackboneKind::gat);
  EXPECT_EQ(options.layers, 5);
  EXPECT_THROW(list.set("method", "dropout", "1"), Error);
  EXPECT_THROW(list.set("method", "conv", "mean"), Error);
}

/// Edge weights reach the layers that the option names: gradients of the weights by differences,
/// and, for one layer, no influence of the weights unless the last layer is weighted.
TEST(Backbone, WeightsReachTheLastLayerOnlyWhenAsked) {
  for (const BackboneKind kind : {BackboneKind::gcn, BackboneKind::sage, BackboneKind::gin}) {
    for (const Conv conv : {Conv::sum, Conv::kipf}) {
      for (const bool last : {false, true}) {
        ParameterSet set(Rng(2), torch::kFloat64);
        BackboneOptions options = small_options(kind);
        options.conv = conv;
        options.weight_last_layer = last;
        const auto backbone = make_backbone(set, "b", options, 6, 2);
        options.layers = 1;
        const auto shallow = make_backbone(set, "s", options, 6, 2);
        const AdjacencyPtr edges = small_graph();
        const torch::Tensor w = set.parameter("w", uniform({edges->nnz()}, 8, 0.5, 1.5));
        const torch::Tensor r = uniform({7, 2}, 9);
        test::expect_gradients(
            [&] {
              Pass pass = Pass::train(Stream(3));
              return (backbone->forward({edges, small_features(), w}, pass).logits * r).sum();
            },
            {{"w", w}});
        Pass pass = Pass::evaluate();
        const torch::Tensor weighted = shallow->forward({edges, small_features(), w}, pass).logits;
        const torch::Tensor plain = shallow->forward({edges, small_features(), {}}, pass).logits;
        EXPECT_EQ(torch::equal(weighted, plain), !last)
            << to_string(kind) << " " << to_string(conv);
      }
    }
  }
}

}  // namespace
}  // namespace grm::nn
