// Results as CSV and JSON, for other programs.
#include <algorithm>
#include <sstream>

#include "core/files.h"
#include "core/json.h"
#include "core/lists.h"
#include "core/text.h"
#include "study/table.h"

namespace grm::study {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Score& score) {
  ordered_json out = {{"mean", score.ours.mean}, {"std", score.ours.std}};
  if (score.published) {
    out["published"] = {{"value", score.published->value}};
    if (score.published->deviation) out["published"]["std"] = *score.published->deviation;
  }
  return out;
}

ordered_json to_json(const MeanStd& value) {
  return {{"mean", value.mean}, {"std", value.std}};
}

ordered_json to_json(const Cell& cell, const std::string& method) {
  ordered_json out = {{"method", method}, {"runs", cell.runs}, {"expected", cell.expected}};
  if (cell.runs == 0) return out;
  out["min"] = to_json(cell.min);
  out["min"]["domain"] = cell.min_domain;
  out["avg"] = to_json(cell.avg);
  out["min_per_run"] = to_json(cell.min_per_run);
  out["validation"] = to_json(cell.validation);
  out["domains"] = ordered_json::array();
  for (const Cell::DomainRow& row : cell.domains) {
    ordered_json domain = {{"domain", row.domain}};
    domain.update(to_json(row.score));
    out["domains"].push_back(domain);
  }
  if (cell.test) {
    out["test"] = {{"against", cell.against},
                   {"pairs", cell.test->pairs},
                   {"difference", cell.test->difference}};
    out["test"]["p"] = cell.test->p ? ordered_json(*cell.test->p) : ordered_json();
    out["test"]["mark"] = cell.mark > 0 ? "better" : cell.mark < 0 ? "worse" : "";
  }
  out["parameters"] = cell.parameters;
  out["epochs"] = cell.epochs.mean;
  out["seconds_per_epoch"] = to_json(cell.seconds_per_epoch);
  out["train_seconds"] = to_json(cell.train_seconds);
  out["evaluate_seconds"] = to_json(cell.evaluate_seconds);
  out["peak_memory_mib"] = cell.peak_memory_mib;
  return out;
}

ordered_json to_json(const std::vector<MissingRow>& missing) {
  ordered_json out = ordered_json::array();
  for (const MissingRow& row : missing) {
    out.push_back({{"dataset", row.dataset},
                   {"method", row.method},
                   {"variant", row.variant},
                   {"seed", row.seed},
                   {"reason", row.reason}});
  }
  return out;
}

// Text that holds JSON becomes part of the document, other text stays text.
ordered_json embedded(const std::string& text) {
  const ordered_json value = try_json<ordered_json>(text);
  return value.is_discarded() ? ordered_json(text) : value;
}

// As many digits as give the same number back.
std::string exact(double value) {
  return fmt::format("{}", value);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What a trial sets: lines of its configuration that trial 0 of the same cell has not. With halving trial 0
// may have run on other seeds alone.
std::string settings_of(const ResultRow& row, const std::vector<ResultRow>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const ResultRow& other) {
    return other.trial == 0 && other.dataset == row.dataset && other.method == row.method &&
           other.variant == row.variant;
  });
  if (row.trial == 0 || first == rows.end()) return "";
  const std::vector<std::string> before = lines_of(first->config);
  std::string out;
  for (const std::string& line : lines_of(row.config)) {
    if (contains(before, line) || line.rfind("seed = ", 0) == 0) continue;
    out += (out.empty() ? "" : "; ") + line;
  }
  return out;
}

// Damaged text in a database must not end an export: bad bytes are replaced.
std::string dump(const ordered_json& value) {
  return json_text(value, 2) + "\n";
}

}  // namespace

std::string table_json(const ScoreTable& table) {
  ordered_json blocks = ordered_json::array();
  for (const Block& block : table.blocks) {
    ordered_json datasets = ordered_json::array();
    for (const DatasetColumn& column : block.datasets) {
      ordered_json methods = ordered_json::array();
      for (size_t m = 0; m < block.methods.size(); ++m) {
        if (column.cells[m].expected > 0) {
          methods.push_back(to_json(column.cells[m], block.methods[m]));
        }
      }
      ordered_json dataset = {{"dataset", column.dataset}, {"metric", column.metric}};
      for (const ConstantAnswer& answer : column.constants) {
        dataset[answer.key] = {{"min", min_score(answer.scores)},
                               {"avg", mean_score(answer.scores)}};
        for (const DomainScore& s : answer.scores) {
          dataset[answer.key]["domains"].push_back({{"domain", s.domain}, {"value", s.value}});
        }
      }
      const size_t chosen = chosen_by_validation(column);
      if (chosen < block.methods.size()) dataset["chosen_by_validation"] = block.methods[chosen];
      dataset["methods"] = methods;
      datasets.push_back(dataset);
    }
    blocks.push_back({{"block", block.name}, {"datasets", datasets}});
  }
  return dump({{"study", table.study},
               {"against", table.against},
               {"level", table.level},
               {"unit", "percent"},
               {"blocks", blocks},
               {"missing", to_json(table.missing)},
               {"notes", table.notes}});
}

std::string summary_csv(const ScoreTable& table) {
  Table out;
  out.head = {"study", "block", "dataset",   "method",        "column", "mean",
              "std",   "runs",  "published", "published_std", "p"};
  for_each_cell(table, [&](const Block& block, const DatasetColumn& column,
                           const std::string& method, const Cell& cell) {
    if (cell.runs == 0) return;
    const auto line = [&](const std::string& name, const Score& score, const std::string& p) {
      const auto& paper = score.published;
      out.rows.push_back({table.study, block.name, column.dataset, method, name,
                          exact(score.ours.mean), exact(score.ours.std), std::to_string(cell.runs),
                          paper ? exact(paper->value) : "",
                          paper && paper->deviation ? exact(*paper->deviation) : "", p});
    };
    for (const Cell::DomainRow& row : cell.domains) line(row.domain, row.score, "");
    line("Min", cell.min, "");
    line("Avg", cell.avg, cell.test && cell.test->p ? exact(*cell.test->p) : "");
    line("MinPerRun", {cell.min_per_run, {}}, "");
  });
  return csv_table(out);
}

std::string scores_csv(const std::vector<ResultRow>& rows, const std::string& rule) {
  Table out;
  out.head = {"study", "dataset", "method", "variant", "seed", "domain", "score"};
  for (const ResultRow& row : rows) {
    const auto chosen = row.record.chosen.find(rule);
    if (chosen == row.record.chosen.end()) continue;
    for (const DomainScore& s : chosen->second.test) {
      out.rows.push_back({row.study, row.dataset, row.method, row.variant, std::to_string(row.seed),
                          s.domain, exact(s.value)});
    }
  }
  return csv_table(out);
}

std::string export_csv(const std::vector<ResultRow>& rows) {
  Table out;
  out.head = {"study",
              "dataset",
              "method",
              "variant",
              "seed",
              "metric",
              "epoch",
              "validation",
              "min",
              "avg",
              "epochs",
              "seconds_per_epoch",
              "evaluate_seconds",
              "parameters",
              "peak_memory_mib",
              "stopped_early",
              "config",
              "environment",
              "record"};
  for (const ResultRow& row : rows) {
    const RunRecord& r = row.record;
    const auto found = r.chosen.find("val");
    const Chosen chosen = found == r.chosen.end() ? Chosen() : found->second;
    const bool scored = !chosen.test.empty();
    out.rows.push_back(
        {row.study, row.dataset, row.method, row.variant, std::to_string(row.seed), row.metric,
         std::to_string(chosen.epoch), exact(chosen.validation),
         scored ? exact(min_score(chosen.test)) : "", scored ? exact(mean_score(chosen.test)) : "",
         std::to_string(r.epochs), exact(r.seconds_per_epoch), exact(r.evaluate_seconds),
         std::to_string(r.parameters), exact(r.peak_memory_mib), r.stopped_early ? "true" : "false",
         row.config, row.environment, to_json_text(r)});
  }
  return csv_table(out);
}

std::string export_runs(const std::vector<ResultRow>& rows) {
  constexpr size_t kIdLength = 12;
  Table out;
  out.head = {"run",   "dataset",    "method", "variant", "trial",   "settings", "seed",  "metric",
              "epoch", "validation", "min",    "avg",     "domains", "git",      "device"};
  for (const ResultRow& row : rows) {
    const auto found = row.record.chosen.find("val");
    const Chosen chosen = found == row.record.chosen.end() ? Chosen() : found->second;
    const bool scored = !chosen.test.empty();
    const std::string domains = joined(
        chosen.test, "; ", [](const DomainScore& s) { return s.domain + " " + exact(s.value); });
    const ordered_json environment = embedded(row.environment);
    const auto text = [&](const char* key) {
      return environment.is_object() ? environment.value(key, std::string()) : std::string();
    };
    out.rows.push_back({sha256(row.config).substr(0, kIdLength), row.dataset, row.method,
                        row.variant, std::to_string(row.trial), settings_of(row, rows),
                        std::to_string(row.seed), row.metric, std::to_string(chosen.epoch),
                        exact(chosen.validation), scored ? exact(min_score(chosen.test)) : "",
                        scored ? exact(mean_score(chosen.test)) : "", domains, text("git"),
                        text("device")});
  }
  return csv_table(out);
}

std::string export_json(const std::vector<ResultRow>& rows,
                        const std::vector<MissingRow>& missing) {
  ordered_json runs = ordered_json::array();
  for (const ResultRow& row : rows) {
    runs.push_back({{"study", row.study},
                    {"dataset", row.dataset},
                    {"method", row.method},
                    {"variant", row.variant},
                    {"seed", row.seed},
                    {"metric", row.metric},
                    {"record", embedded(to_json_text(row.record))},
                    {"config", row.config},
                    {"environment", embedded(row.environment)}});
  }
  return dump({{"runs", runs}, {"missing", to_json(missing)}});
}

}  // namespace grm::study
