// Training and prediction on a graph in parts have the bits of the graph in one piece, on any number
// of processes.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstring>

#include "core/system/temporary_folder.h"
#include "data/mapped/partition.h"
#include "data/mapped/read.h"
#include "data/mapped/write.h"
#include "grm/train/config.h"
#include "methods/layer_wise.h"
#include "support/expect_error.h"
#include "support/world.h"
#include "train/evaluate.h"
#include "train/same_run.h"
#include "train/sampling.h"

namespace grm::parted_tests {
namespace {

struct Result {
  std::map<std::string, torch::Tensor> tensors;
  std::vector<double> terms;
};

Result train(const RunConfig& config, const Task& task, const std::shared_ptr<dist::Group>& group) {
  TrainView view = task.train_view();
  view.sampling = sampling_of(config);
  view.sharding = {config.train.shards, group};
  const std::unique_ptr<Method> method = config.method.build(view, Rng(7));
  Result result;
  for (int64_t epoch = 1; epoch <= 2; ++epoch) {
    for (const LossTerm& term : method->train_epoch(epoch)) result.terms.push_back(term.value);
  }
  result.tensors = method->parameters().snapshot();
  for (const Role role : {Role::validation, Role::test}) {
    for (const GroupLogits& logits : group_logits(*method, task, role, group)) {
      result.tensors["logits/" + logits.name] = logits.logits;
    }
  }
  return result;
}

void expect_bits(const Result& a, const Result& b, const std::string& what) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    const torch::Tensor other = b.tensors.at(name);
    ASSERT_EQ(tensor.sizes(), other.sizes()) << what << ": " << name;
    EXPECT_EQ(
        std::memcmp(tensor.contiguous().data_ptr(), other.contiguous().data_ptr(), tensor.nbytes()),
        0)
        << what << ": " << name;
  }
  EXPECT_EQ(a.terms, b.terms) << what;
}

class PartedRuns : public testing::Test {
 protected:
  PartedRuns() : whole_(temporary_.path() + "/whole"), parts_(temporary_.path() + "/parts") {
    RunConfig config("sbm", "erm");
    config.set("dataset.nodes", "70");
    mapped::write_task(config.dataset.load({}), whole_, "a test", false);
    mapped::partition(whole_, 4, mapped::PartBy::hash, parts_, false);
  }
  TemporaryFolder temporary_{"grm-parted"};
  std::string whole_, parts_;
};

TEST_F(PartedRuns, HaveTheBitsOfTheGraphInOnePiece) {
  struct Each {
    std::string method;
    std::vector<std::pair<std::string, std::string>> values;
  };
  // 17 targets for four shards, 3 for four, a network without neighbours, whole steps on all.
  for (const Each& each : std::vector<Each>{
           {"erm", {{"train.batch", "17"}, {"train.fanout", "3,2"}, {"train.shards", "4"}}},
           {"erm", {{"train.batch", "3"}, {"train.shards", "4"}, {"method.dropout", "0.3"}}},
           {"erm", {{"train.batch", "40"}, {"train.shards", "4"}, {"method.backbone", "mlp"}}},
           {"drnn",
            {{"train.batch", "17"}, {"train.fanout", "3,2"}, {"method.domains", "natural"}}},
           {"mmd",
            {{"train.batch", "17"}, {"train.fanout", "3,2"}, {"method.domains", "natural"}}}}) {
    RunConfig config("sbm", each.method);
    for (const auto& [key, value] : each.values) config.set(key, value);
    const Result expected = train(config, mapped::load(whole_), nullptr);
    for (const int world : {1, 2, 4}) {
      if (world > 1 && !dist::can_join()) continue;
      test::as_world(world, [&](const std::shared_ptr<dist::Group>& group) {
        const Task task = mapped::load(parts_, {group, 1});
        check_parts(config, task, group);
        check_sharding(config, group, &task);
        expect_bits(train(config, task, group), expected,
                    fmt::format("{}, rank {} of {}", each.method, group->rank(), world));
      });
    }
  }
}

// Small chunks: several rounds of all processes for each layer, with an uneven end.
TEST_F(PartedRuns, PredictLayerByLayer) {
  if (!dist::can_join()) GTEST_SKIP() << "skipped: built without Gloo";
  const Task whole = mapped::load(whole_);
  const auto run = [](int64_t layer, const Graph& part) {  // sums of rows, and which layer it is
    const torch::Tensor x = part.x.to_dense();
    const Csr& in = part.edges->in;
    torch::Tensor rows = torch::zeros({in.rows, 3 + layer});
    for (int64_t i = 0; i < in.rows; ++i) {
      for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
        rows[i] += x[in.index()[e]].sum() * (0.01 + 0.001 * torch::arange(3 + layer));
      }
    }
    return rows;
  };
  const torch::Tensor nodes = torch::tensor({60, 3, 4, 44, 45, 46, 12}, torch::kInt64);
  const Graph& graph = whole.training.front().graph;
  const torch::Tensor expected = layer_wise(graph, nodes, 3, run, 9);
  test::as_world(3, [&](const std::shared_ptr<dist::Group>& group) {
    const Task task = mapped::load(parts_, {group, 1});
    const torch::Tensor got = layer_wise(task.training.front().graph, nodes, 3, run, 9);
    EXPECT_TRUE(torch::equal(got, expected));
  });
}

TEST_F(PartedRuns, AreRefusedWhereAMethodWantsMore) {
  const Task task = mapped::load(parts_, {dist::alone(), 1});
  for (const std::string method : {"grm", "mmd", "eerm"}) {
    const RunConfig config("sbm", method);
    EXPECT_THAT(test::error_of(ErrorKind::config, [&] { check_parts(config, task, nullptr); }),
                testing::HasSubstr("does not read a graph in parts"));
  }
  const RunConfig config("sbm", "erm");
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { check_both_ways(task, {}); }),
              testing::HasSubstr("train on samples"));
}

// A step that is cut is the step on the whole batch, where all neighbours are taken.
TEST(ShardedSamples, AreTheStepOnTheWholeBatch) {
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "60");
  config.set("train.batch", "100");
  config.set("method.dropout", "0");
  config.set("method.batch_norm", "false");
  const Task task = config.dataset.load({});
  const auto gradients = [&](int64_t shards) {
    TrainView view = task.train_view();
    view.sampling = sampling_of(config);
    view.sharding.shards = shards;
    const std::unique_ptr<Method> method = config.method.build(view, Rng(7));
    const double total = method->train_epoch(1).front().value;
    std::map<std::string, torch::Tensor> all = {{"total", torch::full({1}, total)}};
    for (const auto& [name, parameter] : method->parameters().parameters()) {
      if (parameter.grad().defined()) all[name] = parameter.grad().clone();
    }
    return all;
  };
  const auto expected = gradients(1), got = gradients(3);
  ASSERT_EQ(expected.size(), got.size());
  for (const auto& [name, gradient] : expected) {
    const double scale = gradient.abs().max().item<double>();
    EXPECT_LE((gradient - got.at(name)).abs().max().item<double>(), 1e-4 * scale + 1e-8) << name;
  }
}

}  // namespace
}  // namespace grm::parted_tests
