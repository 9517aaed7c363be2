#include "report/reproduce.h"

#include <algorithm>

#include "core/json.h"
#include "core/lists.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/options.h"
#include "report/result_figures.h"

namespace grm::report {
namespace {

using study::MissingRow;
using study::ResultRow;
using study::TableOptions;

// In the ablation the variants are what is compared: they take the place of methods, and methods,
// if there are several, that of blocks.
template <class Row>
std::vector<Row> variants_as_methods(std::vector<Row> rows, bool several_methods) {
  for (Row& row : rows) {
    std::string method = row.method;
    row.method = row.variant;
    row.variant = several_methods ? std::move(method) : "";
  }
  return rows;
}

// Where variants are something added to a method ("centring"), each is a row of its own.
template <class Row>
std::vector<Row> variants_as_rows(std::vector<Row> rows) {
  for (Row& row : rows) {
    if (!row.variant.empty() && row.variant != "plain") row.method += " + " + row.variant;
    row.variant.clear();
  }
  return rows;
}

// Min and Avg, or one column for both where every dataset has one test domain.
std::vector<Table> min_and_avg_layouts(const study::ScoreTable& table) {
  bool several = false;
  for_each_cell(table, [&](const auto&, const auto&, const auto&, const study::Cell& cell) {
    several = several || cell.domains.size() > 1;
  });
  return several ? study::score_layouts(table) : study::average_layouts(table);
}

bool several_methods(const Results& results) {
  std::vector<std::string> methods;
  for (const ResultRow& row : results.rows) methods.push_back(row.method);
  for (const MissingRow& row : results.missing) methods.push_back(row.method);
  std::sort(methods.begin(), methods.end());
  return std::unique(methods.begin(), methods.end()) - methods.begin() > 1;
}

// The paper prints three test sets of Elliptic, the protocol has nine groups: T1, T2, T3 are the
// means of three groups each.
void bundle_elliptic(std::vector<DomainScore>& scores) {
  if (scores.size() != 9) return;
  std::vector<DomainScore> bundled;
  for (size_t k = 0; k < 9; k += 3) {
    bundled.push_back({fmt::format("T{}", k / 3 + 1),
                       (scores[k].value + scores[k + 1].value + scores[k + 2].value) / 3});
  }
  scores = std::move(bundled);
}

void bundle_elliptic(std::vector<ResultRow>& rows) {
  for (ResultRow& row : rows) {
    if (study::without_seed(row.dataset) != "elliptic") continue;
    for (auto& [rule, chosen] : row.record.chosen) bundle_elliptic(chosen.test);
    bundle_elliptic(row.record.constant);
    bundle_elliptic(row.record.constant_own);
  }
}

std::vector<std::string> datasets_of(const Results& results) {
  std::vector<std::string> names;
  for (const ResultRow& row : results.rows) names.push_back(study::without_seed(row.dataset));
  for (const MissingRow& row : results.missing) names.push_back(study::without_seed(row.dataset));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The paper calls MNIST-75sp "MNIST".
study::PublishedLookup paper_names(study::PublishedLookup lookup) {
  return [lookup = std::move(lookup)](const std::string& dataset, const std::string& method,
                                      const std::string& column) {
    return lookup(dataset == "mnist75sp" ? "mnist" : dataset, method, column);
  };
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"table1",
       "node level, Min and Avg of Cora, Photo, FB-100 and Twitch",
       TargetKind::scores,
       "table1",
       "quick",
       {"table1"}},
      {"table2",
       "node level over time, Elliptic and Arxiv",
       TargetKind::domains,
       "table2",
       "",
       {"table2"}},
      {"appendix",
       "every test domain of Cora, Photo, FB-100 and Twitch",
       TargetKind::domains,
       "table1",
       "quick",
       {"appendix-cora", "appendix-photo", "appendix-fb100-twitch", "table1"}},
      {"fig-shift",
       "Cora-Mix under bias ratios from 0 to 0.9",
       TargetKind::shift,
       "fig-shift",
       "fig-shift-quick",
       {}},
      {"fig-ablation",
       "GRM without regularisation, invariance and sampling",
       TargetKind::ablation,
       "fig-ablation",
       "fig-ablation-quick",
       {}},
      {"table-cost",
       "time and memory of training",
       TargetKind::cost,
       "table-cost",
       "quick",
       {"table-cost"}},
      {"table-graph",
       "graph level, SP-Motif, MNIST-75sp, sentiment trees and Molhiv",
       TargetKind::graph,
       "table-graph",
       "table-graph-quick",
       {"table-graph"}},
      {"best",
       "our own: GRM's preset best against every rival, with and without domain centring",
       TargetKind::rivals,
       "best",
       "",
       {}},
      {"best-ablation",
       "our own: the preset best with each of its choices taken back",
       TargetKind::ablation,
       "best-ablation",
       "",
       {}},
      {"best-graph",
       "our own: GRM's preset best against every rival on SP-Motif and Molhiv",
       TargetKind::rivals,
       "best-graph",
       "",
       {}},
      {"best-graph-ablation",
       "our own: the preset best with each of its choices taken back, on SP-Motif and Molhiv",
       TargetKind::ablation,
       "best-graph-ablation",
       "",
       {}},
  };
  return all;
}

const Target& find_target(const std::string& name) {
  std::vector<std::string> known;
  for (const Target& target : targets()) {
    if (target.name == name) return target;
    known.push_back(target.name);
  }
  fail(ErrorKind::config, "'{}' is not a result of the paper{}; there are: {}", name,
       did_you_mean(name, known), joined(known));
}

Provenance provenance_of(const std::vector<ResultRow>& rows) {
  Provenance provenance;
  for (const ResultRow& row : rows) {
    const auto env = try_json<nlohmann::json>(row.environment);
    if (!env.is_object()) continue;
    for (const char* key : {"grm", "git", "compiler", "torch", "blas", "blas_core", "kernels",
                            "cpu_capability", "threads", "device"}) {
      if (!env.contains(key)) continue;
      const std::string text =
          env[key].is_string() ? env[key].get<std::string>() : json_text(env[key]);
      add_once(provenance.versions[key], text);
    }
    const std::string dataset = study::without_seed(row.dataset);
    if (env.contains("data_hashes") && env["data_hashes"].is_object()) {
      for (const auto& [file, hash] : env["data_hashes"].items()) {
        if (hash.is_string()) provenance.data[dataset][file] = hash;
      }
    }
    if (env.contains("missing") && env["missing"].is_array()) {
      auto& names = provenance.missing_files[dataset];
      for (const auto& name : env["missing"]) {
        if (name.is_string()) add_once(names, name.get<std::string>());
      }
      if (names.empty()) provenance.missing_files.erase(dataset);
    }
  }
  return provenance;
}

Report make_report(const Target& target, const Results& all, TableOptions options,
                   const Published& published, const std::string& command,
                   const std::string& stem) {
  Results results = all;
  study::keep_selected(results.rows, options);
  study::keep_selected(results.missing, options);
  Report report;
  report.stem = stem;
  report.target = target.name;
  report.about = target.about;
  report.command = command;
  report.provenance = provenance_of(results.rows);
  report.missing = study::missing_layout(results.missing);
  for (const std::string& id : target.tables) {
    for (const std::string& note : published.notes_of(id, datasets_of(results))) {
      report.notes.push_back(note);
    }
  }
  for (const auto& [dataset, files] : report.provenance.missing_files) {
    report.notes.push_back(
        fmt::format("{}: run without {}; Min and Avg are over the others, not "
                    "comparable with the published ones",
                    dataset, joined(files)));
  }
  if (target.name == "table2") bundle_elliptic(results.rows);
  options.datasets.clear();
  options.methods.clear();
  options.blocks.clear();
  if (target.kind == TargetKind::ablation) {
    const bool several = several_methods(results);
    results.rows = variants_as_methods(std::move(results.rows), several);
    results.missing = variants_as_methods(std::move(results.missing), several);
    options.against = "full";
  }
  if (target.kind == TargetKind::rivals) {
    results.rows = variants_as_rows(std::move(results.rows));
    results.missing = variants_as_rows(std::move(results.missing));
    options.against = "grm:best";
  }
  if (target.kind == TargetKind::graph) {
    options.published = paper_names(published.lookup(target.tables));
  } else if (target.kind == TargetKind::scores || target.kind == TargetKind::domains) {
    options.published = published.lookup(target.tables);
  }
  report.table = study::make_table(results.rows, results.missing, options);
  switch (target.kind) {
    case TargetKind::scores:
      report.layouts = study::score_layouts(report.table);
      break;
    case TargetKind::domains:
      report.layouts = study::domain_layouts(report.table);
      break;
    case TargetKind::cost:
      report.layouts = {study::cost_layout(report.table, published.lookup(target.tables))};
      break;
    case TargetKind::shift:
      report.figures = shift_figures(report.table, stem);
      report.layouts = shift_layouts(report.table, report.figures);
      break;
    case TargetKind::ablation:
      report.figures = ablation_figures(report.table, stem);
      report.layouts = min_and_avg_layouts(report.table);
      break;
    case TargetKind::graph:
      report.layouts = study::average_layouts(report.table);
      break;
    case TargetKind::rivals:
      report.figures = rival_figures(report.table, stem);
      report.layouts = min_and_avg_layouts(report.table);
      report.layouts.push_back(study::rival_layout(report.table));
      break;
  }
  return report;
}

}  // namespace grm::report
