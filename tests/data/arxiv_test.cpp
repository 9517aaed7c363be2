#include <torch/types.h>
#include <zlib.h>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::load_dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Citation = std::pair<int64_t, int64_t>;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Eight papers; feature k of paper i is i + k / 1000.
class ArxivFiles : public ::testing::Test {
 protected:
  ArxivFiles() {
    for (int i = 0; i < 8; ++i) features_ += feature_row(i);
  }

  static std::string feature_row(int i) {
    std::string row;
    for (int k = 0; k < 128; ++k) row += fmt::format("{}{}", k ? "," : "", i + k / 1000.0);
    return row + "\n";
  }

  Task load() const {
    folder_.write("arxiv/raw/edge.csv.gz", gzipped(edges_));
    folder_.write("arxiv/raw/node-feat.csv.gz", gzipped(features_));
    folder_.write("arxiv/raw/node-label.csv.gz", gzipped(labels_));
    folder_.write("arxiv/raw/node_year.csv.gz", gzipped(years_));
    return load_dataset("arxiv", folder_.path());
  }
  std::string error() const {
    return test::data_error([&] { load(); });
  }

  test::TempFolder folder_;
  std::string features_;
  std::string labels_ = "0\n3\n1\n2\n0\n1\n2\n3\n";
  std::string years_ = "2013\n2011\n2020\n1971\n2015\n2016\n2018\n2019\n";
  std::string edges_ = "0,1\n1,3\n1,3\n2,0\n4,1\n5,4\n6,0\n7,2\n3,3\n";
};

TEST_F(ArxivFiles, OtherPapersAreOneGraphOfAllYears) {
  load();
  const DatasetChoice choice("arxiv");
  ASSERT_TRUE(choice.dataset().is_unseen_form(folder_.file("arxiv")));
  const std::vector<Domain> found = choice.dataset().load_unseen(folder_.file("arxiv"), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "arxiv");
  EXPECT_EQ(found[0].graph.nodes(), 8);
  EXPECT_FLOAT_EQ(found[0].graph.x.dense[3][7].item<float>(), 3.007F);
}

TEST_F(ArxivFiles, GraphOfAPeriodHasAllPapersUpToItsEndInFileOrder) {
  const Task task = load();
  ASSERT_EQ(task.training.size(), 1u);
  ASSERT_EQ(task.validation.size(), 1u);
  ASSERT_EQ(task.test.size(), 3u);
  std::vector<int64_t> sizes;
  for (const DomainSummary& summary : describe(task)) sizes.push_back(summary.nodes);
  EXPECT_THAT(sizes, ElementsAre(2, 3, 5, 6, 8));
  EXPECT_EQ(task.test[0].name, "T1");
  EXPECT_EQ(task.test[2].name, "T3");
  // Training papers are 1 and 3, so their features begin with 1 and 3.
  const torch::Tensor x = task.training[0].graph.x.to_dense();
  EXPECT_EQ(x.size(1), 128);
  EXPECT_FLOAT_EQ(x[0][0].item<float>(), 1);
  EXPECT_FLOAT_EQ(x[1][127].item<float>(), 3.127f);
  EXPECT_THAT(test::to_vector(task.training[0].labels.y), ElementsAre(3, 2));
}

TEST_F(ArxivFiles, EdgesHaveBothEndsInThePeriodKeepTheirDirectionAndAreMerged) {
  const Task task = load();
  EXPECT_THAT(test::pairs_of(*task.training[0].graph.edges),
              ElementsAre(Citation(0, 1), Citation(1, 1)));
  // Papers 0, 1, 3 become 0, 1, 2.
  EXPECT_THAT(test::pairs_of(*task.validation[0].graph.edges),
              ElementsAre(Citation(0, 1), Citation(1, 2), Citation(2, 2)));
  EXPECT_EQ(task.test[2].graph.edges->nnz(), 8);
}

TEST_F(ArxivFiles, AllPapersTrainButOnlyNewOnesAreEvaluated) {
  const Task task = load();
  EXPECT_THAT(test::to_vector(task.training[0].labels.loss), ElementsAre(0, 1));
  EXPECT_THAT(test::to_vector(task.validation[0].labels.evaluate), ElementsAre(0));
  EXPECT_THAT(test::to_vector(task.test[0].labels.evaluate), ElementsAre(3, 4));
  EXPECT_THAT(test::to_vector(task.test[1].labels.evaluate), ElementsAre(5));
  EXPECT_THAT(test::to_vector(task.test[2].labels.evaluate), ElementsAre(2, 7));
}

TEST_F(ArxivFiles, ClassesAreThoseOfTheTrainingGraphAndALargerLabelElsewhereIsAnError) {
  EXPECT_EQ(load().classes, 4);
  labels_ = "0\n3\n1\n2\n0\n1\n4\n3\n";
  EXPECT_THAT(error(), HasSubstr("label 4 of node 5"));
}

TEST_F(ArxivFiles, SizesOtherThanThePublishedOnesAreNoted) {
  EXPECT_THAT(load().notes, ::testing::Contains(HasSubstr("published graph has 17401")));
}

TEST_F(ArxivFiles, BadRowsAreNamedWithFileAndLine) {
  const std::string edges = edges_, labels = labels_, features = features_;
  edges_ = edges + "0,8\n";
  EXPECT_THAT(error(), HasSubstr("edge.csv.gz:10: the edge 0 -> 8"));
  edges_ = edges;
  labels_ = "0\n3\n1.5\n2\n0\n1\n2\n3\n";
  EXPECT_THAT(error(), HasSubstr("node-label.csv.gz:3"));
  labels_ = "0\n3\n-1\n2\n0\n1\n2\n3\n";
  EXPECT_THAT(error(), HasSubstr("node-label.csv.gz:3: -1 is negative"));
  labels_ = "0\n3\n";
  EXPECT_THAT(error(), HasSubstr("node-label.csv.gz: 2 rows, but there are features of 8 nodes"));
  labels_ = labels;
  features_ = features + "1,2,3\n";
  EXPECT_THAT(error(), HasSubstr("node-feat.csv.gz:9"));
  features_ = features;
  features_.replace(0, 1, "inf");
  EXPECT_THAT(error(), HasSubstr("node-feat.csv.gz:1 column 1: the feature is inf"));
}

TEST_F(ArxivFiles, EmptyFilesAreAnEmptyGraph) {
  edges_ = labels_ = years_ = features_ = "";
  EXPECT_THAT(error(), ::testing::AnyOf(HasSubstr("empty graph"), HasSubstr("0 classes")));
}

TEST_F(ArxivFiles, TruncatedFileIsAnError) {
  load();
  const std::string bytes = gzipped(features_);
  folder_.write("arxiv/raw/node-feat.csv.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(test::data_error([&] { load_dataset("arxiv", folder_.path()); }),
              HasSubstr("node-feat.csv.gz"));
}

TEST_F(ArxivFiles, CacheGivesTheSameData) {
  const std::string plain = fingerprint(load());
  const test::TempFolder cache;
  DataContext context;
  context.root = folder_.path();
  context.cache = cache.path();
  EXPECT_EQ(fingerprint(load_dataset("arxiv", context)), plain);
  EXPECT_EQ(fingerprint(load_dataset("arxiv", context)), plain);
}

}  // namespace
}  // namespace grm
