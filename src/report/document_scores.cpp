// The scores of a document: rows of every dataset with each of their runs, tests, cost, calibration.
#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "grm/data/dataset.h"
#include "report/document.h"
#include "train/recorded_config.h"

namespace grm::report::document {
namespace {

using study::Cell;
using study::DatasetColumn;
using study::ResultRow;

// Where Student's t has 2.5 % above: by halving, as the distribution is at hand.
double t_of_95(double freedom) {
  double low = 0.0, high = 1000.0;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (study::two_sided_p(middle, freedom) > 0.05 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Json test_json(const study::PairedTest& test) {
  Json out = {{"difference", number(test.difference)},
              {"deviation", number(test.deviation)},
              {"pairs", test.pairs},
              {"p", test.p ? number(*test.p) : Json(nullptr)}};
  if (test.pairs > 1) {
    const auto pairs = static_cast<double>(test.pairs);
    const double half = t_of_95(pairs - 1) * test.deviation / std::sqrt(pairs);
    out["low"] = number(test.difference - half);
    out["high"] = number(test.difference + half);
  }
  return out;
}

Json scores_by_domain(const std::vector<std::string>& domains,
                      const std::vector<DomainScore>& scores) {
  Json list = Json::array();
  for (const std::string& domain : domains) {
    const auto at = std::find_if(scores.begin(), scores.end(),
                                 [&](const DomainScore& s) { return s.domain == domain; });
    list.push_back(at == scores.end() ? Json(nullptr) : number(at->value));
  }
  return list;
}

Json each_json(const std::vector<const ResultRow*>& runs, const std::vector<std::string>& domains,
               const std::string& rule) {
  Json list = Json::array();
  for (const ResultRow* row : runs) {
    const auto chosen = row->record.chosen.find(rule);
    if (chosen == row->record.chosen.end()) continue;
    Json run = {{"seed", row->seed},
                {"data", row->dataset},
                {"epoch", chosen->second.epoch},
                {"validation", number(chosen->second.validation)}};
    if (!chosen->second.test.empty()) run["avg"] = number(mean_score(chosen->second.test));
    run["scores"] = scores_by_domain(domains, chosen->second.test);
    run["folder"] = row->record.folder;
    list.push_back(std::move(run));
  }
  return list;
}

// Whether features are centred by the domain that is tested, whose other items are looked at without
// their labels.
bool is_transductive(const std::vector<const ResultRow*>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const ResultRow* run) {
    const auto values = config_values(run->config);
    const auto centre = values.find("dataset.centre");
    return centre != values.end() &&
           centre->second.find(to_string(Centring::domain)) != std::string::npos;
  });
}

Json row_json(const std::string& name, const Cell& cell, const std::vector<std::string>& domains,
              const std::vector<const ResultRow*>& runs, const std::string& rule) {
  Json row = {{"name", name},
              {"method", runs.empty() ? study::without_preset(name)
                                      : study::without_preset(runs.front()->method)},
              {"runs", cell.runs},
              {"expected", cell.expected},
              {"transductive", is_transductive(runs)}};
  Json scores = Json::array();
  for (const std::string& domain : domains) {
    const auto at = std::find_if(cell.domains.begin(), cell.domains.end(),
                                 [&](const Cell::DomainRow& d) { return d.domain == domain; });
    scores.push_back(at == cell.domains.end() ? Json(nullptr) : mean_std_json(at->score.ours));
  }
  row["scores"] = std::move(scores);
  if (!cell.domains.empty()) {
    row["avg"] = mean_std_json(cell.avg.ours);
    row["min"] = mean_std_json(cell.min.ours);
    row["min"]["domain"] = cell.min_domain;
    row["min_per_run"] = mean_std_json(cell.min_per_run);
  }
  if (cell.runs > 0) row["validation"] = mean_std_json(cell.validation);
  if (std::isfinite(cell.validation_loss)) row["validation_loss"] = cell.validation_loss;
  row["each"] = each_json(runs, domains, rule);
  if (cell.test) {
    row["against"] = cell.against;
    row["test"] = test_json(*cell.test);
    row["mark"] = cell.mark;
  }
  row["cost"] = {{"parameters", cell.parameters},
                 {"epochs", rounded(cell.epochs.mean)},
                 {"seconds_per_epoch", rounded(cell.seconds_per_epoch.mean)},
                 {"train_seconds", rounded(cell.train_seconds.mean)},
                 {"peak_mib", rounded(cell.peak_memory_mib)}};
  Json calibration = calibration_json(runs);
  if (!calibration.is_null()) row["calibration"] = std::move(calibration);
  return row;
}

Json constants_json(const DatasetColumn& column, const std::vector<std::string>& domains) {
  Json list = Json::array();
  for (const ConstantAnswer& answer : column.constants) {
    list.push_back({{"key", answer.key},
                    {"name", answer.name},
                    {"about", answer.about},
                    {"avg", number(mean_score(answer.scores))},
                    {"min", number(min_score(answer.scores))},
                    {"scores", scores_by_domain(domains, answer.scores)}});
  }
  return list;
}

}  // namespace

Json datasets_json(const ReportParts& report, const study::ScoreTable& table) {
  Json list = Json::array();
  for (const study::Block& block : table.blocks) {
    for (const DatasetColumn& column : block.datasets) {
      const std::vector<std::string> domains = study::domains_of(column);
      const size_t chosen = study::chosen_by_validation(column);
      Json dataset = {
          {"name", column.dataset},
          {"metric", column.metric},
          {"metric_name", metric_name(column.metric)},
          {"errors", column.errors},
          {"domains", domains},
          {"chosen", chosen < block.methods.size() ? Json(block.methods[chosen]) : Json(nullptr)},
          {"verdict", verdict(block, column)},
          {"doubts", doubts(block, column, report)},
          {"constants", constants_json(column, domains)}};
      Json rows = Json::array();
      for (size_t m = 0; m < block.methods.size(); ++m) {
        if (column.cells[m].expected == 0 && column.cells[m].runs == 0) continue;
        std::vector<const ResultRow*> runs;
        for (const ResultRow& row : report.results.rows) {
          if (study::without_seed(row.dataset) == column.dataset &&
              row_name(row.method, row.variant) == block.methods[m]) {
            runs.push_back(&row);
          }
        }
        rows.push_back(row_json(block.methods[m], column.cells[m], domains, runs, table.rule));
      }
      dataset["rows"] = std::move(rows);
      for (const auto& [key, value] :
           {std::pair<const char*, Json>{"shift", shift_json(report, column.dataset)},
            {"models", models_json(report, column.dataset)},
            {"embedding", embedding_json(report, column.dataset)},
            {"explanations", explanations_json(report, column.dataset)}}) {
        if (!value.is_null()) dataset[key] = value;
      }
      list.push_back(std::move(dataset));
    }
  }
  return list;
}

}  // namespace grm::report::document
