#include "report/curves.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "study/dataset_names.h"
#include "train/recorded_config.h"
#include "train/summary.h"

namespace grm::report {
namespace {

namespace fs = std::filesystem;

// All runs of one configuration.
struct Group : RunCurves {
  std::string dataset, label, config;  // the dataset as the configuration names it, maybe a path
};

void read_line(const nlohmann::ordered_json& line, RunCurves& group) {
  const int64_t epoch = line.at("epoch");
  if (line.contains("loss")) {
    for (const auto& [term, value] : line.at("loss").items()) {
      if (!group.loss.count(term)) group.terms.push_back(term);
      group.loss[term][epoch].push_back(value);
    }
  }
  if (line.contains("validation")) group.validation[epoch].push_back(line.at("validation"));
}

void read_metrics(const std::string& path, RunCurves& group) {
  std::istringstream lines(read_file(path));
  std::string text;
  int64_t number = 0;
  while (std::getline(lines, text)) {
    ++number;
    try {
      read_line(parse_json<nlohmann::ordered_json>(text, path), group);
    } catch (const nlohmann::json::exception& error) {
      if (lines.peek() == EOF) break;  // cut short by the end of its process
      fail(ErrorKind::data, "{}:{}: not a line of a training log: {}", path, number, error.what());
    }
  }
  ++group.runs;
}

// The configuration without its seed, and how to call it.
Group identify(const std::string& folder) {
  const std::string path = folder + "/config.toml";
  Group group;
  group.config = read_file(path);
  const ConfigHead head = config_head(group.config, path);
  group.dataset = head.dataset;
  group.label = head.method_text();
  group.config = without_seed_line(group.config);
  return group;
}

// `labels` are those of the folders, or none.
std::vector<Group> read_groups(const std::vector<std::string>& folders,
                               const std::vector<std::string>& labels) {
  std::vector<Group> groups;
  for (size_t k = 0; k < folders.size(); ++k) {
    const std::string& folder = folders[k];
    Group fresh = identify(folder);
    if (!labels.empty()) fresh.label = labels[k];
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.config == fresh.config; });
    if (known == groups.end()) {
      // Same method and preset with other option values: a line of its own.
      const auto alike = std::count_if(groups.begin(), groups.end(), [&](const Group& g) {
        return g.dataset == fresh.dataset &&
               (g.label == fresh.label || g.label.rfind(fresh.label + " #", 0) == 0);
      });
      if (alike > 0) fresh.label += fmt::format(" #{}", alike + 1);
      known = groups.insert(groups.end(), std::move(fresh));
    }
    read_metrics(folder + "/metrics.jsonl", *known);
  }
  return groups;
}

Series to_series(const std::string& name, const ValuesByEpoch& values) {
  Series series{name, {}};
  for (const auto& [epoch, at] : values) {
    const MeanStd m = mean_std(at);
    series.points.push_back(
        {static_cast<double>(epoch), m.mean, m.std, static_cast<int64_t>(at.size())});
  }
  return series;
}

// Terms that differ by orders of magnitude need a logarithmic axis, if all are positive.
bool spans_decades(const Figure& figure) {
  double low = 1e300, high = -1e300;
  for (const Series& s : figure.series) {
    for (const Point& p : s.points) {
      low = std::min(low, p.mean);
      high = std::max(high, p.mean);
    }
  }
  return low > 0 && high > 30 * low;
}

Figure curve_figure(const std::string& name, const std::string& title, const std::string& y) {
  Figure figure;
  figure.name = file_stem(name);
  figure.title = title;
  figure.x_label = "epoch";
  figure.y_label = y;
  figure.points = false;
  figure.notes = {"mean over runs; the band is the sample deviation"};
  return figure;
}

// Names as tables have them, where configurations have paths.
void shorten_datasets(std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.dataset);
  const std::vector<std::string> labels = study::dataset_labels(names);
  for (size_t k = 0; k < groups.size(); ++k) groups[k].dataset = labels[k];
}

// No figure overwrites another: names that are the same file get a number.
void make_names_unique(std::vector<Figure>& figures) {
  std::map<std::string, int> taken;
  for (Figure& figure : figures) {
    const int number = ++taken[figure.name];
    if (number > 1) figure.name += fmt::format("-{}", number);
  }
}

}  // namespace

std::vector<std::string> find_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> runs;
  const auto is_run = [](const fs::path& path) {
    return fs::exists(path / "metrics.jsonl") && fs::exists(path / "config.toml");
  };
  for (const std::string& path : paths) {
    const size_t before = runs.size();
    std::error_code code;
    if (is_run(path)) {
      runs.push_back(path);
    } else {
      for (const auto& entry : fs::recursive_directory_iterator(path, code)) {
        if (entry.is_directory() && is_run(entry.path())) runs.push_back(entry.path().string());
      }
    }
    if (runs.size() == before) {
      fail(ErrorKind::data,
           "{}: no run here; expected a folder with config.toml and metrics.jsonl, as 'grm train' "
           "leaves it under runs/, or a folder above such folders",
           path);
    }
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

RunCurves read_curves(const std::vector<std::string>& run_folders) {
  RunCurves curves;
  for (const std::string& folder : run_folders) read_metrics(folder + "/metrics.jsonl", curves);
  return curves;
}

std::vector<Figure> training_curves(const std::vector<std::string>& run_folders,
                                    const std::string& dataset,
                                    const std::vector<std::string>& labels) {
  ensure(labels.empty() || labels.size() == run_folders.size(), "training_curves: labels");
  std::vector<Figure> figures;
  std::vector<Group> groups = read_groups(run_folders, labels);
  if (dataset.empty()) {
    shorten_datasets(groups);
  } else {
    for (Group& group : groups) group.dataset = dataset;
  }
  std::map<std::string, Figure> validation;  // by dataset
  for (const Group& group : groups) {
    Figure loss = curve_figure(fmt::format("{}-{}-loss", group.dataset, group.label),
                               fmt::format("{} on {}: loss terms, {} run{}", group.label,
                                           group.dataset, group.runs, group.runs == 1 ? "" : "s"),
                               "loss");
    for (const std::string& term : group.terms) {
      loss.series.push_back(to_series(term, group.loss.at(term)));
    }
    loss.logarithmic = spans_decades(loss);
    if (!loss.series.empty()) figures.push_back(std::move(loss));
    if (group.validation.empty()) continue;
    auto [figure, fresh] = validation.try_emplace(group.dataset);
    if (fresh) {
      figure->second = curve_figure(group.dataset + "-validation",
                                    group.dataset + ": validation by epoch", "validation metric");
    }
    figure->second.series.push_back(to_series(group.label, group.validation));
  }
  for (auto& [name, figure] : validation) figures.push_back(std::move(figure));
  make_names_unique(figures);
  return figures;
}

}  // namespace grm::report
