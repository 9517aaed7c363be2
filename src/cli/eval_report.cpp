#include "cli/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/json.h"

namespace grm::cli {
namespace {

constexpr int64_t kMostClasses = 12;  // of a confusion matrix on a terminal

ordered_json number(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

std::string hundredths(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.2f}", value);
}

std::string title_of(ScoreKind kind) {
  static const Words words = {"accuracy", "balanced",      "macro-F1",
                              "ROC-AUC",  "avg precision", "Matthews"};
  return words.at(static_cast<size_t>(kind));
}

ordered_json scores_json(const ScoredItems& items, const ScoreIntervals* intervals) {
  const ScoreValues values = items.values();
  ordered_json out = ordered_json::object();
  for (const ScoreKind kind : all_values<ScoreKind>()) {
    const auto k = static_cast<size_t>(kind);
    ordered_json& entry = out[to_string(kind)];
    entry["value"] = number(values[k]);
    if (!intervals) continue;
    entry["low"] = number((*intervals)[k].low);
    entry["high"] = number((*intervals)[k].high);
    entry["resamples"] = (*intervals)[k].resamples;
  }
  return out;
}

ordered_json confusion_json(const Confusion& confusion) {
  ordered_json rows = ordered_json::array();
  for (int64_t t = 0; t < confusion.classes(); ++t) {
    ordered_json row = ordered_json::array();
    for (int64_t p = 0; p < confusion.classes(); ++p) {
      row.push_back(static_cast<int64_t>(confusion.count(t, p)));
    }
    rows.push_back(row);
  }
  return rows;
}

ordered_json classes_json(const EvalReport& report, const ScoredItems& items) {
  ordered_json out = ordered_json::array();
  const std::vector<ClassScores> classes = items.by_class();
  for (size_t c = 0; c < classes.size(); ++c) {
    const ClassScores& s = classes[c];
    out.push_back({{"class", c},
                   {"label", report.labels[c]},
                   {"items", static_cast<int64_t>(s.items)},
                   {"predicted", static_cast<int64_t>(s.predicted)},
                   {"precision", number(s.precision)},
                   {"recall", number(s.recall)},
                   {"f1", number(s.f1)},
                   {"roc_auc", number(s.roc_auc)},
                   {"average_precision", number(s.average_precision)}});
  }
  return out;
}

ordered_json called_json(const Called& called) {
  return {{"precision", number(called.precision())},
          {"recall", number(called.recall())},
          {"f1", number(called.f1())},
          {"share", number(called.share())},
          {"true_positives", static_cast<int64_t>(called.true_positives)},
          {"false_positives", static_cast<int64_t>(called.false_positives)},
          {"positives", static_cast<int64_t>(called.positives)},
          {"negatives", static_cast<int64_t>(called.negatives)}};
}

ordered_json threshold_json(const EvalReport& report, const EvalThreshold& t) {
  ordered_json out = {{"wanted", to_string(t.wanted)},
                      {"wanted_value", t.value},
                      {"class", t.positive},
                      {"label", report.labels[static_cast<size_t>(t.positive)]},
                      {"threshold", t.choice.called.threshold},
                      {"reached", t.choice.reached},
                      {"chosen_on", t.on_validation ? "validation" : "scored data"},
                      {"there", called_json(t.choice.called)},
                      {"here", called_json(t.together)},
                      {"domains", ordered_json::array()}};
  for (size_t d = 0; d < t.domains.size(); ++d) {
    out["domains"].push_back({{"domain", report.domains[d]}});
    out["domains"].back().update(called_json(t.domains[d]));
  }
  return out;
}

// The scores of the domains, and of all items together with their intervals.
void print_scores(const EvalReport& report) {
  Table domains, all;
  domains.head = {"domain", "items"};
  for (const ScoreKind kind : all_values<ScoreKind>()) domains.head.push_back(title_of(kind));
  domains.head.push_back("ECE");
  const auto line = [&](const std::string& name, const ScoredItems& items, double ece) {
    Table::Row& row = domains.rows.emplace_back(1, name);
    row.push_back(std::to_string(items.items()));
    for (const double value : items.values()) row.push_back(hundredths(value));
    row.push_back(hundredths(ece));
  };
  for (size_t d = 0; d < report.groups.size(); ++d) {
    line(report.domains[d], report.groups[d], report.ece[d]);
  }
  const ScoredItems& together = report.together.front();
  if (report.groups.size() > 1) line("all items", together, report.ece_together);
  print_table(domains);
  if (report.options.resamples == 0) return;
  all.head = {"all items", "value", fmt::format("{:g} % interval", report.options.level)};
  const ScoreValues values = together.values();
  for (const ScoreKind kind : all_values<ScoreKind>()) {
    const auto k = static_cast<size_t>(kind);
    const Interval& interval = report.intervals.together[k];
    all.rows.push_back(
        {title_of(kind), hundredths(values[k]),
         fmt::format("{} to {}", hundredths(interval.low), hundredths(interval.high))});
  }
  fmt::print("\n");
  print_table(all);
}

void print_classes(const EvalReport& report) {
  const ScoredItems& together = report.together.front();
  Table table;
  table.head = {"class",  "items", "predicted", "precision",
                "recall", "F1",    "ROC-AUC",   "avg precision"};
  const std::vector<ClassScores> classes = together.by_class();
  for (size_t c = 0; c < classes.size(); ++c) {
    const ClassScores& s = classes[c];
    table.rows.push_back({report.labels[c], fmt::format("{:.0f}", s.items),
                          fmt::format("{:.0f}", s.predicted), hundredths(s.precision),
                          hundredths(s.recall), hundredths(s.f1), hundredths(s.roc_auc),
                          hundredths(s.average_precision)});
  }
  fmt::print("\n");
  print_table(table);
  if (together.classes() > kMostClasses) {
    print_wrapped(
        "", fmt::format("the confusion matrix of {} classes is in --json", together.classes()));
    return;
  }
  Table confused;
  confused.head = {"true class, predicted as"};
  for (const std::string& label : report.labels) confused.head.push_back(label);
  const Confusion confusion = together.confusion();
  for (int64_t t = 0; t < confusion.classes(); ++t) {
    Table::Row& row = confused.rows.emplace_back(1, report.labels[static_cast<size_t>(t)]);
    for (int64_t p = 0; p < confusion.classes(); ++p) {
      row.push_back(fmt::format("{:.0f}", confusion.count(t, p)));
    }
  }
  fmt::print("\n");
  print_table(confused);
}

void print_threshold(const EvalReport& report, const EvalThreshold& t) {
  const std::string& label = report.labels[static_cast<size_t>(t.positive)];
  const std::string where = t.on_validation ? "validation data" : "the scored data itself";
  fmt::print("\n");
  print_wrapped(
      "", fmt::format("threshold {}: call an item '{}' if p_{} is at least this; chosen "
                      "on {} for a {} of {:g}{}",
                      t.choice.called.threshold, label, label, where, to_string(t.wanted), t.value,
                      t.choice.reached ? ""
                                       : ", WHICH NO THRESHOLD REACHES THERE; this "
                                         "one comes nearest"));
  Table table;
  table.head = {"at this threshold", "precision", "recall", "F1", "called", "right"};
  const auto line = [&](const std::string& name, const Called& called) {
    table.rows.push_back({name, hundredths(called.precision()), hundredths(called.recall()),
                          hundredths(called.f1()),
                          fmt::format("{:.0f}", called.true_positives + called.false_positives),
                          fmt::format("{:.0f}", called.true_positives)});
  };
  if (t.on_validation) line("validation", t.choice.called);
  for (size_t d = 0; d < t.domains.size(); ++d) line(report.domains[d], t.domains[d]);
  if (t.domains.size() > 1) line("all items", t.together);
  print_table(table);
}

}  // namespace

ordered_json eval_json(const EvalReport& report) {
  const bool intervals = report.options.resamples > 0;
  const ScoredItems& together = report.together.front();
  ordered_json out = {
      {"run", report.run},
      {"data", report.data},
      {"dataset", report.about.dataset},
      {"method", report.about.method},
      {"preset", report.about.preset},
      {"seed", report.about.seed},
      {"epoch", report.about.epoch},
      {"temperature", report.about.temperature},
      {"metric", to_string(report.about.metric)},
      {"unit", "percent"},
      {"items", together.items()},
      {"unlabelled", report.unlabelled},
      {"labels", report.labels},
      {"scores", scores_json(together, intervals ? &report.intervals.together : nullptr)},
      {"ece", report.ece_together},
      {"confusion", confusion_json(together.confusion())},
      {"classes", classes_json(report, together)},
      {"domains", ordered_json::array()}};
  double sum = 0.0, least = std::numeric_limits<double>::quiet_NaN();
  for (size_t d = 0; d < report.groups.size(); ++d) {
    const ScoredItems& items = report.groups[d];
    const double value = report.values[d];
    sum += value;
    least = std::isnan(least) ? value : std::min(least, value);
    out["domains"].push_back(
        {{"domain", report.domains[d]},
         {"items", items.items()},
         {"value", number(value)},
         {"scores", scores_json(items, intervals ? &report.intervals.groups[d] : nullptr)},
         {"ece", report.ece[d]},
         {"confusion", confusion_json(items.confusion())},
         {"classes", classes_json(report, items)}});
  }
  out["min"] = number(least);
  out["avg"] = number(sum / static_cast<double>(report.groups.size()));
  out["bootstrap"] = {{"resamples", report.options.resamples},
                      {"level", report.options.level},
                      {"seed", report.options.seed}};
  if (report.threshold) out["threshold"] = threshold_json(report, *report.threshold);
  out["notes"] = report.notes;
  out["seconds"] = report.seconds;
  return out;
}

void print_eval(const EvalReport& report) {
  print_scores(report);
  print_classes(report);
  if (report.threshold) print_threshold(report, *report.threshold);
}

}  // namespace grm::cli
