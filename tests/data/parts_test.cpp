// Graphs in parts: the cut against naive counts, and what comes back from the parts against the graph
// in one piece, whoever holds them.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/files.h"
#include "core/system/temporary_folder.h"
#include "data/mapped/partition.h"
#include "data/mapped/read.h"
#include "data/mapped/row_cache.h"
#include "data/mapped/write.h"
#include "graph/parted.h"
#include "graph/sample.h"
#include "grm/data/dataset.h"
#include "grm/data/own_data.h"
#include "support/expect_error.h"
#include "support/world.h"

namespace grm::parts_tests {
namespace {

using mapped::PartBy;
using ::testing::HasSubstr;

// Dense and sparse features, a constant row, weights and features of edges, self-pairs, nodes without
// edges, pairs of one direction.
Task rich_task() {
  DatasetChoice choice("sbm");
  choice.options().set("dataset", "nodes", "90");
  choice.options().set("dataset", "centre", "domain");
  Task task = choice.load({});
  for (std::vector<Domain>* domains : {&task.training, &task.validation, &task.test}) {
    for (Domain& domain : *domains) {
      Graph& graph = domain.graph;
      const int64_t n = graph.nodes();
      const torch::Tensor source = torch::randint(n, {4 * n}, torch::kInt64);
      const torch::Tensor target = torch::randint(n - 5, {4 * n}, torch::kInt64);
      const torch::Tensor self = torch::arange(0, n, 3);
      graph.edges = make_adjacency(n, n, torch::cat({source, self}), torch::cat({target, self}));
      graph.edge_weights = torch::rand({graph.edges->nnz()});
      graph.edge_x.dense = torch::rand({graph.edges->nnz(), 2});
      graph.x.dense = torch::rand({n, 3});
      const int64_t width = graph.x.width();
      graph.x.shift = torch::rand({width});
    }
  }
  return task;
}

class Parts : public testing::Test {
 protected:
  Parts() : whole_(temporary_.path() + "/whole"), parts_(temporary_.path() + "/parts") {
    torch::manual_seed(5);
    mapped::write_task(rich_task(), whole_, "a test", false);
  }
  Task whole() const { return mapped::load(whole_); }

  TemporaryFolder temporary_{"grm-parts"};
  std::string whole_, parts_;
};

void expect_same(const torch::Tensor& a, const torch::Tensor& b, const char* what) {
  ASSERT_EQ(a.defined(), b.defined()) << what;
  EXPECT_TRUE(!a.defined() || torch::equal(a, b)) << what;
}

void expect_same_features(const Features& a, const Features& b) {
  expect_same(a.dense, b.dense, "dense");
  expect_same(a.shift, b.shift, "shift");
  ASSERT_EQ(a.sparse != nullptr, b.sparse != nullptr);
  if (!a.sparse) return;
  expect_same(a.sparse->in.offsets, b.sparse->in.offsets, "sparse offsets");
  expect_same(a.sparse->in.indices, b.sparse->in.indices, "sparse columns");
  expect_same(a.sparse_values, b.sparse_values, "sparse values");
}

void expect_same_sample(const SampledGraph& a, const SampledGraph& b) {
  expect_same(a.nodes, b.nodes, "nodes");
  const GraphSample &x = *a.graph.sample, &y = *b.graph.sample;
  ASSERT_EQ(x.layers.size(), y.layers.size());
  for (size_t l = 0; l < x.layers.size(); ++l) {
    expect_same(x.layers[l]->in.offsets, y.layers[l]->in.offsets, "offsets");
    expect_same(x.layers[l]->in.indices, y.layers[l]->in.indices, "indices");
  }
  expect_same(x.degrees, y.degrees, "degrees");
  expect_same(x.stands_for, y.stands_for, "stands for");
  expect_same(a.graph.edge_weights, b.graph.edge_weights, "weights");
  expect_same(a.graph.edge_x.dense, b.graph.edge_x.dense, "features of edges");
  expect_same_features(a.graph.x, b.graph.x);
}

// Every node is in one part, every edge is where its target is, counts are those of plain loops.
TEST_F(Parts, HoldEveryNodeAndEveryEdgeOnce) {
  for (const PartBy by : all_values<PartBy>()) {
    if (by == PartBy::metis && !mapped::has_metis()) continue;
    const std::string folder = parts_ + to_string(by);
    const mapped::PartsHead head = mapped::partition(whole_, 3, by, folder, false);
    const Task task = whole();
    const Graph& graph = task.training.front().graph;
    const std::string bytes = read_file(folder + "/graph0.where.i64");
    ASSERT_EQ(bytes.size(), static_cast<size_t>(graph.nodes()) * 8);
    std::vector<int64_t> where(static_cast<size_t>(graph.nodes()));
    std::memcpy(where.data(), bytes.data(), bytes.size());
    std::set<int64_t> places(where.begin(), where.end());
    EXPECT_EQ(places.size(), where.size());
    const auto [source, target] = edge_list(*graph.edges);
    std::vector<int64_t> nodes(3, 0), edges(3, 0), cut(3, 0);
    for (const int64_t place : where) ++nodes.at(static_cast<size_t>(place >> 32));
    for (int64_t e = 0; e < graph.edges->nnz(); ++e) {
      const auto to = static_cast<size_t>(where[target[e].item<int64_t>()] >> 32);
      ++edges[to];
      if (where[source[e].item<int64_t>()] >> 32 != static_cast<int64_t>(to)) ++cut[to];
    }
    for (size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(head.graphs[0].parts[p].nodes, nodes[p]);
      EXPECT_EQ(head.graphs[0].parts[p].edges, edges[p]);
      EXPECT_EQ(head.graphs[0].parts[p].cut, cut[p]);
      EXPECT_GT(nodes[p], 0);
    }
    mapped::verify(folder);
    EXPECT_TRUE(check_own(folder).empty());
  }
}

// Two cliques with a bridge: a program that minimises the cut finds it.
TEST_F(Parts, MetisFindsABridge) {
  if (!mapped::has_metis()) GTEST_SKIP() << "skipped: built without METIS";
  std::vector<int64_t> source, target;
  for (int64_t a = 0; a < 40; ++a) {
    for (int64_t b = 0; b < 40; ++b) {
      if (a != b && a % 2 == b % 2) source.push_back(a), target.push_back(b);
    }
  }
  source.push_back(0), target.push_back(1);
  const AdjacencyPtr edges = make_adjacency(40, 40, torch::tensor(source), torch::tensor(target));
  const std::vector<int32_t> part = mapped::parts_by_metis(edges->in, false, 2);
  for (size_t k = 2; k < 40; ++k) EXPECT_EQ(part[k], part[k % 2]);
  EXPECT_NE(part[0], part[1]);
}

TEST_F(Parts, GiveWhatTheGraphInOnePieceGives) {
  mapped::partition(whole_, 5, PartBy::hash, parts_, false);
  const Task expected = whole();
  for (const int world : {1, 2, 4}) {
    if (world > 1 && !dist::can_join()) continue;
    test::as_world(world, [&](const std::shared_ptr<dist::Group>& group) {
      // Caches: none, one of a few rows, one that has them all.
      for (const int64_t cache : {0, 1}) {
        const Task task = mapped::load(parts_, {group, cache});
        EXPECT_EQ(task.hashes, expected.hashes);
        const Graph &graph = task.training.front().graph, &one = expected.training.front().graph;
        ASSERT_TRUE(graph.parted);
        EXPECT_EQ(graph.parted->edges(), one.edges->nnz());
        EXPECT_EQ(graph.x.width(), one.x.width());
        // Each rank asks for nodes of its own choice, one of them for none.
        for (uint64_t round = 0; round < 4; ++round) {
          const auto rank = static_cast<uint64_t>(group->rank());
          Stream draws(mix64(round, rank));
          const auto count = rank == 1 && round == 1 ? 0 : static_cast<int64_t>(5 + 7 * rank);
          const std::vector<int64_t> picked = draws.choose(graph.nodes(), count);
          const torch::Tensor targets = torch::tensor(picked, torch::kInt64);
          for (const std::vector<int64_t>& fanout :
               {std::vector<int64_t>{3, 2}, std::vector<int64_t>{0}, std::vector<int64_t>{}}) {
            expect_same_sample(sample_graph(graph, targets, fanout, draws),
                               sample_graph(one, targets, fanout, draws));
          }
        }
        // The same of all: neighbours and counts.
        const torch::Tensor ids = torch::tensor({2, 3, 5, 40, 88}, torch::kInt64);
        std::set<int64_t> naive;
        for (int64_t k = 0; k < ids.numel(); ++k) {
          const auto id = ids[k].item<int64_t>();
          naive.insert(id);
          const Csr& in = one.edges->in;
          for (int64_t e = in.offset()[id]; e < in.offset()[id + 1]; ++e)
            naive.insert(in.index()[e]);
          EXPECT_EQ(graph.parted->counts(ids)[k].item<int64_t>(),
                    in.offset()[id + 1] - in.offset()[id]);
        }
        const std::vector<int64_t> list(naive.begin(), naive.end());
        EXPECT_TRUE(torch::equal(graph.parted->with_neighbours(ids), torch::tensor(list)));
      }
    });
  }
}

TEST_F(Parts, AreRefusedWhereTheyCannotBeRead) {
  const auto message = [](const std::function<void()>& f, ErrorKind kind = ErrorKind::config) {
    return test::error_of(kind, f);
  };
  EXPECT_THAT(
      message([&] { mapped::partition(temporary_.path(), 2, PartBy::hash, parts_, false); }),
      HasSubstr("holds no mapped graphs"));
  mapped::partition(whole_, 2, PartBy::hash, parts_, false);
  EXPECT_EQ(mapped::name_of(parts_), "sbm");
  EXPECT_THAT(message([&] { mapped::partition(parts_, 2, PartBy::hash, parts_ + "2", false); }),
              HasSubstr("in parts already"));
  EXPECT_THAT(message([&] { mapped::partition(whole_, 2, PartBy::hash, parts_, false); }),
              HasSubstr("not empty"));
  EXPECT_THAT(message([&] { load_own(parts_); }), HasSubstr("give the folder that was cut"));
  DataContext context;
  context.processes = dist::alone();
  DatasetChoice choice(parts_);
  EXPECT_NO_THROW(choice.load(context));
  choice.options().set("dataset", "symmetrise", "true");
  EXPECT_THAT(message([&] { choice.load(context); }), HasSubstr("cannot be set any more"));
}

TEST_F(Parts, DamageIsFound) {
  mapped::partition(whole_, 2, PartBy::hash, parts_, false);
  const auto damaged = [&](const std::string& file, size_t at) {
    const std::string kept = read_file(parts_ + "/" + file);
    std::string bytes = kept;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x11);
    std::ofstream(parts_ + "/" + file, std::ios::binary) << bytes;
    EXPECT_FALSE(check_own(parts_).empty()) << file;
    std::ofstream(parts_ + "/" + file, std::ios::binary) << kept;
  };
  for (const std::string file :
       {"graph0.where.i64", "graph0.y.i64", "part0/graph0.in_offsets.i64",
        "part1/graph0.in_indices.i32", "part1/graph0.x.f32", "part0/graph0.edge_x.f32",
        "part1/graph0.sparse_offsets.i64", "whole.json", "parts.json"}) {
    damaged(file, 9);
  }
  EXPECT_TRUE(check_own(parts_).empty());
  std::filesystem::remove(parts_ + "/part1/graph0.x.f32");
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { mapped::verify(parts_); }),
              HasSubstr("part1/graph0.x.f32: the file is missing"));
}

TEST(RowCache, KeepsWhatIsAskedForOften) {
  mapped::RowCache cache(8 * (4 * 3 + 16), 3);
  const auto row = [](int32_t k) { return std::vector<int32_t>{k, k + 1, k + 2}; };
  for (int32_t round = 0; round < 50; ++round) {
    for (const int32_t node : {7, 8, 9, 1000 + round}) {  // three hot ones, one that never returns
      if (const int32_t* words = cache.find(node)) {
        EXPECT_EQ(std::vector<int32_t>(words, words + 3), row(node));
      } else {
        cache.add(node, row(node).data(), 3);
      }
    }
  }
  EXPECT_EQ(cache.asked(), 200);
  EXPECT_GE(cache.found(), 3 * 40);
  mapped::RowCache none(0, 3);
  none.add(1, row(1).data(), 3);
  EXPECT_EQ(none.find(1), nullptr);
}

}  // namespace
}  // namespace grm::parts_tests
