// What a table of scores looks like: which numbers stand in which column, and the notes below.
#include <algorithm>
#include <cmath>
#include <map>

#include "grm/study/table.h"

namespace grm::study {
namespace {

std::string number(double value, const std::optional<double>& deviation) {
  return deviation ? fmt::format("{:.1f} ± {:.1f}", value, *deviation)
                   : fmt::format("{:.1f}", value);
}

std::string ours_text(const MeanStd& score, int64_t runs) {
  return number(score.mean, runs > 1 ? std::optional<double>(score.std) : std::nullopt);
}

std::string published_text(const std::optional<PublishedValue>& published) {
  return published ? number(published->value, published->deviation) : "";
}

std::string runs_text(const Cell& cell) {
  return cell.runs < cell.expected ? fmt::format("{}/{}", cell.runs, cell.expected)
                                   : std::to_string(cell.runs);
}

// Two numbers that print alike are equally good.
double rounded(double value) {
  return std::round(value * 10) / 10;
}

using Getter = std::function<const Score*(const Cell&)>;  // null: the cell has no such number

double best_of(const DatasetColumn& column, const Getter& get) {
  double best = -1e300;
  int candidates = 0;
  for (const Cell& cell : column.cells) {
    const Score* score = cell.runs > 0 ? get(cell) : nullptr;
    if (!score) continue;
    best = std::max(best, rounded(score->ours.mean));
    ++candidates;
  }
  return candidates > 1 ? best : 1e300;  // nothing to be best of
}

Layout::Entry score_entry(const DatasetColumn& column, const Cell& cell, const Getter& get) {
  const Score* score = cell.runs > 0 ? get(cell) : nullptr;
  if (!score) return {cell.expected > 0 ? "missing" : "", false, 0};
  return {ours_text(score->ours, cell.runs), rounded(score->ours.mean) == best_of(column, get), 0};
}

const Score* min_of(const Cell& cell) {
  return cell.domains.empty() ? nullptr : &cell.min;
}
const Score* avg_of(const Cell& cell) {
  return cell.domains.empty() ? nullptr : &cell.avg;
}

std::string block_title(const std::string& name) {
  if (name.empty()) return "";
  if (name == "sum") return "Block sum: plain sum over in-neighbours, as the authors coded it";
  if (name == "kipf") return "Block kipf: self-loops and symmetric normalisation";
  return "Block " + name;
}

bool has_published(const DatasetColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(),
                     [](const Cell& cell) { return cell.min.published || cell.avg.published; });
}

void add_notes(Layout& layout, const ScoreTable& table, const Block& block) {
  bool tested = false, incomplete = false, published = false;
  for (const DatasetColumn& column : block.datasets) {
    published = published || has_published(column);
    for (const Cell& cell : column.cells) {
      tested = tested || (cell.test && cell.test->p);
      incomplete = incomplete || cell.runs < cell.expected;
    }
  }
  layout.notes.push_back(
      "Mean ± sample deviation over runs, in percent, of the epoch chosen by validation.");
  if (tested) {
    layout.notes.push_back(
        fmt::format("▲ better, ▼ worse than {} in Avg: paired t-test over seeds, p < {}.",
                    table.against, table.level));
  }
  if (published && block.name == "kipf") {
    layout.notes.push_back(
        "The published rows of ERM and EERM match the sum convolution, not this one; compare them "
        "with the block sum.");
  }
  if (incomplete) layout.notes.push_back("n/m: n of m runs are there.");
  for (const std::string& note : table.notes) layout.notes.push_back(note);
}

void add_constant(
    Layout& layout, const Block& block,
    const std::function<void(std::vector<Layout::Entry>&, const DatasetColumn&)>& add) {
  const bool any = std::any_of(block.datasets.begin(), block.datasets.end(),
                               [](const DatasetColumn& c) { return !c.constant.empty(); });
  if (!any) return;
  std::vector<Layout::Entry> row = {{"constant answer"}};
  for (const DatasetColumn& column : block.datasets) add(row, column);
  layout.rows.push_back(row);
}

// A number of every dataset that has a column of its own, and what is published for it.
struct ScoreColumn {
  std::string name;
  Getter get;
};

Layout dataset_layout(const ScoreTable& table, const Block& block,
                      const std::vector<ScoreColumn>& columns) {
  Layout layout;
  layout.title = block_title(block.name);
  layout.head = {"method"};
  for (const std::string& method : block.methods) layout.rows.push_back({{method}});
  for (const DatasetColumn& column : block.datasets) {
    const bool published = has_published(column);
    const int width = static_cast<int>(columns.size()) * (published ? 2 : 1) + 1;
    layout.groups.push_back({column.dataset, width});
    for (const auto& [name, get] : columns) {
      layout.head.push_back(name);
      if (published) layout.head.push_back("paper");
      for (size_t m = 0; m < block.methods.size(); ++m) {
        const Cell& cell = column.cells[m];
        Layout::Entry entry = score_entry(column, cell, get);
        if (name == "Avg") entry.mark = cell.mark;
        layout.rows[m].push_back(entry);
        if (published) {
          layout.rows[m].push_back(
              {published_text(get(cell) ? get(cell)->published : std::nullopt)});
        }
      }
    }
    layout.head.push_back("runs");
    for (size_t m = 0; m < block.methods.size(); ++m) {
      const Cell& cell = column.cells[m];
      layout.rows[m].push_back({cell.expected > 0 ? runs_text(cell) : ""});
    }
  }
  add_constant(layout, block, [&](std::vector<Layout::Entry>& row, const DatasetColumn& column) {
    const bool known = !column.constant.empty();
    for (const ScoreColumn& each : columns) {
      const double value =
          each.name == "Min" ? min_score(column.constant) : mean_score(column.constant);
      row.push_back({known ? number(value, {}) : ""});
      if (has_published(column)) row.push_back({""});
    }
    row.push_back({""});
  });
  add_notes(layout, table, block);
  return layout;
}

// All domains of one dataset; the published value follows ours in brackets.
Layout one_domain_layout(const ScoreTable& table, const Block& block, const DatasetColumn& column) {
  Layout layout;
  layout.title = column.dataset + (column.metric.empty() ? "" : ", " + column.metric);
  if (!block.name.empty()) layout.title += ". " + block_title(block.name);
  std::vector<std::string> domains;
  for (const Cell& cell : column.cells) {
    for (const Cell::DomainRow& row : cell.domains) {
      if (std::find(domains.begin(), domains.end(), row.domain) == domains.end()) {
        domains.push_back(row.domain);
      }
    }
  }
  layout.head = {"method"};
  std::vector<Getter> getters;
  for (const std::string& domain : domains) {
    layout.head.push_back(domain);
    getters.push_back([domain](const Cell& cell) -> const Score* {
      for (const Cell::DomainRow& row : cell.domains) {
        if (row.domain == domain) return &row.score;
      }
      return nullptr;
    });
  }
  layout.head.push_back("Avg");
  getters.push_back(avg_of);
  layout.head.push_back("runs");
  layout.groups.assign(layout.head.size() - 1, {"", 1});
  bool published = false;
  for (size_t m = 0; m < block.methods.size(); ++m) {
    const Cell& cell = column.cells[m];
    if (cell.expected == 0) continue;
    std::vector<Layout::Entry> row = {{block.methods[m]}};
    for (const Getter& get : getters) {
      Layout::Entry entry = score_entry(column, cell, get);
      const Score* score = get(cell);
      if (score && score->published) {
        entry.text += " (" + published_text(score->published) + ")";
        published = true;
      }
      row.push_back(entry);
    }
    row.back().mark = cell.mark;
    row.push_back({runs_text(cell)});
    layout.rows.push_back(row);
  }
  if (!column.constant.empty()) {
    std::vector<Layout::Entry> row = {{"constant answer"}};
    for (const std::string& domain : domains) {
      std::string text;
      for (const DomainScore& s : column.constant) {
        if (s.domain == domain) text = number(s.value, {});
      }
      row.push_back({text});
    }
    row.push_back({number(mean_score(column.constant), {})});
    row.push_back({""});
    layout.rows.push_back(row);
  }
  if (published) layout.notes.push_back("In brackets: published.");
  add_notes(layout, table, block);
  return layout;
}

std::string plain(double value, const char* format) {
  return fmt::format(fmt::runtime(format), value);
}

}  // namespace

std::vector<Layout> score_layouts(const ScoreTable& table) {
  std::vector<Layout> layouts;
  for (const Block& block : table.blocks) {
    layouts.push_back(dataset_layout(table, block, {{"Min", min_of}, {"Avg", avg_of}}));
  }
  return layouts;
}

std::vector<Layout> average_layouts(const ScoreTable& table) {
  std::vector<Layout> layouts;
  for (const Block& block : table.blocks) {
    layouts.push_back(dataset_layout(table, block, {{"Avg", avg_of}}));
  }
  return layouts;
}

std::vector<Layout> domain_layouts(const ScoreTable& table) {
  std::vector<Layout> layouts;
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      layouts.push_back(one_domain_layout(table, block, column));
    }
  }
  return layouts;
}

Layout cost_layout(const ScoreTable& table, const PublishedLookup& published) {
  Layout layout;
  layout.title = "Time and memory";
  layout.label_columns = 3;
  layout.head = {"dataset", "method", "block",   "parameters", "epochs",   "evaluation s",
                 "s/epoch", "paper",  "total s", "paper",      "peak MiB", "paper MB"};
  layout.groups = {{"", 3}, {"", 2}, {"", 2}, {"", 2}};
  for (const Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      for (size_t m = 0; m < block.methods.size(); ++m) {
        const Cell& cell = column.cells[m];
        if (cell.runs == 0) continue;
        const auto paper = [&](const char* name, const char* format) {
          const auto value = published
                                 ? published(column.dataset, without_preset(block.methods[m]), name)
                                 : std::nullopt;
          return value ? plain(value->value, format) : "";
        };
        layout.rows.push_back({{column.dataset},
                               {block.methods[m]},
                               {block.name},
                               {std::to_string(cell.parameters)},
                               {plain(cell.epochs.mean, "{:.0f}")},
                               {plain(cell.evaluate_seconds.mean, "{:.3f}")},
                               {plain(cell.seconds_per_epoch.mean, "{:.3f}")},
                               {paper("epoch", "{:.2f}")},
                               {plain(cell.train_seconds.mean, "{:.1f}")},
                               {paper("total", "{:.2f}")},
                               {plain(cell.peak_memory_mib, "{:.0f}")},
                               {paper("memory", "{:.0f}")}});
      }
    }
  }
  layout.notes = {
      "Ours: mean over runs, training only, and the largest resident memory of the process; "
      "published: one NVIDIA A6000, memory of the device."};
  return layout;
}

Layout missing_layout(const std::vector<MissingRow>& missing) {
  Layout layout;
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
    layout.rows.push_back({{row.dataset}, {row.method}, {row.variant}, {seeds}, {row.reason}});
  }
  return layout;
}

}  // namespace grm::study
