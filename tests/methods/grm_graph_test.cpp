// GRM on sets of graphs: its terms against a plain dense computation of the paper's equations, one
// graph at a time, its gradient by central differences, and that graphs of a batch do not meet.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "graph/naive_influence.h"
#include "methods/grm/model.h"
#include "small_graph_task.h"
#include "support/expect_error.h"

namespace grm::grm_graph_tests {
namespace {

using torch::Tensor;

GrmOptions small_options() {
  GrmOptions options = GraphGrmOptions();
  options.latent = 4;
  options.hidden = 6;
  options.edge_width = 3;
  options.decoder_width = 5;
  options.gin_hidden = 4;
  options.gin_layers = 2;
  options.dropout = 0.0;
  options.theta = 0.2;
  options.alpha = 0.3;
  options.beta = 0.4;
  return options;
}

Tensor normalised(const Tensor& a) {
  const Tensor d = a.sum(1).rsqrt();
  return d.unsqueeze(1) * a * d.unsqueeze(0);
}

Tensor batch_norm(const std::vector<Tensor>& parts) {
  const Tensor x = torch::cat(parts);
  return (x - x.mean(0)) / torch::sqrt(x.var(0, /*unbiased=*/false) + 1e-5);
}

// A graph of the set on its own, dense: edges with their weights, averaging over V_i^D, features.
struct DenseGraph {
  Tensor edges, influence, x;
  DenseGraph(const Graph& set, int64_t g) {
    const int64_t first = set.parts[g].item<int64_t>();
    const int64_t n = set.parts[g + 1].item<int64_t>() - first;
    const auto [source, target] = edge_list(*set.edges);
    edges = torch::zeros({n, n}, torch::kFloat64);
    std::vector<int64_t> from, to;
    for (int64_t e = 0; e < source.numel(); ++e) {
      const int64_t s = source[e].item<int64_t>() - first, t = target[e].item<int64_t>() - first;
      if (s < 0 || s >= n) continue;
      edges[t][s] = set.edge_weights.defined() ? set.edge_weights[e].item<double>() : 1.0;
      from.push_back(s);
      to.push_back(t);
    }
    const AdjacencyPtr alone =
        make_adjacency(n, n, torch::tensor(from, torch::kInt64), torch::tensor(to, torch::kInt64));
    const test::NodeSets sets = test::naive_influence(*alone, InfluenceRule());
    influence = torch::zeros({n, n}, torch::kFloat64);
    for (int64_t i = 0; i < n; ++i) {
      for (const int64_t u : sets[i]) influence[i][u] = 1.0 / static_cast<double>(sets[i].size());
    }
    x = set.x.to_dense().slice(0, first, first + n).to(torch::kFloat64);
  }
  Tensor kipf() const { return normalised(edges + torch::eye(edges.size(0), torch::kFloat64)); }
};

class GraphGrm : public testing::Test {
 protected:
  GraphGrm() : domain_(test::small_graphs(8, 6, "six", 2)), set_(Rng(21), torch::kFloat64) {
    Tensor& weights = domain_.graph.edge_weights;
    weights = torch::empty({domain_.graph.edges->nnz()}, torch::kFloat32);
    Rng(4).stream("weights").fill_uniform(weights.data_ptr<float>(), weights.numel(), 0.2f, 2.0f);
  }
  void make_model() { model_ = std::make_unique<GrmModel>(set_, options_, 3, 2, 2); }
  Tensor p(const std::string& name) const {
    for (const auto& [key, value] : set_.parameters()) {
      if (key == name) return value.detach();
    }
    ADD_FAILURE() << "no parameter " << name;
    return {};
  }
  Tensor noise(const PreparedBatch& g) const {
    Tensor eps = torch::empty({g.batch.rows(), options_.latent}, torch::kFloat64);
    Rng(2).stream("eps").fill_normal(eps.data_ptr<double>(), eps.numel());
    return eps;
  }
  GrmTerms terms(const PreparedBatch& g, const Tensor& eps, const Tensor& ids) {
    nn::Pass pass = nn::Pass::train(Stream(0));
    return model_->losses(g, eps, LossKind::softmax, domain_.labels.y.index_select(0, ids), pass);
  }

  GrmOptions options_ = small_options();
  Domain domain_;
  nn::ParameterSet set_;
  std::unique_ptr<GrmModel> model_;
};

// The readout of one graph from its presences [n, 1] and node logits [n, C], as its formula says.
Tensor read_out(nn::Pooling kind, const Tensor& p, const Tensor& o) {
  switch (kind) {
    case nn::Pooling::mean:
      return (p * o).mean(0);
    case nn::Pooling::sum:
      return (p * o).sum(0);
    case nn::Pooling::max:
      return std::get<0>((p * o).max(0));
    case nn::Pooling::weighted:
      return (p * o).sum(0) / (p.sum() + 1e-6);
    case nn::Pooling::log_mean_exp:
      return torch::log(torch::exp(p * o).mean(0));
  }
  return {};
}

struct Reading {
  std::string name;
  Presence presence;
  nn::Pooling pooling;
};

class GraphGrmTerms : public GraphGrm, public testing::WithParamInterface<Reading> {};

TEST_P(GraphGrmTerms, EqualTheDenseEquationsGraphByGraph) {
  options_.presence = GetParam().presence;
  options_.pooling = GetParam().pooling;
  options_.presence_prior = 0.4;
  const bool gates = options_.gates();
  make_model();
  const Tensor ids = torch::tensor({4, 1}, torch::kInt64);
  const PreparedBatch g = model_->prepare(domain_.graph, ids, true);
  const Tensor eps = noise(g), y = domain_.labels.y.index_select(0, ids);
  const GrmTerms got = terms(g, eps, ids);
  const DenseGraph graph[2] = {{domain_.graph, 4}, {domain_.graph, 1}};

  // Inputs (settings of the paper): batch normalisation runs over the nodes of the whole batch.
  std::vector<Tensor> input[2];
  for (const char* name : {"node_gcn", "domain_gcn"}) {
    const std::string net = name;
    std::vector<Tensor> first;
    for (const DenseGraph& d : graph) {
      first.push_back(d.kipf().matmul(d.x.matmul(p(net + ".first.weight"))) +
                      p(net + ".first.bias"));
    }
    const Tensor hidden = torch::relu(batch_norm(first));
    for (int b = 0; b < 2; ++b) {
      const Tensor rows = hidden.narrow(0, b == 0 ? 0 : first[0].size(0), first[b].size(0));
      const Tensor out =
          graph[b].kipf().matmul(rows.matmul(p(net + ".second.weight"))) + p(net + ".second.bias");
      input[b].push_back(net == "node_gcn" ? out : graph[b].influence.matmul(out));
    }
  }
  std::vector<Tensor> kl_z, kl_e, kl_p, l_d, z_of, e_of, p_of, first, logits, scores, joint;
  for (int64_t b = 0, begin = 0; b < 2; ++b) {
    const Tensor op = graph[b].kipf();
    const int64_t n = op.size(0);
    const Tensor u = torch::cat(input[b], 1);
    const Tensor hidden =
        torch::relu(op.matmul(u.matmul(p("encoder.first.weight"))) + p("encoder.first.bias"));
    const Tensor heads =
        op.matmul(hidden.matmul(p("encoder.heads.weight"))) + p("encoder.heads.bias");
    const Tensor mu = heads.narrow(1, 0, 4), log_sigma = heads.narrow(1, 4, 4).clamp(-10, 4);
    const Tensor z = mu + torch::exp(log_sigma) * eps.narrow(0, begin, n);
    const Tensor f = z.matmul(p("decoder.edges.weight")) + p("decoder.edges.bias");
    const Tensor e = torch::sigmoid(f.matmul(f.t()));
    const Tensor h = graph[b].influence.matmul(mu);
    kl_z.push_back(((torch::exp(2 * log_sigma) + mu * mu - 1) / 2 - log_sigma).sum(1).mean());
    kl_e.push_back((e * torch::log(e / 0.2) + (1 - e) * torch::log((1 - e) / 0.8)).mean());
    l_d.push_back(torch::sqrt((h - z).square().sum(1) + 1e-12).mean());
    const Tensor here =
        gates ? torch::sigmoid(z.matmul(p("decoder.presence.weight")) + p("decoder.presence.bias"))
              : torch::ones({n, 1}, torch::kFloat64);
    kl_p.push_back(
        (here * torch::log(here / 0.4) + (1 - here) * torch::log((1 - here) / 0.6)).mean());
    p_of.push_back(here);
    joint.push_back(here.matmul(here.t()).masked_select(graph[b].edges > 0));
    const Tensor xhat = z.matmul(p("decoder.features.weight")) + p("decoder.features.bias");
    first.push_back(normalised(e).matmul(here * xhat.matmul(p("classifier.first.weight"))) +
                    p("classifier.first.bias"));
    z_of.push_back(z);
    e_of.push_back(e);
    scores.push_back(e.masked_select(graph[b].edges > 0));  // row by row: edge order
    begin += n;
  }
  const Tensor hidden = torch::relu(batch_norm(first));
  for (int64_t b = 0, begin = 0; b < 2; begin += first[b].size(0), ++b) {
    const Tensor rows = hidden.narrow(0, begin, first[b].size(0));
    logits.push_back(
        read_out(options_.pooling, p_of[b],
                 normalised(e_of[b]).matmul(p_of[b] * rows.matmul(p("classifier.second.weight"))) +
                     p("classifier.second.bias")));
  }
  const Tensor l_s = -torch::log_softmax(torch::stack(logits), 1).gather(1, y.unsqueeze(1)).mean();
  const auto mean = [](const std::vector<Tensor>& v) {
    return torch::stack(v).mean().item<double>();
  };
  EXPECT_NEAR(got.supervision.item<double>(), l_s.item<double>(), 1e-9);
  EXPECT_NEAR(got.latent_kl.item<double>(), mean(kl_z), 1e-9);
  EXPECT_NEAR(got.edge_kl.item<double>(), mean(kl_e), 1e-9);
  EXPECT_NEAR(got.invariance.item<double>(), mean(l_d), 1e-9);
  ASSERT_EQ(got.presence_kl.defined(), gates);
  if (gates) {
    EXPECT_NEAR(got.presence_kl.item<double>(), mean(kl_p), 1e-9);
  }
  EXPECT_NEAR(got.total(options_, 0.2).item<double>(),
              l_s.item<double>() + 0.3 * (mean(kl_z) + mean(kl_e)) + 0.4 * mean(l_d) +
                  (gates ? 0.2 * mean(kl_p) : 0.0),
              1e-9);
  const Tensor z = torch::cat(z_of);
  EXPECT_TRUE(torch::allclose(model_->observed_weights(g, z), torch::cat(scores)));
  EXPECT_TRUE(torch::allclose(model_->observed_scores(g, z), torch::cat(gates ? joint : scores)));
}

INSTANTIATE_TEST_SUITE_P(
    EveryReadout, GraphGrmTerms,
    testing::Values(Reading{"paper", Presence::none, nn::Pooling::mean},
                    Reading{"max", Presence::none, nn::Pooling::max},
                    Reading{"log_mean_exp", Presence::none, nn::Pooling::log_mean_exp},
                    Reading{"gate_mean", Presence::gate, nn::Pooling::mean},
                    Reading{"gate_sum", Presence::gate, nn::Pooling::sum},
                    Reading{"gate_max", Presence::gate, nn::Pooling::max},
                    Reading{"gate_weighted", Presence::gate, nn::Pooling::weighted},
                    Reading{"gate_log_mean_exp", Presence::gate, nn::Pooling::log_mean_exp}),
    [](const auto& each) { return each.param.name; });

TEST_F(GraphGrm, ObservedSupportGeneratesEdgesAndSelfPairsOnly) {
  options_.edge_support = EdgeSupport::observed;
  make_model();
  const PreparedBatch g =
      model_->prepare(domain_.graph, torch::tensor({5, 0, 3}, torch::kInt64), true);
  const Tensor z = noise(g);
  const GeneratedEdges e = model_->generate(g, z);
  const Tensor f = z.matmul(p("decoder.edges.weight")) + p("decoder.edges.bias");
  const auto [source, target] = edge_list(*e.pairs);
  EXPECT_EQ(e.pairs->nnz(), g.batch.edges->nnz() + g.batch.rows());
  EXPECT_TRUE(torch::equal(g.batch.graph_of_node.index_select(0, source),
                           g.batch.graph_of_node.index_select(0, target)));
  const Tensor expected =
      torch::sigmoid((f.index_select(0, source) * f.index_select(0, target)).sum(1));
  EXPECT_TRUE(torch::allclose(e.weights, expected));
}

TEST_F(GraphGrm, TermsOfABatchAreTheMeansOfItsGraphs) {
  // Without batch normalisation in the encoder's input no term but the classifier's mixes graphs.
  for (const EncoderKind encoder : {EncoderKind::gcn2, EncoderKind::mlp}) {
    nn::ParameterSet set(Rng(5), torch::kFloat64);
    options_.encoder_input = EncoderReads::raw;
    options_.encoder = encoder;
    model_ = std::make_unique<GrmModel>(set, options_, 3, 2, 2);
    const Tensor ids = torch::tensor({3, 0, 5}, torch::kInt64);
    const PreparedBatch all = model_->prepare(domain_.graph, ids, true);
    const Tensor eps = noise(all);
    const GrmTerms together = terms(all, eps, ids);
    double latent = 0, edge = 0, invariance = 0;
    for (int64_t b = 0, begin = 0; b < 3; ++b) {
      const Tensor id = ids.narrow(0, b, 1);
      const PreparedBatch one = model_->prepare(domain_.graph, id, true);
      const GrmTerms alone = terms(one, eps.narrow(0, begin, one.batch.rows()), id);
      latent += alone.latent_kl.item<double>() / 3;
      edge += alone.edge_kl.item<double>() / 3;
      invariance += alone.invariance.item<double>() / 3;
      begin += one.batch.rows();
    }
    EXPECT_NEAR(together.latent_kl.item<double>(), latent, 1e-10) << to_string(encoder);
    EXPECT_NEAR(together.edge_kl.item<double>(), edge, 1e-10) << to_string(encoder);
    EXPECT_NEAR(together.invariance.item<double>(), invariance, 1e-10) << to_string(encoder);
  }
}

TEST_F(GraphGrm, ExactDomainEncodingRunsOnTheSubgraphOfEachNode) {
  options_.encoder_input = EncoderReads::raw;
  options_.domain_encoding = DomainPass::exact;
  domain_.graph.edge_weights = Tensor();
  make_model();
  const Tensor ids = torch::tensor({2, 4}, torch::kInt64);
  const PreparedBatch g = model_->prepare(domain_.graph, ids, true);
  const Tensor eps = noise(g);
  std::vector<Tensor> distances;
  nn::Pass pass = nn::Pass::train(Stream(0));
  const Posterior q = model_->posterior(model_->encode_domain(*g.own, pass), g, pass);
  const Tensor z = GrmModel::sample(q, eps).detach();
  int64_t begin = 0;
  for (const int64_t id : {2, 4}) {
    const DenseGraph d(domain_.graph, id);
    const int64_t n = d.x.size(0);
    Tensor distance = torch::zeros({n}, torch::kFloat64);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor members = (d.influence[i] > 0).nonzero().flatten();
      const Tensor a = d.edges.index_select(0, members).index_select(1, members);
      const Tensor op = normalised(a + torch::eye(a.size(0), torch::kFloat64));
      const Tensor rows = d.x.index_select(0, members).matmul(p("encoder.first.weight"));
      const Tensor hidden = torch::relu(op.matmul(rows) + p("encoder.first.bias"));
      const Tensor heads =
          op.matmul(hidden.matmul(p("encoder.heads.weight"))) + p("encoder.heads.bias");
      const Tensor h = heads.narrow(1, 0, 4).mean(0);
      distance[i] = torch::sqrt((h - z[begin + i]).square().sum() + 1e-12);
    }
    distances.push_back(distance.mean());
    begin += n;
  }
  EXPECT_NEAR(terms(g, eps, ids).invariance.item<double>(),
              torch::stack(distances).mean().item<double>(), 1e-9);
}

struct Case {
  std::string name, input, encoder, support, domain_encoding;
  bool norm;
  std::string skip = "none", presence = "none", pooling = "mean";
};

class GraphGrmGradient : public testing::TestWithParam<Case> {};

TEST_P(GraphGrmGradient, EqualsFiniteDifferences) {
  const Case& c = GetParam();
  GrmOptions options = small_options();
  options.latent = 3;
  options.encoder_input = value_of<EncoderReads>(c.input).value();
  options.encoder = value_of<EncoderKind>(c.encoder).value();
  options.edge_support = value_of<EdgeSupport>(c.support).value();
  options.domain_encoding = value_of<DomainPass>(c.domain_encoding).value();
  options.encoder_norm = c.norm;
  options.gin_virtual_node = c.norm;
  options.skip = value_of<Skip>(c.skip).value();
  options.presence = value_of<Presence>(c.presence).value();
  options.pooling = value_of<nn::Pooling>(c.pooling).value();
  options.presence_weight = 0.7;
  const Domain domain = test::small_graphs(5, 4, "four", 2);
  nn::ParameterSet set(Rng(11), torch::kFloat64);
  GrmModel model(set, options, 3, 2, 2);
  const Tensor ids = torch::tensor({2, 1}, torch::kInt64);
  const PreparedBatch g = model.prepare(domain.graph, ids, true);
  const Tensor y = domain.labels.y.index_select(0, ids);
  Tensor eps = torch::empty({g.batch.rows(), options.latent}, torch::kFloat64);
  Rng(7).stream("eps").fill_normal(eps.data_ptr<double>(), eps.numel());
  const auto loss = [&] {
    nn::Pass pass = nn::Pass::train(Stream(0));
    return model.losses(g, eps, LossKind::softmax, y, pass).total(options, options.gamma(1));
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
    AllKinds, GraphGrmGradient,
    testing::Values(Case{"paper", "concat", "gcn2", "all", "pooled", false},
                    Case{"paper_exact", "concat", "gcn2", "all", "exact", false},
                    Case{"raw_gcn1_norm", "raw", "gcn1", "observed", "pooled", true},
                    Case{"raw_linear", "raw", "linear", "all", "pooled", false},
                    Case{"gin_edges", "raw", "gin", "observed", "pooled", false},
                    Case{"best", "raw", "gin", "observed", "pooled", false, "latent"},
                    Case{"gin_virtual_concat", "concat", "gin", "all", "pooled", true},
                    Case{"nodes_all_max", "raw", "gcn2", "all", "pooled", false, "none", "gate",
                         "max"},
                    Case{"nodes_gin_weighted", "raw", "gin", "observed", "pooled", false, "latent",
                         "gate", "weighted"},
                    Case{"nodes_log_mean_exp", "raw", "linear", "all", "pooled", false, "none",
                         "gate", "log-mean-exp"}),
    [](const auto& each) { return each.param.name; });

TEST(GraphGrmMethod, PredictionsAndScoresOfAGraphDoNotDependOnItsCompany) {
  const Task task = test::small_graph_task();
  const auto method = test::build_graph_method("grm", task, {{"latent", "8"}, {"hidden", "8"}});
  method->train_epoch(1);
  const Graph& set = task.test[0].graph;
  const Tensor ids = torch::tensor({7, 0, 19, 4}, torch::kInt64);
  const Tensor logits = method->logits(set, ids), scores = method->edge_scores(set, ids);
  std::vector<Tensor> single_logits, single_scores;
  for (int64_t k = 0; k < ids.numel(); ++k) {
    single_logits.push_back(method->logits(set, ids.narrow(0, k, 1)));
    single_scores.push_back(method->edge_scores(set, ids.narrow(0, k, 1)));
  }
  EXPECT_TRUE(torch::allclose(logits, torch::cat(single_logits), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(scores, torch::cat(single_scores), 1e-4, 1e-5));
  EXPECT_EQ(scores.numel(), pick_graphs(set, ids).edges->nnz());
  EXPECT_TRUE(scores.gt(0).logical_and(scores.lt(1)).all().item<bool>());
}

TEST(GraphGrmMethod, EveryPresetLearnsTheMotif) {
  const Task task = test::small_graph_task(LossKind::softmax, 2);
  for (const Preset& preset : find_method("grm", Level::graph).presets) {
    test::Values values = {{"latent", "16"}, {"hidden", "16"}, {"gin_hidden", "16"}};
    values.insert(values.end(), preset.values.begin(), preset.values.end());
    values.emplace_back("lr", "0.01");
    const auto method = test::build_graph_method("grm", task, values);
    for (int64_t epoch = 1; epoch <= 30; ++epoch) method->train_epoch(epoch);
    const Domain& domain = task.training[0];
    const Tensor guess = method->logits(domain.graph, domain.labels.loss).argmax(1);
    EXPECT_GE(guess.eq(domain.labels.y).sum().item<int64_t>(), 36) << preset.name;
  }
}

TEST(GraphGrmMethod, RefusesWhatContradicts) {
  const Task task = test::small_graph_task();
  const std::string message = test::error_of(ErrorKind::config, [&] {
    test::build_graph_method("grm", task, {{"encoder", "gin"}, {"domain_encoding", "exact"}});
  });
  EXPECT_THAT(message, testing::HasSubstr("method.domain_encoding = exact"));
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [&] {
                               test::build_graph_method("grm", task, {{"pooling", "weighted"}});
                             }),
              testing::HasSubstr("set method.presence = gate"));
}

// Presence, its warm-up and dropped features are functions of the epoch: a restart changes nothing.
TEST(GraphGrmMethod, ResumesInTheMiddleOfTheWarmUpWithTheSameBits) {
  const Task task = test::small_graph_task();
  const test::Values values = {{"latent", "8"},          {"hidden", "8"},
                               {"presence", "gate"},     {"presence_warm_up", "5"},
                               {"input_dropout", "0.2"}, {"pooling", "max"}};
  const auto whole = test::build_graph_method("grm", task, values);
  for (int64_t e = 1; e <= 3; ++e) whole->train_epoch(e);
  const auto resumed = test::build_graph_method("grm", task, values);
  resumed->parameters().restore(whole->parameters().snapshot());
  resumed->optimisers()[0]->restore(whole->optimisers()[0]->state());
  const std::vector<LossTerm> a = whole->train_epoch(4), b = resumed->train_epoch(4);
  ASSERT_EQ(a.back().name, "presence_kl");
  for (size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].value, b[k].value) << a[k].name;
  const auto expected = whole->parameters().snapshot();
  for (const auto& [name, tensor] : resumed->parameters().snapshot()) {
    EXPECT_TRUE(torch::equal(tensor, expected.at(name))) << name;
  }
}

TEST(GraphGrmMethod, InputDropoutTouchesTrainingAlone) {
  const Task task = test::small_graph_task();
  for (const char* encoder : {"gcn2", "gin"}) {
    const test::Values small = {
        {"latent", "8"}, {"hidden", "8"}, {"encoder_input", "raw"}, {"encoder", encoder}};
    test::Values dropping = small;
    dropping.emplace_back("input_dropout", "0.5");
    const auto a = test::build_graph_method("grm", task, small);
    const auto b = test::build_graph_method("grm", task, dropping);
    const Domain& domain = task.test[0];
    EXPECT_TRUE(torch::equal(a->logits(domain.graph, domain.labels.evaluate),
                             b->logits(domain.graph, domain.labels.evaluate)));
    EXPECT_NE(a->train_epoch(1)[1].value, b->train_epoch(1)[1].value) << encoder;
  }
}

TEST(GraphGrmMethod, WithoutBatchNormThereAreNoStatistics) {
  const Task task = test::small_graph_task();
  const auto with = test::build_graph_method("grm", task);
  const auto without = test::build_graph_method("grm", task, {{"batch_norm", "false"}});
  EXPECT_FALSE(with->parameters().buffers().empty());
  EXPECT_TRUE(without->parameters().buffers().empty());
}

TEST(GraphGrmMethod, WithoutPresenceTheAblationIsTheSameModel) {
  const Task task = test::small_graph_task();
  const test::Values small = {{"latent", "8"}, {"hidden", "8"}};
  test::Values ablated = small;
  ablated.insert(ablated.end(), {{"presence", "gate"}, {"ablation", "P"}});
  const auto without = test::build_graph_method("grm", task, small);
  const auto left_out = test::build_graph_method("grm", task, ablated);
  const std::vector<LossTerm> a = without->train_epoch(1), b = left_out->train_epoch(1);
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].value, b[k].value) << a[k].name;
}

}  // namespace
}  // namespace grm::grm_graph_tests
