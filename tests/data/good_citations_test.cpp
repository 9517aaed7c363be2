// good-cora and good-arxiv: one graph of papers under GOOD's laws, in small files of the published form.
#include <torch/types.h>

#include <algorithm>
#include <set>

#include "data/helpers.h"
#include "support/npz_writer.h"

namespace grm::good_citations_tests {
namespace {

using test::bytes_of;
using test::load_dataset;
using test::npy;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Twenty papers: paper i has i + 1 words and cites the papers after it up to i + 1 + i % 3.
struct CoraFull : ::testing::Test {
  CoraFull() { write(labels()); }
  static std::vector<int64_t> labels() {
    std::vector<int64_t> y;
    for (int64_t i = 0; i < 20; ++i) y.push_back(i % 4);
    return y;
  }
  void write(const std::vector<int64_t>& y) const {
    std::vector<int32_t> links, link_starts = {0}, words, word_starts = {0};
    for (int32_t i = 0; i < 20; ++i) {
      for (int32_t j = i + 1; j <= std::min(19, i + 1 + i % 3); ++j) links.push_back(j);
      link_starts.push_back(static_cast<int32_t>(links.size()));
      for (int32_t k = 0; k <= i; ++k) words.push_back(k);
      word_starts.push_back(static_cast<int32_t>(words.size()));
    }
    const auto shape = [](size_t n) { return "(" + std::to_string(n) + ",)"; };
    const auto whole = [&](const std::vector<int32_t>& all) {
      return npy("<i4", shape(all.size()), bytes_of(all));
    };
    const auto ones = [&](size_t n) {
      return npy("<f4", shape(n), bytes_of(std::vector<float>(n, 2.0F)));
    };
    folder.write("cora-full/cora.npz",
                 test::zip({{"adj_data.npy", ones(links.size())},
                            {"adj_indices.npy", whole(links)},
                            {"adj_indptr.npy", whole(link_starts)},
                            {"adj_shape.npy", npy("<i8", "(2,)", bytes_of<int64_t>({20, 20}))},
                            {"attr_data.npy", ones(words.size())},
                            {"attr_indices.npy", whole(words)},
                            {"attr_indptr.npy", whole(word_starts)},
                            {"attr_shape.npy", npy("<i8", "(2,)", bytes_of<int64_t>({20, 20}))},
                            {"labels.npy", npy("<i8", shape(y.size()), bytes_of(y))}}));
  }
  test::TempFolder folder;
};

TEST_F(CoraFull, ByWordsPapersWithManyTrain) {
  const Task task =
      load_dataset("good-cora", folder.path(), {{"domain", "word"}, {"report", "all"}});
  EXPECT_EQ(task.classes, 4);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  // Cuts at 12 and 16 of twenty, descending; two each are id_val and id_test.
  EXPECT_THAT(to_vector(task.validation[0].labels.evaluate), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(to_vector(task.test[0].labels.evaluate), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(task.test[1].labels.evaluate.numel(), 2);
  std::set<int64_t> trained;
  for (const Domain& domain : task.training) {
    for (const int64_t i : to_vector(domain.labels.loss)) {
      EXPECT_GE(i, 8);
      trained.insert(i);
    }
  }
  EXPECT_EQ(trained.size(), 8u);
  const Graph& graph = task.test[0].graph;
  EXPECT_TRUE(test::is_symmetric(*graph.edges));
  EXPECT_EQ(graph.x.to_dense()[6].sum().item<float>(), 7);  // counts are 0 or 1
}

TEST_F(CoraFull, ByDegreeEqualDegreesStayTogether) {
  const Task task = load_dataset("good-cora", folder.path(), {{"report", "all"}});
  const Csr& out = task.test[0].graph.edges->out;
  const auto degrees = [&](const torch::Tensor& nodes) {
    std::set<int64_t> found;
    for (const int64_t i : to_vector(nodes)) found.insert(out.offset()[i + 1] - out.offset()[i]);
    return found;
  };
  std::set<int64_t> trained;
  for (const Domain& domain : task.training) trained.merge(degrees(domain.labels.loss));
  const std::set<int64_t> validated = degrees(task.validation[0].labels.evaluate),
                          tested = degrees(task.test[0].labels.evaluate);
  EXPECT_GT(*trained.begin(), *validated.rbegin());
  EXPECT_GT(*validated.begin(), *tested.rbegin());
  for (const char* shift : {"none", "concept"}) {
    EXPECT_NO_THROW(load_dataset("good-cora", folder.path(), {{"shift", shift}})) << shift;
  }
}

TEST_F(CoraFull, LabelsThatDoNotFitAreNamed) {
  std::vector<int64_t> y = labels();
  y.pop_back();
  write(y);
  EXPECT_THAT(test::data_error([&] { load_dataset("good-cora", folder.path()); }),
              HasSubstr("cora.npz: 19 labels from 0 on"));
  y.push_back(-1);
  write(y);
  EXPECT_THAT(test::data_error([&] { load_dataset("good-cora", folder.path()); }),
              HasSubstr("labels from -1 on"));
}

TEST(GoodArxivFiles, ByTimeOldPapersTrain) {
  const test::TempFolder folder;
  std::string edges, features, labels, years;
  for (int i = 0; i < 20; ++i) {
    edges += std::to_string(i) + "," + std::to_string((i + 3) % 20) + "\n";
    for (int k = 0; k < 128; ++k) features += (k == 0 ? "" : ",") + std::to_string(i * k % 7);
    features += "\n";
    labels += std::to_string(i % 5) + "\n";
    years += std::to_string(2000 + i / 2) + "\n";
  }
  folder.write("arxiv/raw/edge.csv.gz", edges);
  folder.write("arxiv/raw/node-feat.csv.gz", features);
  folder.write("arxiv/raw/node-label.csv.gz", labels);
  folder.write("arxiv/raw/node_year.csv.gz", years);
  const Task task =
      load_dataset("good-arxiv", folder.path(), {{"domain", "time"}, {"report", "all"}});
  EXPECT_EQ(task.classes, 5);
  EXPECT_THAT(to_vector(task.validation[0].labels.evaluate), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(to_vector(task.test[0].labels.evaluate), ElementsAre(14, 15, 16, 17, 18, 19));
  EXPECT_EQ(task.test[1].labels.evaluate.numel(), 2);
  EXPECT_TRUE(test::is_symmetric(*task.test[0].graph.edges));
  EXPECT_EQ(task.test[0].graph.edges->nnz(), 40);
  EXPECT_THAT(task.notes, Contains(HasSubstr("members may differ")));
  for (const char* shift : {"none", "concept"}) {
    EXPECT_NO_THROW(load_dataset("good-arxiv", folder.path(), {{"shift", shift}})) << shift;
  }
}

}  // namespace
}  // namespace grm::good_citations_tests
