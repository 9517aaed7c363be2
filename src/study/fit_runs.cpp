#include "study/fit_runs.h"

#include <algorithm>

#include "core/files.h"
#include "core/json.h"
#include "train/memory_input.h"

namespace grm::study {
namespace {

int64_t last_epoch(const std::string& path) {
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

const Task& SearchRuns::load(const RunConfig& config, bool with_test) {
  std::string key = with_test ? "test" : "";
  for (const Option& o : config.dataset.options().options()) key += o.key + "=" + o.get() + ";";
  const auto found = tasks_.find(key);
  if (found != tasks_.end()) return found->second;
  Task loaded = load_within_memory(config.dataset, request_.context);
  if (!with_test) loaded.test.clear();
  return tasks_.emplace(key, std::move(loaded)).first->second;
}

RunFolder SearchRuns::folder_of(const RunConfig& config, int64_t seed) {
  const Hashes& hashes = task(config).hashes;
  return find_run_folder(request_.out + "/search", config, seed, &hashes);
}

void SearchRuns::train_to(const RunConfig& config, int64_t seed, int64_t epochs) {
  RunFolder folder = folder_of(config, seed);
  if (folder.path().empty()) folder = create_run_folder(request_.out + "/search", config, seed);
  if (folder.finished()) return;
  const auto reached = [&] {
    const std::string path = folder.file("metrics.jsonl");
    return folder.has("metrics.jsonl") && folder.has("state.safetensors") &&
           found_by(read_file(path), epochs, path).any && last_epoch(path) >= epochs;
  };
  if (epochs < config.train.epochs && reached()) return;
  bool at_the_end = false, up = false, stop = false;
  RunHooks hooks;
  hooks.on_epoch = [&](const EpochReport& report) {
    at_the_end = report.epoch >= epochs && epochs < report.epochs;
    if (hooks_.on_epoch) hooks_.on_epoch(report);
  };
  hooks.interrupted = [&] {
    stop = hooks_.interrupted && hooks_.interrupted();
    up = !at_the_end && hooks_.time_is_up && hooks_.time_is_up();
    return stop || up || at_the_end;
  };
  try {
    train_run(config, task(config), seed, folder, hooks);
  } catch (const Interrupted&) {
    if (stop) throw;
    if (up) throw TimeIsUp();
  }
}

FoundBy found_by(const std::string& metrics, int64_t epoch, const std::string& origin,
                 bool errors) {
  const double sign = errors ? -1.0 : 1.0;
  std::vector<double> validation, losses;
  for (size_t begin = 0, end; (end = metrics.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string line = metrics.substr(begin, end - begin);
    if (line.find("\"validation\"") == std::string::npos) continue;
    const auto entry = parse_json<nlohmann::json>(line, origin);
    if (entry.at("epoch").get<int64_t>() > epoch) break;
    validation.push_back(sign * entry.at("validation").get<double>());
    const auto loss = entry.find("validation_loss");
    losses.push_back(loss != entry.end() && loss->is_number() ? loss->get<double>() : kNoLoss);
  }
  if (validation.empty()) return {};
  const size_t best = choose_by_validation(validation, losses);
  return {true, sign * validation[best], losses[best]};
}

}  // namespace grm::study
