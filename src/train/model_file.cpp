#include "grm/train/model_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "grm/core/error.h"
#include "grm/io/safetensors.h"
#include "grm/train/trainer.h"
#include "grm/version.h"

namespace grm {
namespace {
constexpr int kFormat = 1;
}

void write_model(const std::string& path, Method& method, const RunConfig& config, const Task& task,
                 int64_t seed, int64_t epoch) {
  io::TensorFile file;
  file.tensors = method.parameters().snapshot();
  const nlohmann::json about = {{"format", kFormat},
                                {"grm", GRM_VERSION},
                                {"config", config.to_toml(seed)},
                                {"seed", seed},
                                {"epoch", epoch},
                                {"classes", task.classes},
                                {"features", task.features()},
                                {"metric", to_string(task.metric)},
                                {"data_hashes", task.hashes}};
  file.metadata["grm"] = about.dump();
  io::write_safetensors(path, file);
}

LoadedModel load_model(const std::string& path, const DataContext& context) {
  std::string model_path = path;
  if (std::filesystem::is_directory(path)) {
    model_path = path + "/model.safetensors";
    if (!std::filesystem::exists(model_path)) {
      fail(ErrorKind::data,
           "{} holds no model.safetensors: the run is unfinished ('grm train --resume' with its "
           "options goes on) or this is not a run folder",
           path);
    }
  }
  const io::TensorFile file = io::read_safetensors(model_path);
  const auto entry = file.metadata.find("grm");
  if (entry == file.metadata.end()) {
    fail(ErrorKind::data, "{}: a safetensors file, but not a model of this program", model_path);
  }
  LoadedModel model;
  int64_t classes = 0, features = 0;
  std::string config;
  try {
    const nlohmann::json about = nlohmann::json::parse(entry->second);
    if (about.at("format") != kFormat) {
      fail(ErrorKind::data, "{}: model format {} needs another version of this program (it has {})",
           model_path, about.at("format").dump(), kFormat);
    }
    config = about.at("config");
    model.seed = about.at("seed");
    model.epoch = about.at("epoch");
    classes = about.at("classes");
    features = about.at("features");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: damaged description: {}", model_path, error.what());
  }
  model.config = config_from_toml(config, model_path);
  model.task = model.config->dataset.load(context);
  if (model.task.classes != classes || model.task.features() != features) {
    fail(ErrorKind::data,
         "{}: the model was trained on {} features and {} classes, the data has {} and {}",
         model_path, features, classes, model.task.features(), model.task.classes);
  }
  model.method =
      model.config->method.build(model.task.train_view(), Rng(static_cast<uint64_t>(model.seed)));
  model.method->parameters().restore(file.tensors);
  return model;
}

}  // namespace grm
