#include <fmt/format.h>
#include <unistd.h>

#include "cli/study.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "core/lists.h"
#include "core/text.h"
#include "study/follow.h"
#include "study/tune.h"

namespace grm::cli {
namespace {

std::string states_text(const std::map<std::string, int64_t>& states) {
  std::string text;
  for (const char* state : {"done", "running", "todo", "failed", "no_data"}) {
    const auto found = states.find(state);
    if (found == states.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second,
                        found->first == "no_data" ? "without data" : found->first);
  }
  return text.empty() ? "no cells" : text;
}

ordered_json to_json(const study::CellRow& cell) {
  ordered_json out = {{"phase", cell.phase},     {"dataset", cell.dataset},
                      {"method", cell.method},   {"variant", cell.variant},
                      {"trial", cell.trial},     {"seed", cell.seed},
                      {"state", cell.state},     {"attempts", cell.attempts},
                      {"message", cell.message}, {"folder", cell.folder}};
  if (cell.state != "done") return out;
  const RunRecord record = cell.run_record();
  out["metric"] = cell.metric;
  out["seconds"] = cell.seconds;
  out["peak_memory_mib"] = cell.peak_mib;
  for (const auto& [rule, chosen] : record.chosen) {
    ordered_json test = ordered_json::array();
    for (const DomainScore& score : chosen.test) {
      test.push_back({{"domain", score.domain}, {"value", score.value}});
    }
    out["chosen"][rule] = {
        {"epoch", chosen.epoch}, {"validation", chosen.validation}, {"test", test}};
  }
  return out;
}

ordered_json to_json(const study::Winner& winner) {
  ordered_json values = ordered_json::object();
  for (const study::Setting& setting : winner.values) values[setting.key] = setting.value;
  return {
      {"dataset", winner.dataset}, {"method", winner.method},         {"variant", winner.variant},
      {"trial", winner.trial},     {"validation", winner.validation}, {"trials", winner.trials},
      {"values", values}};
}

ordered_json to_json(const study::WorkerRow& worker) {
  return {{"name", worker.name},       {"host", worker.host},
          {"process", worker.process}, {"job", worker.job},
          {"study", worker.study},     {"slots", worker.slots},
          {"running", worker.running}, {"done", worker.done},
          {"seconds", worker.seconds}, {"silent_seconds", worker.silent},
          {"alive", worker.alive}};
}

ordered_json number_or_null(double value) {
  return value < 0 ? ordered_json(nullptr) : ordered_json(value);
}

void print_pace(const study::Pace& pace, const std::map<std::string, int64_t>& states) {
  if (pace.workers.empty()) return;
  Table table;
  table.head = {"worker", "process", "running", "done", "last word"};
  for (const study::WorkerRow& worker : pace.workers) {
    const std::string last = worker.host.empty() ? (worker.alive ? "alive" : "dead")
                                                 : duration_text(worker.silent) + " ago" +
                                                       (worker.alive ? "" : ", lost");
    table.rows.push_back({(worker.host.empty() ? "this machine" : worker.host) +
                              (worker.job.empty() ? "" : ", job " + worker.job),
                          std::to_string(worker.process), std::to_string(worker.running),
                          worker.host.empty() ? "" : std::to_string(worker.done), last});
  }
  print_table(table);
  if (!states.count("todo") && !states.count("running")) return;
  std::string text;
  if (pace.per_hour >= 0) text = fmt::format("{:.3g} cells an hour of late", pace.per_hour);
  if (pace.left >= 0) {
    text += fmt::format("{}about {} left", text.empty() ? "" : ", ", duration_text(pace.left));
  }
  if (!text.empty()) fmt::print("{}\n", text);
}

ordered_json study_json(const study::Store& store, const study::StudyRow& row) {
  ordered_json out = {{"study", row.name},      {"about", row.about},
                      {"created", row.created}, {"states", row.states},
                      {"tuned", row.tuned},     {"workers", ordered_json::array()}};
  const study::Pace pace = pace_of(store, row.name);
  for (const study::WorkerRow& worker : pace.workers) out["workers"].push_back(to_json(worker));
  out["cells_per_hour"] = number_or_null(pace.per_hour);
  out["seconds_left"] = number_or_null(pace.left);
  out["cells"] = ordered_json::array();
  for (const study::CellRow& cell : store.cells(row.name)) out["cells"].push_back(to_json(cell));
  if (row.tuned) {
    out["winners"] = ordered_json::array();
    for (const study::Winner& w : study::winners(store, row.name)) {
      out["winners"].push_back(to_json(w));
    }
  }
  return out;
}

void print_winners(const study::Store& store, const std::string& name) {
  Table table;
  table.head = {"winner", "trial", "validation", "values"};
  for (const study::Winner& w : study::winners(store, name)) {
    const std::string values = joined(w.values, ", ", [](const study::Setting& setting) {
      return setting.key + " = " + setting.value;
    });
    table.rows.push_back(
        {fmt::format("{} {}{}{}", w.dataset, w.method, w.variant.empty() ? "" : " ", w.variant),
         fmt::format("{} of {}", w.trial, w.trials), fmt::format("{:.1f}", w.validation),
         values.empty() ? "as it stands" : values});
  }
  if (!table.rows.empty()) print_table(table);
}

void print_study(const study::Store& store, const study::StudyRow& row) {
  print_wrapped(terminal_text(row.name) + ": ", states_text(row.states));
  if (!row.about.empty()) print_wrapped("", row.about);
  for (const char* phase : {"run", "trial", "final"}) {
    // One line for each dataset and state, in the order of the study.
    std::vector<std::string> order;
    std::map<std::string, std::map<std::string, int64_t>> datasets;
    for (const study::CellRow& cell : store.cells(row.name, phase)) {
      if (!datasets.count(cell.dataset)) order.push_back(cell.dataset);
      ++datasets[cell.dataset][cell.state];
    }
    for (const std::string& dataset : order) {
      const std::string before = phase == std::string("run") ? "" : phase + std::string(" ");
      print_wrapped(fmt::format("  {}{}: ", before, dataset), states_text(datasets[dataset]));
    }
  }
  print_pace(pace_of(store, row.name), row.states);
  if (row.tuned) print_winners(store, row.name);
  std::string last;  // many cells fail for one reason
  for (const study::CellRow& cell : store.cells(row.name)) {
    if (cell.state != "failed" && cell.state != "no_data") continue;
    if (cell.message != last) {
      const std::string what = cell.state == "failed" ? "failed:" : "no data:";
      fmt::print("{} {}: {}\n", ink(STDOUT_FILENO, Ink::red, what), study::cell_title(cell),
                 terminal_text(cell.message));
    }
    last = cell.message;
  }
}

}  // namespace

int study_status(const std::string& database, const std::string& name, const Common& common) {
  const study::Store store(database, study::Open::read);
  if (!name.empty()) {
    const study::StudyRow row = store.study(name);
    if (common.json)
      print_json(study_json(store, row));
    else
      print_study(store, row);
    return 0;
  }
  ordered_json all = ordered_json::array();
  for (const study::StudyRow& row : store.studies()) {
    if (common.json)
      all.push_back(study_json(store, row));
    else
      print_study(store, row);
  }
  if (common.json) print_json({{"studies", all}});
  return 0;
}

}  // namespace grm::cli
