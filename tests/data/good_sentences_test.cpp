// good-sst2 and good-twitter: sentences by length under GOOD's laws.
#include <torch/types.h>

#include <algorithm>

#include "data/good/protocol.h"
#include "data/good_files.h"
#include "data/helpers.h"
#include "data/sentence_files.h"
#include "io/sst2_graph.h"

namespace grm::good_sentences_tests {
namespace {

using test::load_dataset;
using test::to_vector;
using ::testing::ElementsAre;
using namespace grm::good;

// Twenty sentences as chains, four of each of the lengths 1 to 5; labels in turn.
void write_sentences(const test::TempFolder& folder, const std::string& name, int64_t classes) {
  std::string indicator, labels, edges;
  std::vector<float> x;
  for (int64_t g = 0; g < 20; ++g) {
    labels += std::to_string(g / 5 % classes) + "\n";
    for (int64_t k = 0; k <= g % 5; ++k) {
      const auto node = static_cast<int64_t>(x.size() / 2);
      indicator += std::to_string(g + 1) + "\n";
      if (k > 0) edges += std::to_string(node - 1) + "," + std::to_string(node) + "\n";
      x.insert(x.end(), {static_cast<float>(g), 1.0F});
    }
  }
  const std::string stem = "Graph-" + name + "/raw/Graph-" + name + "_";
  folder.write(stem + "node_indicator.txt", indicator);
  folder.write(stem + "graph_labels.txt", labels);
  folder.write(stem + "edge_index.txt", edges);
  folder.write(stem + "node_features.pkl", test::pickled(4, x.size() / 2, test::bytes_of(x)));
}

TEST(GoodSentenceFiles, ShortOnesTrainAndLongOnesTest) {
  const test::TempFolder folder;
  write_sentences(folder, "SST2", 2);
  write_sentences(folder, "Twitter", 3);
  for (const auto& [name, classes] :
       {std::pair<const char*, int64_t>{"good-sst2", 2}, {"good-twitter", 3}}) {
    const Task task = load_dataset(name, folder.path(), {{"report", "all"}});
    EXPECT_EQ(task.metric, MetricKind::accuracy);
    EXPECT_EQ(task.classes, classes);
    EXPECT_EQ(task.loss, classes == 2 ? LossKind::binary_pair : LossKind::softmax);
    // Twenty sentences: cuts at 10 and 15, so lengths 1 to 3 train, 4 validates, 5 tests; of twelve
    // floor(0.15 * 12) = 1 each are id_val and id_test.
    EXPECT_EQ(task.training[0].graph.items(), 10);
    EXPECT_LE(to_vector(task.training[0].graph.parts.diff().max())[0], 3);
    EXPECT_THAT(to_vector(task.validation[0].graph.parts.diff()), ElementsAre(4, 4, 4, 4));
    EXPECT_THAT(to_vector(task.test[0].graph.parts.diff()), ElementsAre(5, 5, 5, 5));
    EXPECT_EQ(task.test[1].graph.items(), 1);
    EXPECT_EQ(task.test[2].graph.items(), 1);
    EXPECT_EQ(task.test[0].graph.edges->nnz(), 4 * 8);
    // Which sentences these are is told by their first feature, in the order of the list.
    EXPECT_THAT(to_vector(task.test[0].graph.x.dense.select(1, 0).slice(0, 0, 20, 5)),
                ElementsAre(4, 9, 14, 19));
    EXPECT_THAT(to_vector(task.test[0].labels.y), ElementsAre(0, 1, 2 % classes, 3 % classes));
  }
}

// The specification counted the law on the substitute trees of the same 70,042 sentences.
TEST(GoodSentencesData, TheLawGivesTheSpecificationsCountsOnTheSubstituteTrees) {
  REAL_DATA_OR_SKIP(root);
  const io::SentenceTrees trees = io::read_sentence_trees(root + "/sst2-tree/sst2graph.bin");
  const std::vector<int64_t> tokens = to_vector(trees.parts.diff());
  const auto split = [&](Shift shift) {
    Streams streams;
    return split_of_set(shift, tokens, numbers_of(trees.labels), kCovariateOfLength, kConceptOfSets,
                        streams.python);
  };
  const Split covariate = split(Shift::covariate);
  EXPECT_THAT(test::sizes_of(covariate), ElementsAre(24773, 5308, 5308, 17228, 17425));
  EXPECT_EQ(*std::max_element(covariate.environment.begin(), covariate.environment.end()), 6);
  int64_t longest = 0;
  for (const int64_t i : covariate[Subset::train]) longest = std::max(longest, tokens.at(i));
  EXPECT_EQ(longest, 7);
  EXPECT_THAT(test::sizes_of(split(Shift::by_concept)),
              ElementsAre(27312, 5852, 5852, 15257, 15769));
}

}  // namespace
}  // namespace grm::good_sentences_tests
