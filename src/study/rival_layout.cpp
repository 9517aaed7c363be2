#include "grm/core/error.h"
#include "grm/study/table.h"

namespace grm::study {
namespace {

std::string score_text(const Cell& cell) {
  return cell.runs > 1 ? fmt::format("{:.1f} ± {:.1f}", cell.avg.ours.mean, cell.avg.ours.std)
                       : fmt::format("{:.1f}", cell.avg.ours.mean);
}

struct Contest {
  const Cell* ours = nullptr;
  const Cell* rival = nullptr;
  std::string rival_name;
};

// The method of another name with the highest average, beside `ours`.
Contest contest_of(const Block& block, const DatasetColumn& column, const std::string& ours) {
  Contest contest;
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.runs == 0) continue;
    if (block.methods[m] == ours) contest.ours = &cell;
    if (without_preset(block.methods[m]) == without_preset(ours)) continue;
    if (!contest.rival || cell.avg.ours.mean > contest.rival->avg.ours.mean) {
      contest.rival = &cell;
      contest.rival_name = block.methods[m];
    }
  }
  return contest;
}

}  // namespace

Layout rival_layout(const ScoreTable& table) {
  const std::string& ours = table.against;
  Layout layout;
  layout.title = ours + " against the best rival of each dataset";
  layout.label_columns = 2;
  layout.head = {"dataset", "best rival", "its Avg", ours, "difference", "p", "pairs"};
  layout.groups = {{"", 5}};
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      const Contest contest = contest_of(block, column, ours);
      if (!contest.ours || !contest.rival) continue;
      const double difference = contest.ours->avg.ours.mean - contest.rival->avg.ours.mean;
      const std::optional<PairedTest>& test = contest.rival->test;
      layout.rows.push_back({{column.dataset},
                             {contest.rival_name},
                             {score_text(*contest.rival)},
                             {score_text(*contest.ours), false, -contest.rival->mark},
                             {fmt::format("{:+.2f}", difference)},
                             {test && test->p ? fmt::format("{:.2g}", *test->p) : ""},
                             {test ? std::to_string(test->pairs) : ""}});
    }
  }
  layout.notes = {fmt::format(
      "The rival is the row with the highest Avg on the test domains: a choice in the rivals' "
      "favour. Paired t-test over runs of one dataset and seed; ▲, ▼: p < {}.",
      table.level)};
  return layout;
}

}  // namespace grm::study
