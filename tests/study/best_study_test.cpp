// The committed records behind docs/results.md: the searches are what the ready studies ask for and
// hold validation alone, the comparison runs the values that won, and the runs are the studies'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/files.h"
#include "io/csv.h"
#include "study/table.h"
#include "study/tune.h"

namespace grm::study {
namespace {

struct Trial {
  std::string run, dataset, method, variant;
  int64_t trial = 0;
  double validation = 0.0;
};

std::vector<Trial> recorded(const std::string& search) {
  std::vector<Trial> trials;
  io::read_csv(GRM_SOURCE_DIR "/results/" + search + "-trials.csv", [&](const io::CsvRow& row) {
    if (row.line == 1) return;
    row.expect_size(15);
    for (const int64_t test_column : {10, 11, 12}) EXPECT_EQ(row.text(test_column), "");
    trials.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                      std::string(row.text(3)), row.parse_int(4), row.parse_double(9)});
  });
  return trials;
}

// Lines of a configuration that a search and the comparison after it must share.
std::set<std::string> shared_lines(const std::string& config) {
  std::set<std::string> lines;
  std::istringstream stream(config);
  for (std::string line; std::getline(stream, line);) {
    const std::string key = line.substr(0, line.find(' '));
    if (key != "seed" && key != "test" && key != "dataset_seed" && key != "combination") {
      lines.insert(line);
    }
  }
  return lines;
}

// By the runs' ids, which are hashes of configurations: a record made before a study was changed
// does not fit it.
std::map<std::string, PlannedCell> by_run(const std::vector<PlannedCell>& cells) {
  std::map<std::string, PlannedCell> planned;
  for (const PlannedCell& cell : cells) planned[sha256(cell.config).substr(0, 12)] = cell;
  return planned;
}

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class BestStudy : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(BestStudy, TheRecordIsTheSearchAndItsWinnersAreCompared) {
  const auto& [search, comparison] = GetParam();
  const auto planned = by_run(trial_cells(load_spec(search)));
  const std::vector<Trial> trials = recorded(search);
  EXPECT_EQ(trials.size(), planned.size());
  std::map<std::vector<std::string>, Trial> winners;
  for (const Trial& t : trials) {
    ASSERT_TRUE(planned.count(t.run)) << t.dataset << " " << t.method << " trial " << t.trial;
    const PlannedCell& cell = planned.at(t.run);
    EXPECT_EQ(cell.trial, t.trial);
    EXPECT_EQ(cell.method, t.method);
    const auto [place, is_new] = winners.insert({{t.dataset, t.method, t.variant}, t});
    if (!is_new && t.validation > place->second.validation) place->second = t;
  }
  std::set<std::vector<std::string>> compared;
  for (const PlannedCell& cell : expand(load_spec(comparison))) {
    const std::string variant = cell.variant == "centring" ? "centred" : cell.variant;
    for (const auto& [group, winner] : winners) {
      const std::string method = group[1] == "grm" ? "grm:paper" : group[1];
      const bool same_variant = group[2] == variant || (group[2].empty() && variant == "plain");
      if (group[0] != without_seed(cell.dataset) || method != cell.method || !same_variant)
        continue;
      compared.insert(group);
      EXPECT_EQ(shared_lines(cell.config), shared_lines(planned.at(winner.run).config))
          << cell.dataset << " " << cell.method << " " << cell.variant;
    }
  }
  EXPECT_EQ(compared.size(), winners.size());
}

INSTANTIATE_TEST_SUITE_P(Searches, BestStudy,
                         testing::Values(std::pair{"best-rivals", "best"},
                                         std::pair{"best-grm", "best"},
                                         std::pair{"best-graph-search", "best-graph"}),
                         [](const auto& each) { return with_underscores(each.param.first); });

class RecordedRuns : public testing::TestWithParam<std::string> {};

TEST_P(RecordedRuns, AreThoseThatTheStudyAsksFor) {
  const auto planned = by_run(expand(load_spec(GetParam())));
  std::set<std::string> recorded;
  io::read_csv(GRM_SOURCE_DIR "/results/" + GetParam() + "-runs.csv", [&](const io::CsvRow& row) {
    if (row.line == 1) return;
    row.expect_size(15);
    const std::string run(row.text(0));
    ASSERT_TRUE(planned.count(run)) << run << " in line " << row.line;
    const PlannedCell& cell = planned.at(run);
    EXPECT_EQ(cell.dataset, row.text(1));
    EXPECT_EQ(cell.method, row.text(2));
    EXPECT_EQ(cell.variant, row.text(3));
    EXPECT_EQ(cell.seed, row.parse_int(6));
    EXPECT_TRUE(recorded.insert(run).second) << run << " twice";
  });
  for (const auto& [run, cell] : planned) {
    const bool known_gap =
        cell.variant == "exact influence" && without_seed(cell.dataset) == "fb100";
    EXPECT_EQ(recorded.count(run), known_gap ? 0u : 1u)
        << cell.dataset << " " << cell.method << " " << cell.variant << " seed " << cell.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Studies, RecordedRuns,
                         testing::Values("best", "best-ablation", "best-graph",
                                         "best-graph-ablation"),
                         [](const auto& each) { return with_underscores(each.param); });

}  // namespace
}  // namespace grm::study
