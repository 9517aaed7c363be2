#include <torch/types.h>

#include <filesystem>

#include "data/describe.h"
#include "data/helpers.h"
#include "data/sentence_files.h"
#include "support/npz_writer.h"

namespace grm {
namespace {

using test::bytes_of;
using test::load_dataset;
using test::pickled;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Pair = std::pair<int64_t, int64_t>;
using Numbers = std::vector<int32_t>;

// Four sentences of 3, 1, 2 and 2 tokens over a vocabulary of three words.
class Sst2TreeFiles : public ::testing::Test {
 protected:
  Task load() const {
    folder_.write("sst2-tree/sst2graph.bin", "SSTG" + bytes_of(head_) + bytes_of(labels_) +
                                                 bytes_of(offsets_) + bytes_of(tokens_) +
                                                 bytes_of(parents_) + rest_);
    std::vector<float> vectors;
    for (int32_t k = 0; k < 3 * 100; ++k) vectors.push_back(static_cast<float>(k));
    folder_.write("sst2-tree/glove100.bin", bytes_of(vectors));
    folder_.write("sst2-tree/split_train.txt", "2\n0\n");
    folder_.write("sst2-tree/split_valid.txt", "1\n");
    folder_.write("sst2-tree/split_test.txt", "3\n");
    return load_dataset("sst2-tree", folder_.path());
  }
  std::string error() const {
    return test::data_error([&] { load(); });
  }

  test::TempFolder folder_;
  Numbers head_ = {4, 8, 3};
  Numbers labels_ = {1, 0, 0, 1};
  Numbers offsets_ = {0, 3, 4, 6, 8};
  Numbers tokens_ = {0, 2, 1, 1, 2, 0, 0, 0};
  Numbers parents_ = {1, -1, 1, -1, 1, -1, -1, 0};
  std::string rest_;
};

TEST_F(Sst2TreeFiles, EdgesJoinTokenAndHeadBothWaysAndFeaturesAreTheWordVectors) {
  const Task task = load();
  EXPECT_EQ(task.name, "sst2-tree");
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.classes, 2);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_EQ(task.loss, LossKind::softmax);
  const Graph& train = task.training[0].graph;
  EXPECT_THAT(test::to_vector(train.parts), ElementsAre(0, 2, 5));
  EXPECT_THAT(test::pairs_of(*train.edges),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(3, 2), Pair(2, 3), Pair(4, 3), Pair(3, 4)));
  EXPECT_EQ(train.x.width(), 100);
  EXPECT_THAT(test::to_vector(train.x.dense.select(1, 0)), ElementsAre(200, 0, 0, 200, 100));
  EXPECT_THAT(test::to_vector(train.x.dense.select(1, 99)), ElementsAre(299, 99, 99, 299, 199));
  EXPECT_THAT(test::to_vector(task.training[0].labels.y), ElementsAre(0, 1));
  EXPECT_EQ(task.validation[0].graph.edges->nnz(), 0);
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("not Graph-SST2")));
}

TEST_F(Sst2TreeFiles, EveryNumberThatDoesNotFitIsRefusedByName) {
  const auto again = [&] {
    head_ = {4, 8, 3};
    labels_ = {1, 0, 0, 1};
    offsets_ = {0, 3, 4, 6, 8};
    tokens_ = {0, 2, 1, 1, 2, 0, 0, 0};
    parents_ = {1, -1, 1, -1, 1, -1, -1, 0};
  };
  tokens_[1] = 3;
  EXPECT_THAT(error(), HasSubstr("token 1 of sentence 0 is word 3 of 3"));
  tokens_[1] = -1;
  EXPECT_THAT(error(), HasSubstr("token 1 of sentence 0 is word -1 of 3"));
  again();
  for (const int32_t parent : {-2, 3, 2}) {
    parents_[2] = parent;
    EXPECT_THAT(error(), HasSubstr(fmt::format("token 2 of sentence 0 has the head {}", parent)));
  }
  again();
  for (const int32_t offset : {0, -5, 2000000000, 7}) {
    offsets_[2] = offset;
    EXPECT_THAT(error(), HasSubstr("sentence 1")) << offset;
  }
  again();
  offsets_[0] = 1;
  EXPECT_THAT(error(), HasSubstr("the offsets run from 1 to 8"));
  again();
  labels_[0] = 2;
  EXPECT_THAT(error(), HasSubstr("label 2"));
  again();
  rest_ = "x";
  EXPECT_THAT(error(), HasSubstr("bytes, but 4 sentences of 8 tokens take"));
  rest_ = "";
  for (const int32_t count : {-1, 5, 2147483647}) {
    head_[0] = count;
    EXPECT_THAT(error(), HasSubstr("sst2graph.bin"));
    again();
    head_[1] = count;
    EXPECT_THAT(error(), HasSubstr("sst2graph.bin"));
    again();
  }
  head_[2] = 4;
  EXPECT_THAT(error(), HasSubstr("glove100.bin: 1200 bytes, but 4 rows of 100 numbers take 1600"));
}

TEST_F(Sst2TreeFiles, AFileCutAnywhereIsAnError) {
  load();
  const std::string whole = "SSTG" + bytes_of(head_) + bytes_of(labels_) + bytes_of(offsets_) +
                            bytes_of(tokens_) + bytes_of(parents_);
  for (size_t size = 0; size < whole.size(); size += 3) {
    folder_.write("sst2-tree/sst2graph.bin", whole.substr(0, size));
    EXPECT_THAT(test::data_error([&] { load_dataset("sst2-tree", folder_.path()); }),
                HasSubstr("sst2graph.bin"));
  }
}

// Split sizes and the range of sentence lengths that the split rule implies: at least 9 tokens for
// training and validation, 3 or 4 for the test. Trees have two edges less than twice their tokens.
TEST(Sst2TreeData, HasItsSentencesAsTrees) {
  REAL_DATA_OR_SKIP(root);
  const std::vector<DomainSummary> all = describe(load_dataset("sst2-tree", root));
  EXPECT_EQ(all[0].graphs, 28284);
  EXPECT_EQ(all[1].graphs, 3142);
  EXPECT_EQ(all[2].graphs, 12311);
  for (const DomainSummary& summary : all) {
    EXPECT_EQ(summary.features, 100);
    EXPECT_EQ(summary.edges, 2 * (summary.nodes - summary.graphs));
    EXPECT_EQ(summary.unlabelled, 0);
  }
  EXPECT_GE(all[0].sizes.front().low, 8);
  EXPECT_GE(all[1].sizes.front().low, 8);
  EXPECT_EQ(all[2].sizes.front().low, 3);
  EXPECT_EQ(all[2].sizes.back().low, 4);
}

// Sentences as chains of the given lengths; features of node k are (k, -k).
class GraphSst2Files : public ::testing::Test {
 protected:
  void make(const std::vector<int64_t>& sizes) {
    indicator_ = labels_ = edges_ = "";
    std::vector<float> x;
    for (size_t g = 0; g < sizes.size(); ++g) {
      labels_ += g % 2 ? "1\n" : "0\n";
      for (int64_t k = 0; k < sizes[g]; ++k) {
        const auto node = static_cast<int64_t>(x.size() / 2);
        indicator_ += std::to_string(g + 1) + "\n";
        if (k > 0) edges_ += fmt::format("{} {}\n", node - 1, node);
        x.insert(x.end(), {static_cast<float>(node), static_cast<float>(-node)});
      }
    }
    rows_ = x.size() / 2;
    features_ = bytes_of(x);
  }
  Task load(const std::string& split, int protocol = 4, const std::string& name = "Graph_SST2") {
    const std::string stem = name + "/raw/" + name + "_";
    folder_.write(stem + "node_indicator.txt", indicator_);
    folder_.write(stem + "graph_labels.txt", labels_);
    folder_.write(stem + "edge_index.txt", edges_);
    folder_.write(stem + "node_features.pkl", pickled(protocol, rows_, features_));
    return load_dataset("graph-sst2", folder_.path(), {{"split", split}});
  }
  std::string error() {
    return test::data_error([&] { load("dir"); });
  }
  // First feature of every graph's first node: which graphs these are.
  static std::vector<int64_t> first_nodes(const Domain& domain) {
    const torch::Tensor first = domain.graph.parts.slice(0, 0, -1);
    return test::to_vector(domain.graph.x.dense.select(1, 0).index_select(0, first));
  }

  test::TempFolder folder_;
  std::string indicator_, labels_, edges_, features_;
  size_t rows_ = 0;
};

TEST_F(GraphSst2Files, DirSplitTrainsOnLargeSentencesAndTestsOnThoseOfThreeAndFourTokens) {
  // A chain of N has q = 2 - 2 / N: N >= 9 is the pool (11 graphs, the first one validates), N of 3
  // and 4 the test, 5 to 8 unused; 1 and 2 have at most two directed edges.
  make({9, 3, 2, 10, 5, 4, 1, 11, 8, 12, 9, 9, 9, 9, 9, 9, 9, 3});
  const Task task = load("dir");
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.classes, 2);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_THAT(first_nodes(task.validation[0]), ElementsAre(0));
  EXPECT_THAT(first_nodes(task.training[0]),
              ElementsAre(14, 34, 53, 65, 74, 83, 92, 101, 110, 119));
  EXPECT_THAT(first_nodes(task.test[0]), ElementsAre(9, 29, 128));
  EXPECT_THAT(test::to_vector(task.test[0].labels.y), ElementsAre(1, 1, 1));
  EXPECT_THAT(test::pairs_of(*task.test[0].graph.edges),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2),  //
                          Pair(4, 3), Pair(3, 4), Pair(5, 4), Pair(4, 5), Pair(6, 5), Pair(5, 6),
                          Pair(8, 7), Pair(7, 8), Pair(9, 8), Pair(8, 9)));
  EXPECT_THAT(test::to_vector(task.test[0].graph.x.dense[3]), ElementsAre(29, -29));
}

TEST_F(GraphSst2Files, PercentileSplitTrainsOnSmallSentencesAndTestsOnLargeOnes) {
  // q = 0, 1, 1.333, 1.5, 1.6, 1.667, 1.714, 1.75, 1.778, 1.8 for N of 1 to 10. The median
  // is 1.633, the 80th percentile 1.756; a tenth of ten graphs validates: the first of N = 8, 6, 7.
  make({10, 8, 6, 4, 2, 1, 3, 5, 7, 9});
  const Task task = load("percentile");
  EXPECT_THAT(first_nodes(task.training[0]), ElementsAre(24, 31, 34));  // N = 4, 3, 5
  EXPECT_THAT(first_nodes(task.validation[0]), ElementsAre(10));        // N = 8
  EXPECT_THAT(first_nodes(task.test[0]), ElementsAre(0, 46));           // N = 10, 9
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("split percentile")));
}

TEST_F(GraphSst2Files, BothNamesOfTheFolderAndBothPickleProtocolsAreRead) {
  make({10, 8, 6, 4, 2, 1, 3, 5, 7, 9});
  const std::string first = fingerprint(load("percentile"));
  EXPECT_EQ(fingerprint(load("percentile", 3)), first);
  std::filesystem::remove_all(folder_.file("Graph_SST2"));
  EXPECT_EQ(fingerprint(load("percentile", 4, "Graph-SST2")), first);
}

TEST_F(GraphSst2Files, WhatDoesNotFitIsNamed) {
  const std::vector<int64_t> sizes = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3};
  const auto again = [&] { make(sizes); };
  again();
  edges_ += "8 9\n";
  EXPECT_THAT(error(), HasSubstr("edge_index.txt: edge 90 is 8 -> 9, which leaves graph 0"));
  again();
  edges_ += "101, 102\n";
  EXPECT_THAT(error(), HasSubstr("edge_index.txt: edge 90 is 101 -> 102"));
  again();
  edges_ += "1\n";
  EXPECT_THAT(error(), HasSubstr("edge_index.txt:91: 1 numbers, expected 2"));
  again();
  edges_ += "1 x\n";
  EXPECT_THAT(error(), HasSubstr("edge_index.txt:91: '1 x'"));
  again();
  indicator_ = "2\n1\n" + indicator_;
  EXPECT_THAT(error(), HasSubstr("node_indicator.txt:2: graph 1 after 2"));
  again();
  labels_ += "1\n";
  EXPECT_THAT(error(), HasSubstr("node_indicator.txt: graph 13 has no node"));
  again();
  indicator_ += "12\n";
  EXPECT_THAT(error(), HasSubstr("node_features.pkl: an array of 204 numbers"));
  again();
  features_ += "1234";
  EXPECT_THAT(error(), HasSubstr("node_features.pkl"));
}

TEST_F(GraphSst2Files, ADamagedPickleIsAnErrorWhereverItIsCut) {
  make({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3});
  load("dir");
  const std::string whole = pickled(4, rows_, features_);
  for (size_t size = 0; size < whole.size(); size += 7) {
    folder_.write("Graph_SST2/raw/Graph_SST2_node_features.pkl", whole.substr(0, size));
    EXPECT_THAT(test::data_error([&] { load_dataset("graph-sst2", folder_.path()); }),
                HasSubstr("node_features.pkl"));
  }
}

}  // namespace
}  // namespace grm
