// The fb100 loader on small files of the published format, made here.
#include <torch/types.h>

#include <filesystem>

#include "data/describe.h"
#include "data/fb100_files.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::kUniversityInfo;
using test::load_dataset;
using test::university;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Fb100Files : public ::testing::Test {
 protected:
  Fb100Files() {
    for (const std::string& file : DatasetChoice("fb100").files())
      folder_.write(file, university());
  }
  Task load(const test::Settings& settings = {}) const {
    return load_dataset("fb100", folder_.path(), settings);
  }
  test::TempFolder folder_;
};

TEST_F(Fb100Files, AllFourteenPresentLeavesNothingToNote) {
  const Task task = load();
  EXPECT_TRUE(task.notes.empty());
  EXPECT_TRUE(task.missing.empty());
  EXPECT_EQ(task.hashes.size(), 14u);
  std::vector<std::string> names;
  for (const DomainSummary& summary : describe(task)) names.push_back(summary.name);
  EXPECT_THAT(names, ElementsAre("JohnsHopkins55", "Caltech36", "Amherst41", "Cornell5", "Yale4",
                                 "Penn94", "Brown11", "Texas80"));
}

TEST_F(Fb100Files, FeaturesAreBlocksInColumnOrderWithZeroAsAValue) {
  const Graph graph = load().training[0].graph;
  // Values per column: 1 2 | 5 9 | 0 3 | 7 8 | 2004 2005 2006 | 0 11 12.
  EXPECT_EQ(graph.x.width(), 14);
  EXPECT_THAT(test::to_vector(graph.x.sparse->in.indices),
              ElementsAre(0, 2, 4, 6, 8, 11, 0, 2, 4, 7, 9, 12, 1, 3, 5, 6, 10, 13));
}

TEST_F(Fb100Files, AValueOfAnUnusedUniversityWidensTheVocabulary) {
  std::vector<double> info = kUniversityInfo;
  info[0] = 6;  // status of the first user
  folder_.write("facebook100/Carnegie49.mat", university(info));
  EXPECT_EQ(load().features(), 15);
}

TEST_F(Fb100Files, AnotherUniversityIsReadByTheNamesOfTheFeatures) {
  const Task task = load();
  ASSERT_EQ(task.feature_names.size(), 14u);
  EXPECT_EQ(task.feature_names[0], "status=1");
  EXPECT_EQ(task.feature_names[8], "year=2004");
  std::vector<double> info = kUniversityInfo;
  info[12] = 99;  // dorm of the first user
  info[14] = 98;  // and of the third
  info[15] = 2011;
  folder_.write("new/Reed98.mat", university(info));
  const DatasetChoice choice("fb100");
  EXPECT_TRUE(choice.dataset().is_unseen_form(folder_.file("new/Reed98.mat")));
  EXPECT_TRUE(choice.dataset().is_unseen_form(folder_.file("new")));
  EXPECT_FALSE(choice.dataset().is_unseen_form(folder_.path()));
  test::WarningTrap warnings;
  const std::vector<Domain> found =
      choice.dataset().load_unseen(folder_.file("new"), task.feature_names);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "Reed98");
  // As in training, less dorm and year of the first user and dorm of the third.
  EXPECT_THAT(test::to_vector(found[0].graph.x.sparse->in.indices),
              ElementsAre(0, 2, 4, 11, 0, 2, 4, 7, 9, 12, 1, 3, 5, 10, 13));
  EXPECT_EQ(found[0].graph.x.width(), 14);
  EXPECT_THAT(test::to_vector(found[0].labels.y), ElementsAre(0, 1, 0));
  ASSERT_EQ(warnings.warnings.size(), 1u);
  EXPECT_THAT(warnings.warnings[0],
              HasSubstr("2 of dorm (the first is 99), 1 of year (the first is 2011)"));
}

TEST_F(Fb100Files, NamesThatAreNoVocabularyAreRefused) {
  folder_.write("new/Reed98.mat", university());
  const auto error = [&](const std::vector<std::string>& names) {
    return test::data_error(
        [&] { DatasetChoice("fb100").dataset().load_unseen(folder_.file("new"), names); });
  };
  EXPECT_THAT(error({}), HasSubstr("does not hold the vocabulary of fb100"));
  EXPECT_THAT(error({"status=1", "colour=2"}), HasSubstr("'colour=2' is not one of fb100"));
  EXPECT_THAT(error({"status=1x"}), HasSubstr("'status=1x' is not one of fb100"));
  EXPECT_THAT(error({"dorm=1", "status=1"}), HasSubstr("not in the order"));
}

TEST_F(Fb100Files, EdgesAreTheNonZeros) {
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(test::pairs_of(*load().test[0].graph.edges),
              ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2)));
}

TEST_F(Fb100Files, LabelIsGenderTwoAndUnknownGenderIsZeroOrLeftOut) {
  EXPECT_THAT(test::to_vector(load().test[0].labels.y), ElementsAre(0, 1, 0));
  const Labels labels = load({{"labels", "labelled"}}).test[0].labels;
  EXPECT_THAT(test::to_vector(labels.y), ElementsAre(0, 1, -1));
  EXPECT_THAT(test::to_vector(labels.loss), ElementsAre(0, 1));
  EXPECT_THAT(test::to_vector(labels.evaluate), ElementsAre(0, 1));
}

TEST_F(Fb100Files, WrongShapesAreNamed) {
  folder_.write("facebook100/Yale4.mat", university(std::vector<double>(18, 1.0)));
  EXPECT_THAT(test::data_error([&] { load(); }),
              HasSubstr("Yale4.mat: A is 3 x 3 and local_info 3 x 6"));
  folder_.write("facebook100/Yale4.mat", university(std::vector<double>(28, 1.0), 4));
  EXPECT_THAT(test::data_error([&] { load(); }), HasSubstr("local_info 4 x 7"));
}

TEST_F(Fb100Files, NumbersThatAreNotWholeAreNamed) {
  std::vector<double> info = kUniversityInfo;
  info[4] = 1.5;
  folder_.write("facebook100/Yale4.mat", university(info));
  EXPECT_THAT(test::data_error([&] { load(); }),
              ::testing::AllOf(HasSubstr("Yale4.mat"), HasSubstr("local_info")));
}

TEST_F(Fb100Files, TruncatedFileIsNamed) {
  folder_.write("facebook100/Yale4.mat", university().substr(0, 300));
  EXPECT_THAT(test::data_error([&] { load(); }), HasSubstr("Yale4.mat"));
}

TEST_F(Fb100Files, MissingTestGraphIsLeftOutOnRequestAndTheVocabularyIsNoted) {
  std::filesystem::remove(folder_.file("facebook100/Penn94.mat"));
  EXPECT_THAT(test::data_error([&] { load(); }),
              HasSubstr("can run without them: Brown11, Texas80; --allow-missing"));
  DataContext context;
  context.root = folder_.path();
  context.allow_missing = true;
  const Task task = load_dataset("fb100", context);
  EXPECT_THAT(task.missing, ElementsAre("Penn94"));
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("pools 13 of the 14 universities")));
}

}  // namespace
}  // namespace grm
