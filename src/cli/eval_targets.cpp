#include "cli/eval_targets.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <cmath>

#include "core/json.h"
#include "core/table.h"
#include "grm/core/error.h"
#include "train/labelled.h"
#include "train/trainer.h"

namespace grm::cli {
namespace {

using nlohmann::ordered_json;

std::vector<GroupLogits> scored_groups(Model& model, const EvalFlags& flags, const Common& common) {
  if (flags.data.empty()) {
    LoadedModel whole = load_model(flags.run, common.data_context());
    return group_logits(*whole.method, whole.task, Role::test);
  }
  std::vector<GroupLogits> groups =
      labelled_logits(model, flags.data, common.data_context()).groups();
  for (GroupLogits& group : groups) {
    group.logits = model.about().target_scale.restored(group.logits);
  }
  return groups;
}

}  // namespace

int eval_targets(Model& model, const EvalFlags& flags, const Common& common) {
  const ModelAbout& about = model.about();
  const Target target = target_of(about.loss);
  if (flags.wants_threshold()) {
    fail(ErrorKind::config, "a threshold is for a class, the model predicts {} targets",
         to_string(target));
  }
  std::vector<GroupLogits> groups = scored_groups(model, flags, common);
  if (groups.empty()) {
    fail(ErrorKind::data, "{}: no item has a target; scores need them, 'grm predict' does without",
         flags.data.empty() ? flags.run : flags.data);
  }
  if (groups.size() > 1) groups.push_back(joined_groups(groups));
  const std::vector<MetricKind> metrics = metrics_of(target);
  ordered_json out = {{"run", flags.run},
                      {"data", flags.data.empty() ? "test domains of the run" : flags.data},
                      {"target", to_string(target)},
                      {"metric", to_string(about.metric)},
                      {"domains", ordered_json::array()}};
  Table table;
  table.head = {"domain", "items"};
  for (const MetricKind metric : metrics) table.head.push_back(to_string(metric));
  for (const GroupLogits& group : groups) {
    ordered_json entry = {{"domain", group.name}, {"items", group.y.size(0)}};
    table.rows.push_back({group.name, std::to_string(group.y.size(0))});
    for (const MetricKind metric : metrics) {
      const double value = score_or_nan(metric, group);
      entry[to_string(metric)] = std::isnan(value) ? ordered_json() : ordered_json(value);
      table.rows.back().push_back(std::isnan(value) ? "" : fmt::format("{:.4g}", value));
    }
    out["domains"].push_back(std::move(entry));
  }
  if (common.json) {
    print_json(out);
  } else {
    print_table(table);
  }
  return 0;
}

}  // namespace grm::cli
