#include "train/checkpoint.h"

#include <c10/util/Exception.h>

#include <cmath>

#include "core/json.h"
#include "core/json_number.h"
#include "grm/core/error.h"
#include "io/safetensors.h"

namespace grm {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, torch::Tensor>;
constexpr int64_t kFormat = 1;

void put(Tensors& all, const std::string& prefix, const Tensors& part) {
  for (const auto& [name, tensor] : part) all[prefix + name] = tensor;
}

Tensors take(const Tensors& all, const std::string& prefix) {
  Tensors part;
  for (auto it = all.lower_bound(prefix); it != all.end(); ++it) {
    if (it->first.compare(0, prefix.size(), prefix) != 0) break;
    part[it->first.substr(prefix.size())] = it->second;
  }
  return part;
}

// What the trainer relies on. Files of our own always hold it; a damaged one must not get further.
void check_state(const TrainingState& state, const std::string& path) {
  bool good = state.epoch >= 0 && state.metrics_bytes >= 0 && state.best_epoch >= 0 &&
              state.best_epoch <= state.epoch && state.history.empty() == (state.best_epoch == 0);
  int64_t last = 0;
  for (const Evaluation& e : state.history) {
    good = good && e.epoch > last && e.epoch <= state.epoch &&
           e.test.size() == state.history.front().test.size();
    last = e.epoch;
  }
  good = good && (!state.stopped_early || !state.history.empty());
  good = good && state.averaged >= 0 && state.average.empty() == (state.averaged == 0);
  if (!good) fail(ErrorKind::data, "{}: damaged: its epochs and evaluations do not fit", path);
}

// The method's own tensors are its own to judge, also by what torch thinks of their shapes.
void restore(Method& method, const Tensors& all) {
  // The chosen model is used at the end only, averaged weights in evaluations; that they can be is
  // known now.
  if (const Tensors best = take(all, "best/"); !best.empty()) method.parameters().restore(best);
  if (const Tensors mean = take(all, "average/"); !mean.empty()) method.parameters().restore(mean);
  method.parameters().restore(take(all, "model/"));
  const std::vector<nn::Adam*> optimisers = method.optimisers();
  for (size_t k = 0; k < optimisers.size(); ++k) {
    optimisers[k]->restore(take(all, "optimiser" + std::to_string(k) + "/"));
  }
  method.restore_training_state(take(all, "training/"));
}

}  // namespace

void write_checkpoint(const std::string& path, Method& method, const TrainingState& state) {
  io::TensorFile file;
  put(file.tensors, "model/", method.parameters().snapshot());
  const std::vector<nn::Adam*> optimisers = method.optimisers();
  for (size_t k = 0; k < optimisers.size(); ++k) {
    put(file.tensors, "optimiser" + std::to_string(k) + "/", optimisers[k]->state());
  }
  put(file.tensors, "training/", method.training_state());
  put(file.tensors, "best/", state.best);
  put(file.tensors, "average/", state.average);
  json history = json::array();
  for (const Evaluation& e : state.history) {
    history.push_back({{"epoch", e.epoch}, {"validation", e.validation}, {"test", e.test}});
    if (!std::isnan(e.validation_loss)) history.back()["validation_loss"] = e.validation_loss;
  }
  json text = {{"format", kFormat},
               {"epoch", state.epoch},
               {"metrics_bytes", state.metrics_bytes},
               {"history", history},
               {"best_epoch", state.best_epoch},
               {"train_seconds", state.train_seconds},
               {"evaluate_seconds", state.evaluate_seconds},
               {"stopped_early", state.stopped_early}};
  if (state.averaged > 0) text["averaged"] = state.averaged;
  file.metadata["state"] = json_text(text);
  io::write_safetensors(path, file);
}

TrainingState read_checkpoint(const std::string& path, Method& method) {
  const io::TensorFile file = io::read_safetensors(path);
  TrainingState state;
  const auto about = file.metadata.find("state");
  if (about == file.metadata.end()) {
    fail(ErrorKind::data, "{}: not a checkpoint: its metadata has no state", path);
  }
  try {
    const json text = parse_json<json>(about->second, path);
    const int64_t format = whole_number(text, "format", path);
    if (format != kFormat) {
      fail(ErrorKind::data, "{}: checkpoint format {} is not the format {} of this program", path,
           format, kFormat);
    }
    state.epoch = whole_number(text, "epoch", path);
    state.metrics_bytes = whole_number(text, "metrics_bytes", path);
    state.best_epoch = whole_number(text, "best_epoch", path);
    state.train_seconds = text.at("train_seconds");
    state.evaluate_seconds = text.at("evaluate_seconds");
    state.stopped_early = text.at("stopped_early");
    for (const json& e : text.at("history")) {
      state.history.push_back({whole_number(e, "epoch", path), e.at("validation"), e.at("test"),
                               e.value("validation_loss", kNoLoss)});
    }
    if (text.contains("averaged")) state.averaged = whole_number(text, "averaged", path);
  } catch (const json::exception& error) {
    fail(ErrorKind::data, "{}: damaged state: {}", path, error.what());
  }
  state.best = take(file.tensors, "best/");
  state.average = take(file.tensors, "average/");
  check_state(state, path);
  try {
    restore(method, file.tensors);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path, error.what());
  } catch (const c10::Error& error) {
    fail(ErrorKind::data, "{}: does not fit this method: {}", path, error.what_without_backtrace());
  }
  return state;
}

}  // namespace grm
