// The terms of the GRM loss against a plain dense computation of the paper's equations, one small
// graph at a time, written here without any of the project's operators.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "methods/grm/model.h"
#include "small_task.h"

namespace grm {
namespace {

using torch::Tensor;

Tensor dense_edges(const Adjacency& edges) {
  const auto [source, target] = edge_list(edges);
  Tensor a = torch::zeros({edges.rows(), edges.rows()}, torch::kFloat64);
  a.index_put_({target, source}, torch::ones({edges.nnz()}, torch::kFloat64));
  return a;
}

Tensor normalised(const Tensor& a) {
  const Tensor d = a.sum(1).rsqrt();
  return d.unsqueeze(1) * a * d.unsqueeze(0);
}

Tensor kipf(const Tensor& a) {
  return normalised(torch::maximum(a, torch::eye(a.size(0), torch::kFloat64)));
}

Tensor batch_norm(const Tensor& x) {
  return (x - x.mean(0)) / torch::sqrt(x.var(0, /*unbiased=*/false) + 1e-5);
}

class GrmReference : public testing::Test {
 protected:
  GrmReference() : domain_(test::small_domain(8)), set_(Rng(21), torch::kFloat64) {
    options_.latent = 4;
    options_.hidden = 6;
    options_.edge_width = 3;
    options_.decoder_width = 5;
    options_.dropout = 0.0;
    options_.theta = 0.2;
    options_.fanout = {4, 0};
    options_.influence = InfluenceSearch::exact;
    options_.presence_prior = 0.3;
    model_ = std::make_unique<GrmModel>(set_, options_, domain_.graph.x.width(), 2);
  }
  void check_paper_preset();
  static Tensor parameter(const nn::ParameterSet& set, const std::string& name) {
    for (const auto& [key, value] : set.parameters()) {
      if (key == name) return value.detach();
    }
    ADD_FAILURE() << "no parameter " << name;
    return {};
  }
  Tensor p(const std::string& name) const { return parameter(shown_ ? *shown_ : set_, name); }

  GrmOptions options_;
  Domain domain_;
  nn::ParameterSet set_;
  std::unique_ptr<GrmModel> model_;
  const nn::ParameterSet* shown_ = nullptr;  // that of model_, where it is not set_
};

void GrmReference::check_paper_preset() {
  const bool gates = options_.presence == Presence::gate;
  const Graph& graph = domain_.graph;
  const Tensor targets = torch::tensor({2, 7, 11}, torch::kInt64);
  const PreparedBatch g =
      model_->prepare(ego_batch(*graph.edges, targets, options_.fanout, Rng(1).stream("ego")));
  Tensor eps = torch::empty({g.batch.rows(), 4}, torch::kFloat64);
  Rng(2).stream("eps").fill_normal(eps.data_ptr<double>(), eps.numel());
  nn::Pass pass = nn::Pass::train(Stream(0));
  const Tensor y = domain_.labels.y.index_select(0, targets);
  const GrmTerms terms = model_->losses(graph, g, eps, LossKind::softmax, {}, y, pass);

  // Inputs: r by GCN_node, q as the mean of GCN_dom over V_i^D.
  const Tensor x = graph.x.to_dense().to(torch::kFloat64);
  const Tensor a = dense_edges(*graph.edges), pd = kipf(a);
  const auto gcn = [&](const std::string& name) {
    const Tensor h = torch::relu(
        batch_norm(pd.matmul(x.matmul(p(name + ".first.weight"))) + p(name + ".first.bias")));
    return pd.matmul(h.matmul(p(name + ".second.weight"))) + p(name + ".second.bias");
  };
  const int64_t n = graph.nodes();
  const InfluenceSets sets = influence_sets(*graph.edges, InfluenceRule());
  Tensor mean = torch::zeros({n, n}, torch::kFloat64);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t u = 0; u < n; ++u) {
      if (sets.contains(i, u)) mean[i][u] = 1.0 / static_cast<double>(sets.size(i));
    }
  }
  const Tensor u = torch::cat({gcn("node_gcn"), mean.matmul(gcn("domain_gcn"))}, 1);
  // Encoder (Eq. 4) on the domain graph for h, and on each G for z.
  const auto encode = [&](const Tensor& rows, const Tensor& op) {
    const Tensor hidden =
        torch::relu(op.matmul(rows.matmul(p("encoder.first.weight"))) + p("encoder.first.bias"));
    return op.matmul(hidden.matmul(p("encoder.heads.weight"))) + p("encoder.heads.bias");
  };
  const Tensor h = mean.matmul(encode(u, pd).narrow(1, 0, 4));
  std::vector<Tensor> z_of, e_of, p_of, kl_z, kl_e, kl_p, l_d;
  for (int64_t b = 0; b < 3; ++b) {
    const int64_t begin = g.batch.node_offsets[b].item<int64_t>();
    const int64_t count = g.batch.node_offsets[b + 1].item<int64_t>() - begin;
    const Tensor nodes = g.batch.nodes.narrow(0, begin, count);
    ASSERT_EQ(nodes[0].item<int64_t>(), targets[b].item<int64_t>());
    const Tensor local = a.index_select(0, nodes).index_select(1, nodes);
    const Tensor heads = encode(u.index_select(0, nodes), kipf(local));
    const Tensor mu = heads.narrow(1, 0, 4), log_sigma = heads.narrow(1, 4, 4).clamp(-10, 4);
    const Tensor z = mu + torch::exp(log_sigma) * eps.narrow(0, begin, count);
    const Tensor f = z.matmul(p("decoder.edges.weight")) + p("decoder.edges.bias");
    const Tensor e = torch::sigmoid(f.matmul(f.t()));
    z_of.push_back(z);
    e_of.push_back(e);
    const Tensor here =
        gates ? torch::sigmoid(z.matmul(p("decoder.presence.weight")) + p("decoder.presence.bias"))
              : torch::ones({count, 1}, torch::kFloat64);
    p_of.push_back(here);
    if (gates) {
      kl_p.push_back(
          (here * torch::log(here / 0.3) + (1 - here) * torch::log((1 - here) / 0.7)).mean());
    }
    kl_z.push_back(((torch::exp(2 * log_sigma) + mu * mu - 1) / 2 - log_sigma).sum(1).mean());
    kl_e.push_back((e * torch::log(e / 0.2) + (1 - e) * torch::log((1 - e) / 0.8)).mean());
    l_d.push_back(torch::sqrt((h.index_select(0, nodes) - z).square().sum(1) + 1e-12).mean());
  }
  // Classifier: batch normalisation runs over the nodes of all three graphs together.
  std::vector<Tensor> first, logits;
  for (int64_t b = 0; b < 3; ++b) {
    const Tensor xhat = z_of[b].matmul(p("decoder.features.weight")) + p("decoder.features.bias");
    // Degrees are those of ehat; what node j sends counts p_j times.
    first.push_back(
        normalised(e_of[b]).matmul(p_of[b] * xhat.matmul(p("classifier.first.weight"))) +
        p("classifier.first.bias"));
  }
  const Tensor hidden = torch::relu(batch_norm(torch::cat(first)));
  for (int64_t b = 0, begin = 0; b < 3; begin += z_of[b].size(0), ++b) {
    const Tensor rows = hidden.narrow(0, begin, z_of[b].size(0));
    logits.push_back(
        (normalised(e_of[b]).matmul(p_of[b] * rows.matmul(p("classifier.second.weight"))) +
         p("classifier.second.bias"))[0]);
  }
  const Tensor l_s = -torch::log_softmax(torch::stack(logits), 1).gather(1, y.unsqueeze(1)).mean();
  const double tolerance = 1e-9;
  EXPECT_NEAR(terms.supervision.item<double>(), l_s.item<double>(), tolerance);
  EXPECT_NEAR(terms.latent_kl.item<double>(), torch::stack(kl_z).mean().item<double>(), tolerance);
  EXPECT_NEAR(terms.edge_kl.item<double>(), torch::stack(kl_e).mean().item<double>(), tolerance);
  EXPECT_NEAR(terms.invariance.item<double>(), torch::stack(l_d).mean().item<double>(), tolerance);
  ASSERT_EQ(terms.presence_kl.defined(), gates);
  const Tensor kl = gates ? torch::stack(kl_p).mean() : torch::zeros({}, torch::kFloat64);
  if (gates) {
    EXPECT_NEAR(terms.presence_kl.item<double>(), kl.item<double>(), tolerance);
  }
  options_.alpha = 0.5;
  options_.beta = 0.25;
  const double total = (l_s + 0.5 * (torch::stack(kl_z).mean() + torch::stack(kl_e).mean()) +
                        0.25 * torch::stack(l_d).mean() + 0.125 * kl)
                           .item<double>();
  EXPECT_NEAR(terms.total(options_, 0.125).item<double>(), total, tolerance);
  EXPECT_NEAR(terms.total(options_, torch::tensor(0.125)).item<double>(), total, tolerance);
}

TEST_F(GrmReference, PaperPresetEqualsTheDenseEquations) {
  check_paper_preset();
}

TEST_F(GrmReference, GeneratedNodesEqualTheDenseEquations) {
  options_.presence = Presence::gate;
  nn::ParameterSet with(Rng(23), torch::kFloat64);  // what the model below is made of
  model_ = std::make_unique<GrmModel>(with, options_, domain_.graph.x.width(), 2);
  shown_ = &with;
  check_paper_preset();
}

TEST_F(GrmReference, SparseAndFusedPairsAgreeOnGeneratedNodes) {
  options_.presence = Presence::gate;
  const Tensor targets = torch::tensor({2, 7, 11}, torch::kInt64);
  nn::ParameterSet set(Rng(9), torch::kFloat64);
  GrmModel model(set, options_, domain_.graph.x.width(), 2);
  const PreparedBatch fused = model.prepare(
      ego_batch(*domain_.graph.edges, targets, options_.fanout, Rng(1).stream("ego")));
  Tensor z = torch::empty({fused.batch.rows(), options_.latent}, torch::kFloat64);
  Rng(2).stream("z").fill_normal(z.data_ptr<double>(), z.numel());
  nn::Pass pass = nn::Pass::evaluate();
  const Tensor expected = model.classify(fused, z, /*with_kl=*/false, pass).logits;
  // The same pairs, one by one.
  options_.edge_support = EdgeSupport::observed;
  nn::ParameterSet same(Rng(9), torch::kFloat64);
  GrmModel sparse(same, options_, domain_.graph.x.width(), 2);
  PreparedBatch pairs = sparse.prepare(fused.batch);
  pairs.pairs = all_pairs(fused.batch);
  const Tensor got = sparse.classify(pairs, z, /*with_kl=*/false, pass).logits;
  EXPECT_LE((got - expected).abs().max().item<double>(), 1e-12);
}

TEST_F(GrmReference, TheSkipAddsALinearMapOfEachNodesOwnZ) {
  const Tensor targets = torch::tensor({2, 7, 11}, torch::kInt64);
  for (const EdgeSupport support : {EdgeSupport::all, EdgeSupport::observed}) {
    options_.edge_support = support;
    Tensor logits[2], expected;
    for (const bool skips : {false, true}) {
      options_.skip = skips ? Skip::latent : Skip::none;
      nn::ParameterSet set(Rng(9), torch::kFloat64);  // what both have is drawn alike, by name
      GrmModel model(set, options_, domain_.graph.x.width(), 2);
      const PreparedBatch g = model.prepare(
          ego_batch(*domain_.graph.edges, targets, options_.fanout, Rng(1).stream("ego")));
      Tensor z = torch::empty({g.batch.rows(), options_.latent}, torch::kFloat64);
      Rng(2).stream("z").fill_normal(z.data_ptr<double>(), z.numel());
      nn::Pass pass = nn::Pass::evaluate();
      logits[skips] = model.classify(g, z, /*with_kl=*/false, pass).logits;
      if (!skips) continue;
      const Tensor centres = g.batch.node_offsets.narrow(0, 0, 3);
      expected = z.index_select(0, centres).matmul(parameter(set, "classifier.skip.weight"));
    }
    EXPECT_GT(expected.abs().max().item<double>(), 0.1);
    EXPECT_LE((logits[1] - logits[0] - expected).abs().max().item<double>(), 1e-12)
        << to_string(support);
  }
}

TEST_F(GrmReference, AblationsLeaveOutTheirTerm) {
  const auto scalar = [](double v) { return torch::tensor(v, torch::kFloat64); };
  const GrmTerms terms{scalar(1), scalar(2), scalar(3), scalar(4), scalar(5)};
  options_.alpha = 10;
  options_.beta = 100;
  options_.presence = Presence::gate;
  options_.presence_weight = 1000;
  const auto total = [&] { return terms.total(options_, options_.gamma(1)).item<double>(); };
  EXPECT_DOUBLE_EQ(total(), 5451);
  options_.ablation = Ablation::regularisation;  // KL_p belongs to L_r
  EXPECT_DOUBLE_EQ(total(), 401);
  options_.ablation = Ablation::invariance;
  EXPECT_DOUBLE_EQ(total(), 5051);
  options_.ablation = Ablation::sampling;
  EXPECT_DOUBLE_EQ(total(), 5451);
  EXPECT_FALSE(options_.stochastic());
  options_.ablation = Ablation::presence;
  EXPECT_FALSE(options_.gates());
  EXPECT_EQ(options_.gamma(1), 0.0);
}

TEST_F(GrmReference, GammaGrowsFromZeroWhileNodesWarmUp) {
  options_.presence = Presence::gate;
  options_.presence_weight = 0.8;
  options_.presence_warm_up = 4;
  const double expected[] = {0.0, 0.2, 0.4, 0.6, 0.8, 0.8};
  for (int64_t epoch = 1; epoch <= 6; ++epoch) {
    EXPECT_DOUBLE_EQ(options_.gamma(epoch), expected[epoch - 1]) << epoch;
  }
}

TEST_F(GrmReference, SumReductionIsTheMeanTimesThePairs) {
  const Tensor targets = torch::tensor({2}, torch::kInt64);
  const PreparedBatch g = model_->prepare(
      ego_batch(*domain_.graph.edges, targets, options_.fanout, Rng(1).stream("ego")));
  const AdjacencyPtr pairs = all_pairs(g.batch);
  const Tensor kl = torch::linspace(0, 3, pairs->nnz(), torch::kFloat64);
  const GeneratedEdges edges{pairs, torch::ones_like(kl), kl};
  const double mean = edge_kl(g.batch, edges, options_).mean().item<double>();
  options_.pair_reduction = Reduction::sum;
  EXPECT_NEAR(edge_kl(g.batch, edges, options_).mean().item<double>(),
              mean * static_cast<double>(pairs->nnz()), 1e-9);
}

TEST_F(GrmReference, InvarianceIsZeroForEqualPointsAndTheirDistanceElse) {
  const GraphBatch batch = whole_batch(domain_.graph.edges);
  const Tensor z = torch::zeros({batch.rows(), 2}, torch::kFloat64);
  EXPECT_NEAR(invariance_loss(batch.node_offsets, z, z).item<double>(), 0.0, 1e-5);
  const Tensor h = torch::tensor({3.0, 4.0}, torch::kFloat64).expand_as(z);
  EXPECT_NEAR(invariance_loss(batch.node_offsets, h, z).item<double>(), 5.0, 1e-9);
}

}  // namespace
}  // namespace grm
