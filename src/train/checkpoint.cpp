#include "grm/train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "grm/core/error.h"
#include "grm/io/safetensors.h"

namespace grm {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, torch::Tensor>;
constexpr int kFormat = 1;

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
  json history = json::array();
  for (const Evaluation& e : state.history) {
    history.push_back({{"epoch", e.epoch}, {"validation", e.validation}, {"test", e.test}});
  }
  const json text = {{"format", kFormat},
                     {"epoch", state.epoch},
                     {"metrics_bytes", state.metrics_bytes},
                     {"history", history},
                     {"best_epoch", state.best_epoch},
                     {"train_seconds", state.train_seconds},
                     {"evaluate_seconds", state.evaluate_seconds},
                     {"stopped_early", state.stopped_early}};
  file.metadata["state"] = text.dump();
  io::write_safetensors(path, file);
}

TrainingState read_checkpoint(const std::string& path, Method& method) {
  const io::TensorFile file = io::read_safetensors(path);
  TrainingState state;
  try {
    const json text = json::parse(file.metadata.at("state"));
    if (text.at("format") != kFormat) {
      fail(ErrorKind::data, "{}: checkpoint format {} is not the format {} of this program", path,
           text.at("format").dump(), kFormat);
    }
    state.epoch = text.at("epoch");
    state.metrics_bytes = text.at("metrics_bytes");
    state.best_epoch = text.at("best_epoch");
    state.train_seconds = text.at("train_seconds");
    state.evaluate_seconds = text.at("evaluate_seconds");
    state.stopped_early = text.at("stopped_early");
    for (const json& e : text.at("history")) {
      state.history.push_back({e.at("epoch"), e.at("validation"), e.at("test")});
    }
  } catch (const std::out_of_range&) {
    fail(ErrorKind::data, "{}: not a checkpoint: its metadata has no state", path);
  } catch (const json::exception& error) {
    fail(ErrorKind::data, "{}: damaged state: {}", path, error.what());
  }
  method.parameters().restore(take(file.tensors, "model/"));
  const std::vector<nn::Adam*> optimisers = method.optimisers();
  for (size_t k = 0; k < optimisers.size(); ++k) {
    optimisers[k]->restore(take(file.tensors, "optimiser" + std::to_string(k) + "/"));
  }
  method.restore_training_state(take(file.tensors, "training/"));
  state.best = take(file.tensors, "best/");
  return state;
}

}  // namespace grm
