// The fb100 loader on small files of the published format, made here.
#include <torch/types.h>

#include <filesystem>

#include "data/describe.h"
#include "data/helpers.h"
#include "support/npz_writer.h"

namespace grm {
namespace {

using test::bytes_of;
using test::load_dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Uncompressed MATLAB version 5, after MathWorks' "MAT-File Format".
std::string element(uint32_t type, std::string data) {
  const std::string tag = bytes_of<uint32_t>({type, static_cast<uint32_t>(data.size())});
  data.resize((data.size() + 7) / 8 * 8);
  return tag + data;
}

std::string matrix(uint32_t array_class, int32_t rows, int32_t cols, const std::string& name,
                   const std::string& parts, uint32_t stored = 0) {
  return element(14, element(6, bytes_of<uint32_t>({array_class, stored})) +
                         element(5, bytes_of<int32_t>({rows, cols})) + element(1, name) + parts);
}

// Three users 0 - 1 - 2; info by columns: status, gender, major, minor, dorm, year, school.
const std::vector<double> kInfo = {1, 1, 2, /**/ 1, 2,         0,    /**/ 5, 5,      9,  /**/ 0, 0,
                                   3, 7, 8, 7,      /**/ 2004, 2005, 2006,   /**/ 0, 11, 12};

std::string university(const std::vector<double>& info = kInfo, int32_t info_rows = 3) {
  std::string header = "MATLAB 5.0 MAT-file, by hand";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4) +
         matrix(5, 3, 3, "A",
                element(5, bytes_of<int32_t>({1, 0, 2, 1})) +
                    element(5, bytes_of<int32_t>({0, 1, 3, 4})) +
                    element(9, bytes_of<double>({1, 1, 1, 1})),
                4) +
         matrix(6, info_rows, static_cast<int32_t>(info.size()) / info_rows, "local_info",
                element(9, bytes_of(info)));
}

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
  std::vector<double> info = kInfo;
  info[0] = 6;  // status of the first user
  folder_.write("facebook100/Carnegie49.mat", university(info));
  EXPECT_EQ(load().features(), 15);
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
  std::vector<double> info = kInfo;
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
