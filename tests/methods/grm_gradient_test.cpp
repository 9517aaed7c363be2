// The gradient of the whole GRM loss by central differences in double precision, for every kind of
// encoder, input, scope and pair set.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "methods/grm/model.h"
#include "small_task.h"

namespace grm {
namespace {

struct Case {
  std::string name, input, encoder, scope, support, domain_encoding, conv, readout;
  bool norm;
  std::string skip = "none", presence = "none";
  bool batch_norm = true;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class GrmGradient : public testing::TestWithParam<Case> {};

TEST_P(GrmGradient, EqualsFiniteDifferences) {
  const Case& c = GetParam();
  GrmOptions options;
  options.encoder_input = value_of<EncoderReads>(c.input).value();
  options.encoder = value_of<EncoderKind>(c.encoder).value();
  options.scope = value_of<Scope>(c.scope).value();
  options.edge_support = value_of<EdgeSupport>(c.support).value();
  options.domain_encoding = value_of<DomainPass>(c.domain_encoding).value();
  options.conv = value_of<nn::Conv>(c.conv).value();
  options.readout = value_of<Readout>(c.readout).value();
  options.encoder_norm = c.norm;
  options.skip = value_of<Skip>(c.skip).value();
  options.presence = value_of<Presence>(c.presence).value();
  options.presence_weight = 0.7;
  options.batch_norm = c.batch_norm;
  options.latent = 3;
  options.hidden = 4;
  options.edge_width = 3;
  options.decoder_width = 5;
  options.fanout = {3, 2};
  options.dropout = 0.0;
  options.alpha = 0.3;
  options.beta = 0.4;
  options.theta = 0.3;
  options.influence_length = 2.0;
  options.influence_paths = 1.0;
  options.influence = InfluenceSearch::exact;
  const Domain domain = test::small_domain(5);
  nn::ParameterSet set(Rng(11), torch::kFloat64);
  GrmModel model(set, options, domain.graph.x.width(), 2);
  torch::Tensor items, y = domain.labels.y;
  GraphBatch batch;
  if (options.scope == Scope::whole) {
    batch = whole_batch(domain.graph.edges);
    items = torch::tensor({0, 3, 5, 6}, torch::kInt64);
    y = y.index_select(0, items);
  } else {
    const torch::Tensor targets = torch::tensor({0, 4, 9}, torch::kInt64);
    batch = ego_batch(*domain.graph.edges, targets, options.fanout, Rng(3).stream("ego"));
    y = y.index_select(0, targets);
  }
  const PreparedBatch g = model.prepare(batch);
  torch::Tensor eps = torch::empty({g.batch.rows(), options.latent}, torch::kFloat64);
  Rng(7).stream("eps").fill_normal(eps.data_ptr<double>(), eps.numel());
  const auto loss = [&] {
    nn::Pass pass = nn::Pass::train(Stream(0));
    return model.losses(domain.graph, g, eps, LossKind::softmax, items, y, pass)
        .total(options, options.gamma(1));
  };
  loss().backward();
  const double h = 1e-6;
  int checked = 0;
  for (const auto& [name, parameter] : set.parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name << " is not part of the loss";
    const at::NoGradGuard no_grad;
    double* value = parameter.data_ptr<double>();
    const int64_t stride = std::max<int64_t>(1, parameter.numel() / 7);
    for (int64_t k = 0; k < parameter.numel(); k += stride) {
      const double before = value[k];
      value[k] = before + h;
      const double up = loss().item<double>();
      value[k] = before - h;
      const double down = loss().item<double>();
      value[k] = before;
      const double expected = (up - down) / (2 * h);
      const double got = parameter.grad().contiguous().data_ptr<double>()[k];
      EXPECT_NEAR(got, expected, 1e-6 * std::max(1.0, std::abs(expected)))
          << name << "[" << k << "]";
      ++checked;
    }
  }
  EXPECT_GT(checked, 30);
}

INSTANTIATE_TEST_SUITE_P(
    AllKinds, GrmGradient,
    testing::Values(
        Case{"paper", "concat", "gcn2", "ego", "all", "pooled", "kipf", "centre", false},
        Case{"paper_exact", "concat", "gcn2", "ego", "all", "exact", "kipf", "centre", false},
        Case{"raw_sum", "raw", "gcn2", "ego", "all", "pooled", "sum", "mean", false},
        Case{"centred_gcn1_norm", "centred", "gcn1", "ego", "observed", "pooled", "kipf", "centre",
             true},
        Case{"raw_mlp_norm", "raw", "mlp", "ego", "all", "pooled", "kipf", "centre", true},
        Case{"concat_linear", "concat", "linear", "ego", "all", "pooled", "kipf", "mean", false},
        Case{"centred_whole", "centred", "linear", "whole", "observed", "pooled", "kipf", "centre",
             false},
        Case{"skip", "raw", "gcn2", "ego", "all", "pooled", "kipf", "centre", false, "latent"},
        Case{"best", "centred", "linear", "whole", "observed", "pooled", "kipf", "centre", false,
             "latent"},
        Case{"raw_gcn2_whole", "raw", "gcn2", "whole", "observed", "exact", "kipf", "centre",
             false},
        Case{"nodes", "raw", "gcn2", "ego", "all", "pooled", "kipf", "mean", false, "none", "gate"},
        Case{"nodes_whole", "centred", "linear", "whole", "observed", "pooled", "kipf", "centre",
             false, "latent", "gate"},
        Case{"no_norm", "concat", "gcn2", "ego", "all", "pooled", "kipf", "centre", false, "none",
             "none", false}),
    case_name);

}  // namespace
}  // namespace grm
