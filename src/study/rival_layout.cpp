#include <algorithm>

#include "grm/core/error.h"
#include "study/table.h"

namespace grm::study {
size_t best_rival(const Block& block, const DatasetColumn& column, const std::string& ours) {
  size_t best = block.methods.size();
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.runs == 0 || without_preset(block.methods[m]) == without_preset(ours)) continue;
    if (best == block.methods.size() ||
        column.gain(cell.avg.ours.mean, column.cells[best].avg.ours.mean) > 0) {
      best = m;
    }
  }
  return best;
}

Table rival_layout(const ScoreTable& table) {
  const std::string& ours = table.against;
  Table layout;
  layout.title = ours + " against the best rival of each dataset";
  layout.label_columns = 2;
  layout.head = {"dataset", "best rival", "its Avg", ours, "difference", "p", "pairs"};
  layout.groups = {{"", 5}};
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      const auto found = std::find(block.methods.begin(), block.methods.end(), ours);
      const size_t best = best_rival(block, column, ours);
      if (found == block.methods.end() || best == block.methods.size()) continue;
      const Cell& own = column.cells[static_cast<size_t>(found - block.methods.begin())];
      const Cell& rival = column.cells[best];
      if (own.runs == 0) continue;
      const double difference = own.avg.ours.mean - rival.avg.ours.mean;
      const std::optional<PairedTest>& test = rival.test;
      layout.rows.push_back({{column.dataset},
                             {block.methods[best]},
                             column.text(rival.avg.ours, rival.runs),
                             {column.text(own.avg.ours, own.runs), false, -rival.mark},
                             {fmt::format("{:+.2f}", difference)},
                             {test && test->p ? fmt::format("{:.2g}", *test->p) : ""},
                             {test ? std::to_string(test->pairs) : ""}});
    }
  }
  layout.notes = {fmt::format(
      "The rival is the row with the best Avg on the test domains: a choice in the rivals' "
      "favour. Paired t-test over runs of one dataset and seed; ▲, ▼: p < {}.",
      table.level)};
  return layout;
}

}  // namespace grm::study
