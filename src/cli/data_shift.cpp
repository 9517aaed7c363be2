#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/data.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "core/text.h"
#include "data/shift.h"
#include "grm/data/own_data.h"

namespace grm::cli {
namespace {

struct ShiftFlags {
  DataFlags data;
  std::string incoming;
  uint64_t seed = 0;
};

ordered_json law_json(const DomainLaw& law, bool sets) {
  ordered_json json = {{"items", law.items}, {"mean_degree", law.mean_degree}};
  if (sets) {
    json["mean_nodes"] = law.mean_nodes;
  } else {
    json["edge_homophily"] = law.homophily ? ordered_json(law.homophily->edge) : ordered_json();
    json["adjusted_homophily"] =
        law.homophily ? ordered_json(law.homophily->adjusted) : ordered_json();
  }
  json["label_shares"] = law.label_shares;
  return json;
}

ordered_json columns_json(const std::vector<ColumnShift>& columns) {
  ordered_json all = ordered_json::array();
  for (const ColumnShift& column : columns) {
    all.push_back(
        {{"column", column.column}, {"name", column.name}, {"difference", column.difference}});
  }
  return all;
}

ordered_json to_json(const DomainShift& shift, bool sets) {
  ordered_json json = {{"domain", shift.law.name},
                       {"role", to_string(shift.role)},
                       {"verdict", to_string(shift.level)},
                       {"most", shift.most},
                       {"text", shift.text}};
  json.update(law_json(shift.law, sets));
  for (const ShiftMeasure& measure : shift.measures) {
    ordered_json& entry = json["measures"][measure.what];
    entry = {{"value", measure.value},
             {"chance", measure.chance},
             {"verdict", to_string(measure.level)}};
    if (measure.what == "classifier") entry["score"] = measure.raw;
  }
  json["columns"] = columns_json(shift.columns);
  json["spreads"] = columns_json(shift.spreads);
  return json;
}

void print_report(const ShiftReport& report, const Task& task) {
  const bool sets = task.level == Level::graph;
  const char* third = sets ? "sizes" : "homophily";
  const std::vector<std::string> shown = {"features", "column", "spread",    "degrees",
                                          third,      "labels", "classifier"};
  Table table;
  table.head = {"domain", "role", sets ? "graphs" : "nodes"};
  for (const std::string& what : shown) {
    table.head.push_back(what == "classifier" ? "AUC" : what);
  }
  table.head.push_back("verdict");
  for (const DomainShift& shift : report.domains) {
    Table::Row& row = table.rows.emplace_back();
    row = {shift.law.name, to_string(shift.role), std::to_string(shift.law.items)};
    for (const std::string& what : shown) {
      const ShiftMeasure* measure = shift.find(what);
      row.push_back(measure ? fmt::format("{:.2f}", measure->value) : "-");
    }
    row.push_back(to_string(shift.level));
  }
  print_table(table);
  fmt::print("\n");
  for (const DomainShift& shift : report.domains) {
    print_wrapped(terminal_text(shift.law.name) + ": ", shift.text);
  }
  if (report.count_columns > 0) {
    fmt::print("\n{} column{} of counts with a long tail: compared as log(1 + count)\n",
               report.count_columns, report.count_columns == 1 ? "" : "s");
  }
  fmt::print("\n");
  print_wrapped(task.name + ": ", report.text);
  for (const std::string& line : report.advice) print_wrapped("* ", line);
}

int shift(const ShiftFlags& flags, const Common& common) {
  Task task = load_task(flags.data, common);
  if (!flags.incoming.empty()) {
    const TrainView view = task.train_view();
    task.validation.clear();
    task.test = load_for_prediction(flags.incoming, task.preprocessing, task.level, view.features,
                                    view.edge_features);
  }
  const ShiftReport report = measure_shift(task, flags.seed);
  if (!common.json) {
    print_report(report, task);
    return 0;
  }
  const bool sets = task.level == Level::graph;
  ordered_json training = {{"domains", ordered_json::array()}};
  for (const Domain& domain : task.training) training["domains"].push_back(domain.name);
  training.update(law_json(report.training, sets));
  ordered_json domains = ordered_json::array();
  for (const DomainShift& domain : report.domains) domains.push_back(to_json(domain, sets));
  print_json({{"dataset", task.name},
              {"level", to_string(task.level)},
              {"training", training},
              {"count_columns", report.count_columns},
              {"domains", domains},
              {"verdict", to_string(report.level)},
              {"text", report.text},
              {"advice", report.advice},
              {"missing", task.missing}});
  return 0;
}

}  // namespace

void add_data_shift(CLI::App& data, Common& common, Action& action) {
  CLI::App* verb = data.add_subcommand(
      "shift", "how far validation and test domains are from the training domains");
  auto flags = std::make_shared<ShiftFlags>();
  add_common(*verb, common, true);
  add_data_flags(*verb, flags->data);
  verb->add_option("--new", flags->incoming,
                   "compare these graphs, labelled or not, in place of validation and test: a "
                   "folder of own data or a .npz file");
  verb->add_option("--seed", flags->seed, "of the items that the classifier sees (default: 0)")
      ->check(whole_number(0));
  verb->footer(
      "features   RMS over columns of the difference of means, in standard deviations\n"
      "column     the largest of these differences\n"
      "spread     the largest difference of the columns' distances from their mean\n"
      "degrees, sizes, labels   total variation distance of the histograms, 0 to 1\n"
      "homophily  difference of adjusted homophily\n"
      "AUC        how well a linear classifier tells a domain's items from training items\n\n"
      "Verdicts and their thresholds: docs/shift.md\n\n"
      "Examples:\n"
      "  grm data shift sbm\n"
      "  grm data shift ./my-data --json\n"
      "  grm data shift ./my-data --new next-month.npz\n"
      "  grm data shift sbm --set centre=domain");
  set_call(*verb, action, [=, &common] { return shift(*flags, common); });
}

}  // namespace grm::cli
