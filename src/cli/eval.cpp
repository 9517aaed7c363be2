#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/eval_scores.h"
#include "cli/reliability.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/json.h"
#include "train/constant.h"
#include "train/explain.h"
#include "train/trainer.h"

namespace grm::cli {
namespace {

int eval(const std::string& path, const Common& common) {
  common.use_device();
  LoadedModel model = load_model(path, common.data_context());
  const Stopwatch watch;
  ordered_json domains = ordered_json::array();
  Table table, found;
  table.head = {"domain", "role", to_string(model.task.metric)};
  std::vector<ConstantAnswer> constants;
  BeforeAfter test;
  ordered_json out = {{"run", path},
                      {"dataset", model.task.name},
                      {"method", model.config->method_name()},
                      {"preset", model.config->method.preset()},
                      {"seed", model.seed},
                      {"epoch", model.epoch},
                      {"temperature", model.temperature},
                      {"metric", to_string(model.task.metric)},
                      {"unit", smaller_is_better(model.task.metric) ? "target" : "percent"}};
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    const std::vector<GroupLogits> groups = group_logits(*model.method, model.task, role);
    const std::vector<DomainScore> scores = scores_of(model.task.metric, groups);
    const std::vector<DomainScore> constant = constant_scores(model.task, role);
    const std::vector<DomainScore> own = own_constant_scores(model.task, role);
    if (scores.empty()) continue;  // own data may have no test domain
    constants = constant_answers(to_string(model.task.metric), constant, own);
    const auto line = [&](const std::string& name, const std::string& of, double value,
                          const auto& get) {
      table.rows.push_back({name, of, fmt::format("{:.2f}", value)});
      for (const ConstantAnswer& answer : constants) {
        table.rows.back().push_back(fmt::format("{:.2f}", get(answer.scores)));
      }
    };
    for (size_t k = 0; k < scores.size(); ++k) {
      domains.push_back({{"domain", scores[k].domain},
                         {"role", to_string(role)},
                         {"value", scores[k].value},
                         {"constant", constant[k].value},
                         {"constant_own", own[k].value}});
      const BeforeAfter reliable = before_after({groups[k]}, model.temperature);
      add_reliability(domains.back(), reliable);
      line(scores[k].domain, to_string(role), scores[k].value,
           [&](const std::vector<DomainScore>& all) { return all[k].value; });
      table.rows.back().push_back(fmt::format("{:.2f}", reliable.after.ece));
    }
    if (role != Role::test) continue;
    test = before_after(groups, model.temperature);
    out["min"] = min_score(scores);
    out["avg"] = mean_score(scores);
    line("Min", "", min_score(scores), min_score);
    line("Avg", "", mean_score(scores), mean_score);
  }
  for (const ConstantAnswer& answer : constants) table.head.push_back(answer.name);
  table.head.push_back("ECE");
  out["domains"] = domains;
  add_reliability(out["test"], test);
  // Data that knows which edges make its labels: how well the method's scores find them.
  found.head = {"edges found", "ROC-AUC", "mean per graph", "precision@k", "graphs"};
  for (const Explanation& e : explanations(*model.method, model.task, Role::test)) {
    out["explanations"].push_back({{"domain", e.domain},
                                   {"roc_auc", e.auc},
                                   {"roc_auc_per_graph", e.graph_auc},
                                   {"precision_at_k", e.precision},
                                   {"graphs", e.graphs}});
    found.rows.push_back({e.domain, fmt::format("{:.2f}", e.auc),
                          fmt::format("{:.2f}", e.graph_auc), fmt::format("{:.2f}", e.precision),
                          std::to_string(e.graphs)});
  }
  // A score belongs to the data that it was computed on.
  ordered_json changed = ordered_json::array();
  for (const DataChange& change : model.changes) changed.push_back(change.file);
  out["data"] = {{"same", changed.empty()}, {"changed", changed}};
  out["missing"] = model.task.missing;
  out["seconds"] = watch.seconds();
  if (common.json) {
    print_json(out);
  } else {
    print_table(table);
    if (constants.size() > 1) print_wrapped("", constants_note(constants));
    print_reliability(test, model.temperature);
    if (!found.rows.empty()) {
      fmt::print("\n");
      print_table(found);
    }
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb =
      app.add_subcommand("eval", "score a trained model on its data, or on any labelled data");
  auto flags = std::make_shared<EvalFlags>();
  add_common(*verb, common, true);
  add_eval_flags(*verb, *flags);
  verb->footer(
      "Examples:\n"
      "  grm eval runs/sbm/grm/20260131T120000-1000\n"
      "  grm eval runs/sbm/grm/20260131T120000-1000/model.safetensors --json\n"
      "  grm eval RUN --data new-month                   all scores, by class and by domain\n"
      "  grm eval RUN --data new-month --precision 0.9   and a threshold for decisions\n"
      "  grm eval RUN --recall 0.8 --class fraud         on the test domains of the run\n\n"
      "A threshold is chosen on the validation data of the run, where that is at hand.\n"
      "For new graphs, with or without labels: grm predict");
  set_call(*verb, action, [=, &common] {
    return flags->decides() ? eval_scores(*flags, common) : eval(flags->run, common);
  });
}

}  // namespace grm::cli
