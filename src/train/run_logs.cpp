#include "train/run_logs.h"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "core/json.h"
#include "core/text.h"
#include "io/tfevents.h"

namespace grm {
namespace {

using nlohmann::ordered_json;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string cell(const ordered_json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number() ? ""
                                                      : fmt::format("{}", found->get<double>());
}

}  // namespace

RunLogs::RunLogs(RunLog which, const Task& task, const std::string& folder,
                 const std::string& metrics) {
  if (which == RunLog::none) return;
  for (const Domain& domain : task.test) {
    if (std::count(tests_.begin(), tests_.end(), domain.group) == 0) tests_.push_back(domain.group);
  }
  const auto begin = [&](const char* name) {
    return std::make_unique<MetricsLog>(folder + "/" + name, 0);
  };
  if (which != RunLog::tensorboard) csv_ = begin(kCsvLog);
  if (which != RunLog::csv) {
    events_ = begin(kEventLog);
    events_->add_bytes(io::tfevents_version(now()));
  }
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) add(line);
}

void RunLogs::add(const std::string& text) {
  if (!csv_ && !events_) return;
  const ordered_json line = parse_json<ordered_json>(text, "metrics.jsonl");
  const ordered_json loss = line.value("loss", ordered_json::object());
  const ordered_json test = line.value("test_for_analysis", ordered_json::object());
  if (csv_) {
    std::string row;
    if (terms_.empty()) {
      row = "epoch,seconds";
      for (const auto& [name, value] : loss.items()) {
        terms_.push_back(name);
        row += "," + csv_cell("loss_" + name);
      }
      row += ",validation,validation_loss";
      for (const std::string& name : tests_) row += "," + csv_cell("test_" + name);
      csv_->add(row);
    }
    row = cell(line, "epoch") + "," + cell(line, "seconds");
    for (const std::string& name : terms_) row += "," + cell(loss, name);
    row += "," + cell(line, "validation") + "," + cell(line, "validation_loss");
    for (const std::string& name : tests_) row += "," + cell(test, name);
    csv_->add(row);
  }
  if (!events_) return;
  std::vector<std::pair<std::string, double>> scalars;
  const auto take = [&](const ordered_json& from, const std::string& prefix) {
    for (const auto& [name, value] : from.items()) {
      if (value.is_number()) scalars.emplace_back(prefix + name, value.get<double>());
    }
  };
  take(loss, "loss/");
  take(test, "test/");
  for (const char* name : {"validation", "validation_loss", "seconds"}) {
    if (line.contains(name)) scalars.emplace_back(name, line[name].get<double>());
  }
  events_->add_bytes(io::tfevents_scalars(now(), line.value("epoch", int64_t{0}), scalars));
}

}  // namespace grm
