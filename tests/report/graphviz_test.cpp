// The picture of an explanation, and what happens where Graphviz is missing, fails or hangs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "core/clock.h"
#include "core/files.h"
#include "explained.h"
#include "support/expect_error.h"
#include "support/path_guard.h"
#include "support/temp_folder.h"

namespace grm::report {
namespace {

using test::PathGuard;
using testing::HasSubstr;
using testing::Not;

std::string fake_neato(const test::TempFolder& folder, const std::string& script) {
  const std::string path = folder.write("bin/neato", "#!/bin/sh\n" + script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return folder.file("bin");
}

TEST(Graphviz, BothGraphsHaveTheSamePlacesSideBySide) {
  const std::string dot = explanation_dot(test::explained_item().runs[0]);
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_observed {"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_generated {"));
  const std::regex place("([og])([0-9]) \\[label.*pos=\"([0-9.]+),([0-9.]+)\"");
  std::map<std::string, std::vector<std::pair<double, double>>> places;
  for (std::sregex_iterator at(dot.begin(), dot.end(), place), end; at != end; ++at) {
    places[(*at)[1]].push_back({std::stod((*at)[3]), std::stod((*at)[4])});
  }
  ASSERT_EQ(places["o"].size(), 4u);
  ASSERT_EQ(places["g"].size(), 4u);
  const double shift = places["g"][0].first - places["o"][0].first;
  EXPECT_GT(shift, 100);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(places["g"][k].first - places["o"][k].first, shift, 0.11);
    EXPECT_EQ(places["g"][k].second, places["o"][k].second);
    EXPECT_LT(places["o"][k].first, shift);
  }
}

TEST(Graphviz, ObservedKeptWeakenedAndNewEdgesAreDrawnAndAbsentOnesNot) {
  const std::string dot = explanation_dot(test::explained_item().runs[0]);
  EXPECT_THAT(dot, HasSubstr("o0 -> o2 [dir=none"));
  EXPECT_THAT(dot, HasSubstr("o0 -> o3 [dir=back"));  // one direction alone is observed
  EXPECT_THAT(dot, Not(HasSubstr("o0 -> o1")));
  EXPECT_THAT(dot, HasSubstr("g0 -> g1"));
  EXPECT_THAT(dot, Not(HasSubstr("g1 -> g3")));
  EXPECT_TRUE(std::regex_search(dot, std::regex("g0 -> g2 .*#0072B2FF.*penwidth=3.12")));
  EXPECT_TRUE(std::regex_search(dot, std::regex("g1 -> g2 .*#D55E00.*style=dashed")));
  EXPECT_TRUE(std::regex_search(dot, std::regex("g0 -> g1 .*#009E73")));
  EXPECT_TRUE(std::regex_search(dot, std::regex("o0 \\[.*doublecircle")));
}

// 0.5 + 3.5 x weight for every item, however close its weights are to each other.
TEST(Trust04Graphviz, WidthsAreOnOneScaleAndWhatMayBeChanceIsFaint) {
  ItemExplanation e = test::explained_item().runs[0];
  const double weights[] = {0.6105, 0.6077, 0.6090, 0.6081, 0.6079};
  for (size_t k = 0; k < e.edges.size(); ++k) {
    e.edges[k].weight = weights[k];
    e.edges[k].spread = 0.005;
    e.edges[k].clear = k == 0;
  }
  e.low = 0.6077;
  e.high = 0.6105;
  std::string dot = explanation_dot(e);
  const std::regex line(
      "g[0-9] -> g[0-9] .*color=\"#[0-9A-F]{6}([0-9A-F]{2})\", penwidth=([0-9.]+)");
  int faint = 0;
  for (std::sregex_iterator at(dot.begin(), dot.end(), line), end; at != end; ++at) {
    EXPECT_NEAR(std::stod((*at)[2]), 2.63, 0.011);
    faint += std::stoi((*at)[1], nullptr, 16) < 128;
  }
  EXPECT_EQ(faint, 3);  // of the four that are drawn
  EXPECT_THAT(dot, HasSubstr("weight 0 to 1; here 0.608 to 0.611"));
  EXPECT_THAT(dot, Not(HasSubstr("do not differ")));
  e.differ = false;
  EXPECT_THAT(explanation_dot(e), HasSubstr("the weights do not differ"));
}

TEST(Graphviz, NamesCannotLeaveTheirQuotes) {
  const std::string dot = explanation_dot(test::explained_item().runs[0]);
  EXPECT_THAT(dot, HasSubstr("explained: \\\"c\\\" & <co>"));
  EXPECT_THAT(dot, HasSubstr("a\\\\N\\n"));
}

TEST(Graphviz, ALotOfNewEdgesIsCutToTheHeaviest) {
  ItemExplanation e = test::explained_item().runs[0];
  for (int64_t k = 4; k < 40; ++k) {
    e.nodes.push_back(e.nodes[3]);
    ExplainedEdge edge = e.edges[0];
    edge.target = k;
    edge.weight = 0.5 + 0.001 * static_cast<double>(k);
    e.edges.push_back(edge);
  }
  const std::string dot = explanation_dot(e);
  EXPECT_THAT(dot, HasSubstr("new: the 10 heaviest of 37 drawn"));
  EXPECT_THAT(dot, HasSubstr("g0 -> g39"));
  EXPECT_THAT(dot, Not(HasSubstr("g0 -> g5 ")));
}

TEST(Graphviz, WeightsStandBesideLinesWithoutCoveringEachOtherOrNodes) {
  const std::string dot = explanation_dot(test::explained_item().runs[0]);
  const std::regex number("w([0-9]+) \\[.*label=\"([0-9.]+)\".*pos=\"([0-9.]+),([0-9.]+)\"");
  const std::regex node("g[0-9] \\[label.*pos=\"([0-9.]+),([0-9.]+)\"");
  std::vector<std::pair<double, double>> spots;
  std::vector<std::string> weights;
  for (std::sregex_iterator at(dot.begin(), dot.end(), number), end; at != end; ++at) {
    weights.push_back((*at)[2]);
    spots.emplace_back(std::stod((*at)[3]), std::stod((*at)[4]));
    for (std::sregex_iterator n(dot.begin(), dot.end(), node); n != end; ++n) {
      const double dx = std::abs(std::stod((*n)[1]) - spots.back().first);
      const double dy = std::abs(std::stod((*n)[2]) - spots.back().second);
      EXPECT_GT(std::max(dx, dy), 12.5);  // the radius of a node
    }
    for (size_t k = 0; k + 1 < spots.size(); ++k) {
      const double dx = std::abs(spots[k].first - spots.back().first);
      const double dy = std::abs(spots[k].second - spots.back().second);
      EXPECT_TRUE(dx >= 18.9 || dy >= 8.9);  // the size of a number
    }
  }
  EXPECT_THAT(weights, testing::UnorderedElementsAre("0.60", "0.75", "0.60", "0.15"));
}

// Graphviz runs where it is installed; elsewhere the message must say how to get it.
TEST(Graphviz, PicturesAreDrawnOrTheMessageSaysHow) {
  const test::TempFolder folder;
  const ExplanationFiles files = write_explanation(test::explained_item(), folder.path());
  EXPECT_EQ(read_file(folder.file("explanation.json")), explanation_json(test::explained_item()));
  if (!find_program("neato").empty()) {
    EXPECT_EQ(files.message, "");
    ASSERT_EQ(files.written.size(), 5u);
    const std::string svg = read_file(folder.file("explanation.svg"));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, HasSubstr("cluster_observed"));
    EXPECT_THAT(svg, HasSubstr("cluster_generated"));
    EXPECT_EQ(read_file(folder.file("explanation.png")).substr(1, 3), "PNG");
  } else {
    EXPECT_EQ(files.written.size(), 3u);
    EXPECT_THAT(files.message, HasSubstr("apt-get install graphviz"));
  }
}

TEST(Graphviz, WithoutItTheDotRemainsAndOldPicturesGo) {
  const test::TempFolder folder;
  folder.write("explanation.svg", "of another item");
  const PathGuard guard(folder.file("bin"));
  const ExplanationFiles files = write_explanation(test::explained_item(), folder.path());
  EXPECT_EQ(files.written.size(), 3u);
  EXPECT_THAT(files.message, HasSubstr("apt-get install graphviz, then: neato -n2 -Tsvg " +
                                       folder.file("explanation.dot")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("explanation.svg")));
}

TEST(Graphviz, FailureIsReported) {
  const test::TempFolder folder;
  const PathGuard guard(fake_neato(folder, "echo \"no such format\" >&2\nexit 3\n"));
  const ExplanationFiles files = write_explanation(test::explained_item(), folder.path());
  EXPECT_EQ(files.written.size(), 3u);
  EXPECT_THAT(files.message, HasSubstr("no such format"));
}

TEST(Graphviz, AHangingProgramIsStopped) {
  const test::TempFolder folder;
  const PathGuard guard(fake_neato(folder, "while :; do :; done\n"));
  const Stopwatch watch;
  const ExplanationFiles files = write_explanation(test::explained_item(), folder.path(), 0.2);
  EXPECT_LT(watch.seconds(), 10.0);
  EXPECT_EQ(files.written.size(), 3u);
  EXPECT_THAT(files.message, HasSubstr("stopped after 0.2 s"));
}

}  // namespace
}  // namespace grm::report
