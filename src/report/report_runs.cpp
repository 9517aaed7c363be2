// What a report shows, gathered from run folders or from the result database.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "core/json.h"
#include "core/lists.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/train/model_file.h"
#include "report/curves.h"
#include "report/report_parts.h"
#include "report/run_names.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

namespace fs = std::filesystem;
using study::MissingRow;
using study::ResultRow;

std::string read_if_there(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code) ? read_file(path) : "";
}

int64_t epochs_done(const std::string& folder) {
  const std::string log = read_if_there(folder + "/metrics.jsonl");
  return std::count(log.begin(), log.end(), '\n');
}

// A later run of the same configuration and seed replaces an earlier one; equal bits are expected.
void add_row(ReportParts& report, ResultRow row) {
  for (ResultRow& known : report.results.rows) {
    if (std::tie(known.dataset, known.method, known.variant, known.seed) !=
        std::tie(row.dataset, row.method, row.variant, row.seed)) {
      continue;
    }
    report.left_out.push_back(
        {"run " + known.record.folder,
         "the same configuration and seed ran again in " + row.record.folder + ", which is shown"});
    known = std::move(row);
    return;
  }
  report.results.rows.push_back(std::move(row));
}

// Runs of one row share a line of curves.
void add_curve(ReportParts& report, const ResultRow& row, const std::string& folder, bool done) {
  const std::string dataset = study::without_seed(row.dataset);
  const std::string name = row_name(row.method, row.variant);
  const std::string config = without_seed_line(row.config);
  for (CurvePart& part : report.curves) {
    if (part.dataset != dataset || part.row != name) continue;
    // Of a dataset that is drawn anew by several seeds the first draw stands for all.
    if (part.config == config) {
      part.folders.push_back(folder);
      part.finished += done ? 1 : 0;
    }
    return;
  }
  report.curves.push_back({dataset, name, config, {folder}, done ? 1 : 0});
}

void add_run(ReportParts& report, const std::string& folder, const std::string& config,
             const RunName& name, const study::TableOptions& options) {
  ResultRow row;
  row.config = config;
  row.dataset = name.dataset;
  row.method = name.method;
  row.variant = name.variant;
  row.seed = config_head(config, folder + "/config.toml").seed;
  if (!study::selected(options, row.dataset, row.method, row.variant)) return;
  row.environment = read_if_there(folder + "/env.json");
  const std::string summary = folder + "/summary.json";
  add_curve(report, row, folder, fs::exists(summary));
  if (!fs::exists(summary)) {
    report.results.missing.push_back(
        {row.dataset, row.method, row.variant, row.seed,
         fmt::format("not finished: {} epochs so far in {}", epochs_done(folder), folder)});
    return;
  }
  row.record = record_from_json(read_file(summary), summary);
  if (fs::exists(folder + "/model.safetensors")) {
    row.metric = to_string(read_model(folder).about.metric);
  }
  add_row(report, std::move(row));
}

void check_not_empty(const Results& results, const std::string& where) {
  if (results.rows.empty() && results.missing.empty()) {
    fail(ErrorKind::config,
         "{}: nothing is left to report; --dataset, --method and --block name what is kept", where);
  }
}

std::string counted(size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string title_of(const Results& results) {
  std::set<std::string> datasets, methods;
  for (const ResultRow& row : results.rows) {
    datasets.insert(row.dataset);
    methods.insert(row.method);
  }
  for (const MissingRow& row : results.missing) {
    datasets.insert(row.dataset);
    methods.insert(row.method);
  }
  const std::string what =
      methods.size() == 1 ? *methods.begin() : counted(methods.size(), "method");
  return what + " on " +
         (datasets.size() == 1 ? *datasets.begin() : counted(datasets.size(), "dataset"));
}

// What a dataset that had to be numbered differs in from the first one of its name.
std::vector<std::string> numbered_notes(const std::vector<ResultRow>& rows) {
  std::map<std::string, std::string> configs;  // by dataset
  for (const ResultRow& row : rows) configs.emplace(row.dataset, row.config);
  std::vector<std::string> notes;
  for (const auto& [dataset, config] : configs) {
    const size_t number = dataset.find(" #");
    const auto first = configs.find(dataset.substr(0, number));
    if (number == std::string::npos || first == configs.end()) continue;
    notes.push_back(fmt::format("{} is other data than {}: {}", dataset, first->first,
                                joined(dataset_differences(config, first->second), "; ")));
  }
  return notes;
}

// What the data's makers and readers must know, from the records of the runs.
std::vector<std::string> data_notes(const std::vector<ResultRow>& rows) {
  std::vector<std::string> notes;
  for (const ResultRow& row : rows) {
    const auto env = try_json<nlohmann::json>(row.environment);
    if (!env.is_object()) continue;
    for (const auto& note : env.value("notes", nlohmann::json::array())) {
      if (note.is_string()) add_once(notes, row.dataset + ": " + note.get<std::string>());
    }
    for (const auto& name : env.value("missing", nlohmann::json::array())) {
      if (name.is_string()) {
        add_once(notes, fmt::format("{}: run without {}, whose files were missing; Min and Avg are "
                                    "over the others",
                                    study::without_seed(row.dataset), name.get<std::string>()));
      }
    }
  }
  return notes;
}

void add_data_notes(ReportParts& report) {
  const std::vector<std::string> recorded = data_notes(report.results.rows);
  report.notes.insert(report.notes.end(), recorded.begin(), recorded.end());
}

// The folder as it is named, or beside the database.
std::string locate(const std::string& folder, const std::string& database) {
  const fs::path beside = fs::path(database).parent_path() / folder;
  for (const std::string& candidate : {folder, beside.string()}) {
    std::error_code code;
    if (fs::exists(candidate + "/metrics.jsonl", code) &&
        fs::exists(candidate + "/config.toml", code)) {
      return candidate;
    }
  }
  return "";
}

void add_study_curves(ReportParts& report) {
  size_t gone = 0;
  for (const ResultRow& row : report.results.rows) {
    if (row.record.folder.empty()) {
      ++gone;
    } else {
      add_curve(report, row, row.record.folder, true);
    }
  }
  if (gone > 0) {
    report.left_out.push_back(
        {"training curves of " + counted(gone, "run"),
         "their folders are not where the result database says, nor beside it"});
  }
}

}  // namespace

std::string row_name(const std::string& method, const std::string& variant) {
  return variant.empty() ? method : fmt::format("{} ({})", method, variant);
}

std::string metric_name(const std::string& metric) {
  if (metric == "roc_auc") return "ROC-AUC";
  if (metric == "macro_f1") return "macro F1";
  if (metric == "matthews") return "Matthews correlation";
  if (metric == "average_precision") return "average precision";
  return metric.empty() ? "score" : metric;
}

ReportParts report_of_runs(const std::vector<std::string>& paths,
                           const study::TableOptions& options) {
  ReportParts report;
  const std::vector<std::string> runs = find_runs(paths);
  std::vector<std::string> configs, origins;
  for (const std::string& folder : runs) {
    origins.push_back(folder + "/config.toml");
    configs.push_back(read_file(origins.back()));
  }
  const std::vector<RunName> names = name_runs(configs, origins);
  for (size_t k = 0; k < runs.size(); ++k) {
    add_run(report, runs[k], configs[k], names[k], options);
  }
  check_not_empty(report.results, paths.front());
  report.title = title_of(report.results);
  report.about = counted(report.results.rows.size(), "finished run");
  if (!report.results.missing.empty()) {
    report.about += fmt::format(", {} not finished", report.results.missing.size());
  }
  report.about += ".";
  report.notes = numbered_notes(report.results.rows);
  add_data_notes(report);
  return report;
}

ReportParts report_of_study(const study::Store& store, const std::string& database,
                            const std::string& study, const study::TableOptions& options) {
  const study::StudyRow head = store.study(study);
  ReportParts report;
  report.title = "Study " + head.name;
  report.about = head.about;
  report.spec = head.spec;
  report.repeat = {
      fmt::format("grm study {} {}", head.tuned ? "tune" : "run", shell_word(study + ".toml"))};
  report.results.rows = store.results(study, head.tuned ? "final" : "run");
  report.results.missing = store.missing(study);
  study::keep_selected(report.results.rows, options);
  study::keep_selected(report.results.missing, options);
  check_not_empty(report.results, "study " + study);
  for (ResultRow& row : report.results.rows) {
    row.record.folder = locate(row.record.folder, database);
  }
  add_study_curves(report);
  add_data_notes(report);
  report.study = StudyPart{head, store.cells(study), {}};
  if (head.tuned) report.study->winners = study::winners(store, study);
  return report;
}

}  // namespace grm::report
