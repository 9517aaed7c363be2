#include "report/result_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include "core/lists.h"

namespace grm::report {
namespace {

using study::Block;
using study::Cell;
using study::DatasetColumn;
using study::ScoreTable;

// "r=0.3" -> 0.3; NaN for a variant that is no bias ratio.
double ratio_of(const std::string& variant) {
  if (variant.rfind("r=", 0) != 0) return std::nan("");
  char* end = nullptr;
  const double value = std::strtod(variant.c_str() + 2, &end);
  return end == variant.c_str() + 2 || *end != '\0' ? std::nan("") : value;
}

std::string shift_title(const std::string& dataset) {
  return dataset + " under growing distribution shift";
}

std::string ablation_name(const std::string& variant) {
  if (variant == "full") return "GRM";
  return variant == "R" || variant == "I" || variant == "V" || variant == "P" ? "GRM\\" + variant
                                                                              : variant;
}

// The last column of a layout: one bias ratio on one dataset.
void fill_ratio(Table& layout, const Block& block, const DatasetColumn& column) {
  double best = -1e300;
  for (const Cell& cell : column.cells) {
    if (cell.runs > 0) best = std::max(best, cell.avg.ours.mean);
  }
  for (auto& row : layout.rows) {
    const auto at = std::find(block.methods.begin(), block.methods.end(), row.front().text);
    if (at == block.methods.end()) continue;
    const Cell& cell = column.cells[static_cast<size_t>(at - block.methods.begin())];
    Table::Entry& entry = row.back();
    if (cell.runs > 0) {
      entry = {fmt::format("{:.1f} ± {:.1f}", cell.avg.ours.mean, cell.avg.ours.std),
               cell.avg.ours.mean == best, cell.mark};
      if (cell.runs < cell.expected) {
        entry.text += fmt::format(" ({}/{} runs)", cell.runs, cell.expected);
      }
    } else if (cell.expected > 0) {
      entry.text = "missing";
    }
  }
}

}  // namespace

std::vector<Figure> shift_figures(const ScoreTable& table, const std::string& stem) {
  std::map<std::string, std::map<std::string, Series>> lines;
  std::vector<std::string> order;  // of methods
  for (const Block& block : table.blocks) {
    const double ratio = ratio_of(block.name);
    if (std::isnan(ratio)) continue;
    for (const std::string& method : block.methods) add_once(order, method);
    for (const DatasetColumn& column : block.datasets) {
      for (size_t m = 0; m < block.methods.size(); ++m) {
        const Cell& cell = column.cells[m];
        if (cell.runs == 0) continue;
        Series& line = lines[column.dataset][block.methods[m]];
        line.name = block.methods[m];
        line.points.push_back({ratio, cell.avg.ours.mean, cell.avg.ours.std, cell.runs});
      }
    }
  }
  std::vector<Figure> figures;
  for (auto& [dataset, by_method] : lines) {
    Figure figure;
    figure.name = lines.size() > 1 ? stem + "-" + dataset : stem;
    figure.title = shift_title(dataset);
    figure.x_label = "bias ratio";
    figure.y_label = "mean over test domains, percent";
    figure.notes = {"mean and sample deviation over runs of the average over test domains"};
    for (const std::string& method : order) {
      if (!by_method.count(method)) continue;
      Series& line = by_method[method];
      std::sort(line.points.begin(), line.points.end(),
                [](const Point& a, const Point& b) { return a.x < b.x; });
      figure.series.push_back(line);
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Table> shift_layouts(const ScoreTable& table, const std::vector<Figure>& figures) {
  std::vector<const Block*> blocks;
  for (const Block& block : table.blocks) {
    if (!std::isnan(ratio_of(block.name))) blocks.push_back(&block);
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block* a, const Block* b) { return ratio_of(a->name) < ratio_of(b->name); });
  std::vector<Table> layouts;
  for (const Figure& figure : figures) {
    Table layout;
    layout.title = figure.title + ": Avg by bias ratio";
    layout.head = {"method"};
    for (const Series& line : figure.series) layout.rows.push_back({{line.name}});
    for (const Block* block : blocks) {
      layout.head.push_back(block->name);
      layout.groups.push_back({"", 1});
      for (auto& row : layout.rows) row.emplace_back();
      for (const DatasetColumn& column : block->datasets) {
        if (figure.title == shift_title(column.dataset)) {
          fill_ratio(layout, *block, column);
        }
      }
    }
    layout.notes = {"Mean ± sample deviation over runs of the average over test domains."};
    if (!table.against.empty()) {
      layout.notes.push_back(
          fmt::format("▲ better, ▼ worse than {}: paired t-test over seeds, p < {}.", table.against,
                      table.level));
    }
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

Series averages(const Block& block, size_t method) {
  Series series{block.methods[method], {}};
  for (size_t d = 0; d < block.datasets.size(); ++d) {
    const Cell& cell = block.datasets[d].cells[method];
    if (cell.domains.empty()) continue;
    series.points.push_back(
        {static_cast<double>(d), cell.avg.ours.mean, cell.avg.ours.std, cell.runs});
  }
  return series;
}

std::vector<Figure> ablation_figures(const ScoreTable& table, const std::string& stem) {
  std::vector<Figure> figures;
  for (const Block& block : table.blocks) {
    Figure figure;
    figure.name = block.name.empty() ? stem : stem + "-" + block.name;
    figure.title = "Ablation" + (block.name.empty() ? "" : " of " + block.name);
    figure.x_label = "";
    figure.y_label = "mean over test domains, percent";
    figure.notes = {"mean and sample deviation over runs of the average over test domains"};
    for (const DatasetColumn& column : block.datasets) figure.categories.push_back(column.dataset);
    bool any = false;
    for (size_t m = 0; m < block.methods.size(); ++m) {
      figure.series.push_back(averages(block, m));
      figure.series.back().name = ablation_name(block.methods[m]);
      any = any || !figure.series.back().points.empty();
    }
    if (any) figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<Figure> rival_figures(const ScoreTable& table, const std::string& stem) {
  std::vector<Figure> figures;
  for (const Block& block : table.blocks) {
    Figure figure;
    figure.name = block.name.empty() ? stem : stem + "-" + block.name;
    figure.title = "How far " + table.against + " is above";
    figure.y_label = "difference of Avg in paired runs, points";
    figure.notes = {"mean and sample deviation of the differences between paired runs"};
    Series strongest{"the best rival", {}};
    std::vector<Series> others;
    for (const std::string& method : block.methods) others.push_back({method, {}});
    for (const DatasetColumn& column : block.datasets) {
      const auto place = static_cast<double>(figure.categories.size());
      figure.categories.push_back(column.dataset);
      const size_t best = study::best_rival(block, column, table.against);
      for (size_t m = 0; m < block.methods.size(); ++m) {
        const std::optional<study::PairedTest>& test = column.cells[m].test;
        if (!test || block.methods[m] == table.against) continue;
        const Point bar{place, -test->difference, test->deviation, test->pairs};
        if (m == best) strongest.points.push_back(bar);
        const std::string base = study::without_preset(block.methods[m]);
        if (base == "erm" || base == study::without_preset(table.against)) {
          others[m].points.push_back(bar);
        }
      }
    }
    figure.series.push_back(std::move(strongest));
    for (Series& bars : others) {
      if (!bars.points.empty()) figure.series.push_back(std::move(bars));
    }
    if (!figure.series.front().points.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace grm::report
