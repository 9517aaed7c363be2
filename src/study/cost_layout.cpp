// The tables beside the scores: what runs cost, and which are missing.
#include <algorithm>

#include "study/table.h"

namespace grm::study {
namespace {

std::string plain(double value, const char* format) {
  return fmt::format(fmt::runtime(format), value);
}

}  // namespace

Table cost_layout(const ScoreTable& table, const PublishedLookup& published) {
  Table layout;
  layout.title = "Time and memory";
  layout.label_columns = 3;
  layout.head = {"dataset", "method", "block",   "parameters", "epochs",   "evaluation s",
                 "s/epoch", "paper",  "total s", "paper",      "peak MiB", "paper MB"};
  layout.groups = {{"", 3}, {"", 2}, {"", 2}, {"", 2}};
  for_each_cell(table, [&](const Block& block, const DatasetColumn& column,
                           const std::string& method, const Cell& cell) {
    if (cell.runs == 0) return;
    const auto paper = [&](const char* name, const char* format) {
      const auto value =
          published ? published(column.dataset, without_preset(method), name) : std::nullopt;
      return value ? plain(value->value, format) : "";
    };
    layout.rows.push_back({column.dataset, method, block.name, std::to_string(cell.parameters),
                           plain(cell.epochs.mean, "{:.0f}"),
                           plain(cell.evaluate_seconds.mean, "{:.3f}"),
                           plain(cell.seconds_per_epoch.mean, "{:.3f}"), paper("epoch", "{:.2f}"),
                           plain(cell.train_seconds.mean, "{:.1f}"), paper("total", "{:.2f}"),
                           plain(cell.peak_memory_mib, "{:.0f}"), paper("memory", "{:.0f}")});
  });
  layout.notes = {
      "Ours: mean over runs, training only, and the largest resident memory of the process; "
      "published: one NVIDIA A6000, memory of the device."};
  return layout;
}

Table missing_layout(const std::vector<MissingRow>& missing) {
  Table layout;
  layout.title = "Missing";
  layout.label_columns = 5;
  layout.head = {"dataset", "method", "block", "seeds", "reason"};
  // One row for all seeds that are missing for the same reason.
  std::vector<std::pair<MissingRow, std::string>> merged;
  for (const MissingRow& row : missing) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const auto& entry) {
      const MissingRow& m = entry.first;
      return m.dataset == row.dataset && m.method == row.method && m.variant == row.variant &&
             m.reason == row.reason;
    });
    if (same == merged.end()) {
      merged.emplace_back(row, std::to_string(row.seed));
    } else {
      same->second += " " + std::to_string(row.seed);
    }
  }
  for (const auto& [row, seeds] : merged) {
    layout.rows.push_back({row.dataset, row.method, row.variant, seeds, row.reason});
  }
  return layout;
}

}  // namespace grm::study
