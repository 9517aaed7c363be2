#include "data/good/cbas_graph.h"
#include "data/good/motif_graphs.h"
#include "data/good_files.h"

namespace grm::good_generated_tests {
namespace {

using ::testing::ElementsAre;
using namespace grm::good;

struct MotifCase {
  MotifDomain domain;
  Shift shift;
  const char* file;
  int64_t nodes, edges;  // of the first training graph, edges both ways: logged by GOOD's runs
};
const std::vector<MotifCase> kCases = {
    {MotifDomain::basis, Shift::none, "no_shift", 13, 26},
    {MotifDomain::basis, Shift::covariate, "basis_covariate", 18, 64},
    {MotifDomain::basis, Shift::by_concept, "basis_concept", 12, 24},
    {MotifDomain::size, Shift::covariate, "size_covariate", 17, 58},
    {MotifDomain::size, Shift::by_concept, "size_concept", 81, 164}};

TEST(GoodMotif, FirstTrainingGraphsAndSizesAreTheLoggedOnes) {
  for (const MotifCase& c : kCases) {
    const GoodMotifSet set = draw_good_motif(c.domain, c.shift);
    const GoodMotif& first = set.graphs.at(set.split[Subset::train].front());
    EXPECT_EQ(first.nodes, c.nodes) << c.file;
    EXPECT_EQ(2 * static_cast<int64_t>(first.edges.size()), c.edges) << c.file;
    if (c.shift == Shift::none) {
      EXPECT_THAT(test::sizes_of(set.split), ElementsAre(18000, 0, 0, 6000, 6000));
    } else if (c.shift == Shift::covariate) {
      EXPECT_THAT(test::sizes_of(set.split), ElementsAre(18000, 3000, 3000, 3000, 3000));
    } else {
      EXPECT_THAT(test::sizes_of(set.split), ElementsAre(12600, 2700, 2700, 6000, 6000));
    }
    // A label is drawn anew in one of ten graphs, and is right in a third of those: 93.3 percent is
    // the most that can be told.
    double right = 0;
    for (const GoodMotif& g : set.graphs) right += g.label == g.motif;
    EXPECT_NEAR(right / 30000, 1 - 0.1 * 2 / 3, 4 * 0.00144) << c.file;
  }
}

std::string motif_line(const GoodMotif& g, const std::string& subset) {
  std::string random;
  for (size_t k = g.edges.size() - g.random_edges; k < g.edges.size(); ++k) {
    random += (random.empty() ? "" : ";") + std::to_string(g.edges[k].first) + "-" +
              std::to_string(g.edges[k].second);
  }
  std::string line = subset;
  for (const int64_t value :
       {g.base, g.base == 1 ? tree_height(g.width) : g.width, g.motif, g.label, g.environment,
        g.attach, g.nodes, static_cast<int64_t>(g.edges.size())}) {
    line += "," + std::to_string(value);
  }
  return line + "," + random;
}

TEST(GoodMotif, EveryGraphIsThatOfTheFile) {
  REAL_DATA_OR_SKIP(root);
  const std::vector<std::string> names = {"train", "id_val", "id_test", "val", "test"};
  for (const MotifCase& c : kCases) {
    SCOPED_TRACE(c.file);
    const GoodMotifSet set = draw_good_motif(c.domain, c.shift);
    std::vector<std::string> ours, theirs;
    for (size_t s = 0; s < kSubsets; ++s) {
      for (const int64_t g : set.split.members[s]) {
        ours.push_back(motif_line(set.graphs.at(g), names[s]));
      }
    }
    for (const auto& row : test::good_rows(root + "/good/motif/" + c.file + ".csv.gz")) {
      std::string line;
      for (const std::string& column : row) line += (line.empty() ? "" : ",") + column;
      theirs.push_back(line);
    }
    test::expect_same_lines(ours, theirs);
  }
}

TEST(GoodCbas, Has3962EdgesAndThePublishedSizes) {
  const Cbas plain = draw_cbas(Shift::none);
  EXPECT_EQ(2 * plain.edges.size(), 3962u);  // logged by GOOD's runs
  EXPECT_EQ(plain.label.size(), 700u);
  EXPECT_THAT(test::sizes_of(plain.split), ElementsAre(420, 0, 0, 140, 140));
  EXPECT_THAT(test::sizes_of(draw_cbas(Shift::covariate).split), ElementsAre(420, 70, 70, 70, 70));
  EXPECT_THAT(test::sizes_of(draw_cbas(Shift::by_concept).split),
              ElementsAre(140, 140, 140, 140, 140));
}

TEST(GoodCbas, EdgesMembersAndColoursAreThoseOfTheFiles) {
  REAL_DATA_OR_SKIP(root);
  const std::string folder = root + "/good/cbas/";
  std::vector<std::string> ours, theirs;
  for (const auto& [u, v] : draw_cbas(Shift::none).edges) {
    ours.push_back(std::to_string(u) + "," + std::to_string(v));
  }
  for (const auto& row : test::good_rows(folder + "edges.csv.gz")) {
    theirs.push_back(row.at(0) + "," + row.at(1));
  }
  test::expect_same_lines(ours, theirs);
  for (const auto& [shift, file] : {std::pair<Shift, const char*>{Shift::none, "split_no_shift"},
                                    {Shift::covariate, "split_color_covariate"},
                                    {Shift::by_concept, "split_color_concept"}}) {
    SCOPED_TRACE(file);
    const Cbas cbas = draw_cbas(shift);
    const auto rows = test::good_rows(folder + file + ".csv.gz");
    std::vector<std::string> members, published;
    for (const std::string& line : test::split_lines(cbas.split)) {
      members.push_back(line.substr(0, line.rfind(' ')));
    }
    for (const auto& row : rows) published.push_back(row.at(0) + " " + row.at(2));
    test::expect_same_lines(members, published);
    for (const auto& row : rows) {
      const size_t node = std::stoul(row.at(0));
      ASSERT_EQ(std::to_string(cbas.label.at(node)), row.at(1));
      // GOOD gives environments to validation and test nodes, too; here they have none.
      if (row.at(2) == "train") {
        ASSERT_EQ(std::to_string(cbas.split.environment.at(node)), row.at(3));
      }
      for (size_t k = 0; k < 4; ++k) {
        ASSERT_EQ(cbas.features.at(node).at(k), std::stof(row.at(5 + k))) << node;
      }
    }
  }
}

}  // namespace
}  // namespace grm::good_generated_tests
