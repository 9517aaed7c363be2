#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/graph/batch.h"
#include "methods/grm/cost.h"
#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "nn/backbone.h"

namespace grm::cost_tests {
namespace {

// Multiplications and additions of naive loops, one by one.
class Naive {
 public:
  double flops = 0;

  // y[a, c] = sum_b x[a, b] w[b, c], and the loops of its gradients.
  void product(int64_t a, int64_t b, int64_t c, bool to_x) {
    for (int64_t pass = 0; pass < (to_x ? 3 : 2); ++pass) {
      for (int64_t i = 0; i < a; ++i) {
        for (int64_t k = 0; k < c; ++k) {
          for (int64_t j = 0; j < b; ++j) flops += 2;
        }
      }
    }
  }
  // Every stored pair adds a weighted row of width d, `passes` times.
  void over_pairs(const Adjacency& pattern, int64_t d, int64_t passes) {
    for (int64_t i = 0; i < pattern.rows(); ++i) {
      for (int64_t e = pattern.in.offset()[i]; e < pattern.in.offset()[i + 1]; ++e) {
        for (int64_t k = 0; k < d; ++k) flops += 2.0 * static_cast<double>(passes);
      }
    }
  }
  // Features times a weight of `width` columns: forward and the gradient of the weight.
  void features(const Features& x, int64_t width) {
    if (x.sparse) over_pairs(*x.sparse, width, 2);
    if (x.dense.defined()) product(x.dense.size(0), x.dense.size(1), width, false);
  }
};

double term(const WorkCount& count, const std::string& name) {
  for (const WorkTerm& t : count.terms) {
    if (t.name == name) return t.flops;
  }
  return 0.0;
}

InfluenceShape sets(double members) {
  InfluenceShape shape;
  shape.members = members;
  return shape;
}

GrmOptions tiny_options() {
  GrmOptions o;
  o.hidden = 5;
  o.latent = 3;
  o.decoder_width = 4;
  o.edge_width = 2;
  o.fanout = {3, 0};
  return o;
}

class GrmWork : public ::testing::Test {
 protected:
  GrmWork()
      : domain_(test::small_domain(1, 20)),
        batch_(ego_batch(*domain_.graph.edges, torch::arange(6, torch::kInt64), {3, 0},
                         Rng(1).stream("neighbours"))),
        shape_(shape_of(domain_.graph)) {}

  // The classifier on generated edges over all ordered pairs, pair by pair.
  void count_tiles(Naive& naive, const GrmOptions& o, int64_t classes) const {
    const int64_t* offset = batch_.node_offsets.data_ptr<int64_t>();
    for (int64_t b = 0; b < batch_.graphs; ++b) {
      for (int64_t i = offset[b]; i < offset[b + 1]; ++i) {
        for (int64_t j = offset[b]; j < offset[b + 1]; ++j) {
          if (j <= i) naive.flops += 2.0 * static_cast<double>(o.edge_width);  // <f_i, f_j>
          naive.flops += 2.0 * static_cast<double>(o.edge_width);              // to f
          naive.flops += 3 * 2.0 * static_cast<double>(o.hidden + classes);    // E x; to x; to E
        }
      }
    }
  }

  Domain domain_;
  GraphBatch batch_;
  GraphShape shape_;
};

TEST_F(GrmWork, ReadsADenseMatrixOfMeansOncePerProduct) {
  const GrmOptions o = tiny_options();
  const double n = static_cast<double>(domain_.graph.nodes());
  const BatchShape batch = shape_of(batch_);
  const WorkCount count = grm_step_work(o, shape_, batch, sets(n * n), 2);
  double bytes = 0;
  for (const WorkTerm& t : count.terms) bytes += t.name == "influence means" ? t.bytes : 0;
  // Means of rows of the widths hidden and latent, each once and once more for its gradient.
  double expected = 0;
  for (const double width : {5.0, 3.0}) expected += 2 * 4 * (n * n + 2 * n * width);
  EXPECT_DOUBLE_EQ(bytes, expected);
  EXPECT_DOUBLE_EQ(term(count, "influence means"), 2 * 2 * n * n * (5 + 3));
}

TEST_F(GrmWork, OfThePaperEqualsANaiveCount) {
  const GrmOptions o = tiny_options();
  const int64_t n = domain_.graph.nodes(), rows = batch_.rows(), classes = 2, members = 77;
  const AdjacencyPtr loops = with_self_loops(*domain_.graph.edges);
  const AdjacencyPtr batch_loops = with_self_loops(*batch_.edges);
  Naive naive;
  for (int gcn = 0; gcn < 2; ++gcn) {
    naive.features(domain_.graph.x, o.hidden);
    naive.over_pairs(*loops, o.hidden, 2);
    naive.product(n, o.hidden, o.hidden, true);
    naive.over_pairs(*loops, o.hidden, 2);
  }
  naive.flops += 2.0 * 2 * members * static_cast<double>(o.hidden);  // q over V_i^D, both ways
  naive.product(n, 2 * o.hidden, 2 * o.latent, true);
  naive.over_pairs(*batch_loops, 2 * o.latent, 2);
  naive.product(rows, 2 * o.latent, 2 * o.latent, true);
  naive.over_pairs(*batch_loops, 2 * o.latent, 2);
  naive.over_pairs(*loops, 2 * o.latent, 2);
  naive.product(n, 2 * o.latent, o.latent, true);
  naive.over_pairs(*loops, o.latent, 2);
  naive.flops += 2.0 * 2 * members * static_cast<double>(o.latent);  // h over V_i^D
  naive.product(rows, o.latent, o.edge_width, true);
  naive.product(o.latent, o.decoder_width, o.hidden, true);
  naive.product(rows, o.latent, o.hidden, true);
  naive.product(rows, o.hidden, classes, true);
  count_tiles(naive, o, classes);
  EXPECT_DOUBLE_EQ(grm_step_work(o, shape_, shape_of(batch_), sets(members), classes).flops(),
                   naive.flops);
}

TEST_F(GrmWork, OfALinearEncoderOnTheWholeGraphEqualsANaiveCount) {
  GrmOptions o = tiny_options();
  o.encoder_input = EncoderReads::centred;
  o.encoder = EncoderKind::linear;
  o.scope = Scope::whole;
  o.edge_support = EdgeSupport::observed;
  const int64_t n = domain_.graph.nodes(), classes = 3, members = 40;
  const AdjacencyPtr pairs = with_self_loops(*domain_.graph.edges);
  Naive naive;
  naive.features(domain_.graph.x, 2 * o.latent);
  naive.flops += 2.0 * 2 * members * static_cast<double>(o.latent);
  naive.product(n, o.latent, o.edge_width, true);
  naive.product(o.latent, o.decoder_width, o.hidden, true);
  naive.product(n, o.latent, o.hidden, true);
  naive.product(n, o.hidden, classes, true);
  naive.over_pairs(*pairs, o.edge_width, 3);
  naive.over_pairs(*pairs, o.hidden, 3);
  naive.over_pairs(*pairs, classes, 3);
  EXPECT_DOUBLE_EQ(grm_step_work(o, shape_, {}, sets(members), classes).flops(), naive.flops);
}

// Every V_i^D is encoded on its own edges, and the first map sees what a step needs alone.
TEST_F(GrmWork, OfSetsFoundAroundTheNodesEqualsANaiveCount) {
  GrmOptions o = tiny_options();
  o.encoder_input = EncoderReads::raw;
  const int64_t rows = batch_.rows(), classes = 2, nodes = 10;
  const torch::Tensor ids = torch::arange(nodes, torch::kInt64);
  const Features part = pick_rows(domain_.graph.x, ids);
  Csr members;
  members.rows = 4;
  members.cols = domain_.graph.nodes();
  members.offsets = torch::arange(0, 13, 3, torch::kInt64);
  members.indices = torch::tensor({0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9}, torch::kInt32);
  const GraphBatch inside = induced_batch(*domain_.graph.edges, members);
  const AdjacencyPtr loops = with_self_loops(*inside.edges);
  const AdjacencyPtr batch_loops = with_self_loops(*batch_.edges);
  Naive naive;
  naive.features(part, 2 * o.latent);
  naive.over_pairs(*batch_loops, 2 * o.latent, 2);
  naive.product(rows, 2 * o.latent, 2 * o.latent, true);
  naive.over_pairs(*batch_loops, 2 * o.latent, 2);
  naive.over_pairs(*loops, 2 * o.latent, 2);
  naive.product(12, 2 * o.latent, o.latent, true);
  naive.over_pairs(*loops, o.latent, 2);
  naive.flops += 2.0 * 2 * 12 * static_cast<double>(o.latent);
  naive.product(rows, o.latent, o.edge_width, true);
  naive.product(o.latent, o.decoder_width, o.hidden, true);
  naive.product(rows, o.latent, o.hidden, true);
  naive.product(rows, o.hidden, classes, true);
  count_tiles(naive, o, classes);
  const InfluenceShape influence{12, true, static_cast<double>(nodes),
                                 static_cast<double>(inside.edges->nnz())};
  // Every node of the small graph has two sparse features, so their share is exact.
  EXPECT_DOUBLE_EQ(grm_step_work(o, shape_, shape_of(batch_), influence, classes).flops(),
                   naive.flops);
}

TEST_F(GrmWork, WithoutPropagationTheDomainGraphIsNotPropagatedOver) {
  GrmOptions o = tiny_options();
  o.encoder_input = EncoderReads::raw;
  o.encoder = EncoderKind::mlp;
  const WorkCount count = grm_step_work(o, shape_, shape_of(batch_), sets(10), 2);
  EXPECT_EQ(term(count, "domain propagation"), 0);
  EXPECT_EQ(term(count, "encoder propagation"), 0);
  EXPECT_EQ(term(count, "encoder heads"), 3 * 2 * shape_.nodes * 6 * 6);
}

TEST(BackboneWork, OfAGcnEqualsANaiveCount) {
  const Domain domain = test::small_domain(2, 25);
  nn::BackboneOptions o;
  o.hidden = 6;
  o.layers = 3;
  const int64_t n = 25, classes = 4;
  const AdjacencyPtr loops = with_self_loops(*domain.graph.edges);
  Naive naive;
  naive.features(domain.graph.x, 6);
  naive.over_pairs(*loops, 6, 2);
  naive.product(n, 6, 6, true);
  naive.over_pairs(*loops, 6, 2);
  naive.product(n, 6, classes, true);
  naive.over_pairs(*loops, classes, 2);
  EXPECT_DOUBLE_EQ(nn::backbone_cost(o, shape_of(domain.graph), classes).work.flops(), naive.flops);
}

TEST(BackboneWork, OfSageHasAMapOfTheNodeItselfBesides) {
  const Domain domain = test::small_domain(3, 25);
  nn::BackboneOptions o;
  o.hidden = 6;
  o.backbone = nn::BackboneKind::sage;
  Naive naive;
  for (int map = 0; map < 2; ++map) {
    naive.features(domain.graph.x, 6);
    naive.product(25, 6, 4, true);
  }
  naive.over_pairs(*domain.graph.edges, 6, 2);
  naive.over_pairs(*domain.graph.edges, 4, 2);
  EXPECT_DOUBLE_EQ(nn::backbone_cost(o, shape_of(domain.graph), 4).work.flops(), naive.flops);
}

TEST(BackboneWork, EveryBackboneHasACount) {
  const Domain domain = test::small_domain(4, 25);
  for (const nn::BackboneEntry& entry : nn::backbones()) {
    nn::BackboneOptions o;
    o.backbone = entry.kind;
    const PassCost pass = nn::backbone_cost(o, shape_of(domain.graph), 2);
    EXPECT_GT(pass.work.flops(), 0) << to_string(entry.kind);
    EXPECT_GT(pass.work.bytes(), 0) << to_string(entry.kind);
    EXPECT_GT(pass.kept, 0) << to_string(entry.kind);
    EXPECT_GT(pass.parameters, 0) << to_string(entry.kind);
  }
}

std::optional<WorkCount> epoch_work(const std::string& method, const Task& task,
                                    const Settings& settings = {}) {
  MethodChoice choice(method);
  for (const auto& [key, value] : settings) choice.options().set("method", key, value);
  return choice.recipe().work(RunShape(task, 10));
}

TEST(EpochWork, GrowsWithStepsAndIsMissingWhereThereIsNoFormula) {
  const Task task = test::small_task();
  const double one = epoch_work("grm", task, {{"batch", "10"}})->flops();
  const double two = epoch_work("grm", task, {{"batch", "10"}, {"steps", "2"}})->flops();
  EXPECT_NEAR(two / one, 2.0, 0.05);  // the second draw of targets has other ego-nets
  EXPECT_FALSE(epoch_work("grm", task, {{"domain_encoding", "exact"}}).has_value());
}

// EERM with K views and no step of its editors has K passes of ERM; LiSA without views has one.
TEST(EpochWork, OfDegenerateCasesIsThatOfErm) {
  const Task task = test::small_task();
  const double once = epoch_work("erm", task)->flops();
  EXPECT_DOUBLE_EQ(epoch_work("eerm", task, {{"views", "4"}, {"inner_steps", "0"}})->flops(),
                   4 * once);
  EXPECT_DOUBLE_EQ(epoch_work("lisa", task, {{"views", "0"}})->flops(), once);
  EXPECT_DOUBLE_EQ(epoch_work("drnn", task, {{"domains", "natural"}})->flops(), once);
}

// A set of graphs, each put together from `times` small ones.
Domain set_of_graphs(int64_t graphs, int64_t times) {
  Domain set = test::small_graphs(1, graphs * times, "set");
  set.graph.parts = set.graph.parts.slice(0, 0, graphs * times + 1, times).contiguous();
  set.labels.y = set.labels.y.slice(0, 0, graphs).contiguous();
  set.labels.loss = set.labels.evaluate = torch::arange(graphs);
  return set;
}

// What a step holds at graph level grows with the graphs, not with their number.
Task task_of(const MethodEntry& entry, int64_t times) {
  Task task = test::small_task();
  if (entry.level == Level::node) {
    task.training = {test::small_domain(1, 30 * times, "a")};
  } else {
    task.training = task.validation = task.test = {set_of_graphs(8 * times, times)};
  }
  return task;
}

TEST(Registry, EveryMethodDeclaresItsMemoryAndItsWorkAndTheyGrowWithTheData) {
  for (const MethodEntry& entry : methods()) {
    SCOPED_TRACE(entry.name + " at level " + to_string(entry.level));
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList options;
    recipe->declare(options);
    const RunShape small(task_of(entry, 1), 10), large(task_of(entry, 4), 10);
    const auto bytes = [&](const RunShape& run) {
      double sum = 0;
      for (const MemoryUse& use : recipe->memory(run).value()) sum += use.bytes;
      return sum;
    };
    ASSERT_TRUE(recipe->memory(small).has_value());
    ASSERT_TRUE(recipe->work(small).has_value());
    EXPECT_GT(bytes(small), 0);
    EXPECT_GT(bytes(large), bytes(small));
    EXPECT_GT(recipe->work(large)->flops(), recipe->work(small)->flops());
    EXPECT_GT(recipe->work(large)->bytes(), recipe->work(small)->bytes());
    EXPECT_GT(recipe->epoch(large.training).targets, recipe->epoch(small.training).targets);
    EXPECT_GE(recipe->epoch(small.training).steps, 1);
    // What is offered to save memory are values that the method takes.
    for (const Saving& saving : recipe->savings(small)) {
      for (const Settings& settings : saving) {
        for (const auto& [key, value] : settings) options.set("method", key, value);
      }
    }
  }
}

}  // namespace
}  // namespace grm::cost_tests
