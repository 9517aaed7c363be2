#include "grm/train/model_file.h"

#include <filesystem>
#include <functional>
#include <set>

#include "core/json.h"
#include "core/json_number.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/data/own_data.h"
#include "grm/version.h"
#include "io/safetensors.h"
#include "nn/parameter_budget.h"
#include "train/memory_input.h"
#include "train/model_digest.h"
#include "train/sampling.h"
#include "train/trainer.h"
#include "train/validation_set.h"

namespace grm {
namespace {

using nlohmann::json;

// 1: weights, configuration, classes, features, metric, hashes.
// 2: all that prediction needs without the training data.
// 3: a digest of the whole, and the temperature of its probabilities.
// 4: targets that are not classes, with the scale of those of a regression.
constexpr int64_t kModelFormat = 4, kClassFormat = 3;
constexpr int64_t kMostColumns = int64_t{1} << 31;
const std::string kTrue = "true";                         // as TOML writes it
const std::set<std::string> kNames = {"name", "preset"};  // keys of a method that are no options
// What building a model may allocate: a few times its weights, and something for small ones.
constexpr int64_t kTimesWeights = 4, kSomething = int64_t{32} << 20;

std::string file_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const std::string file = path + "/model.safetensors";
  if (!std::filesystem::exists(file, ignored)) {
    fail(ErrorKind::data,
         "{} holds no model.safetensors: the run is unfinished ('grm train --resume' with its "
         "options resumes it) or this is not a run folder",
         path);
  }
  return file;
}

template <class Kind>
Kind named(const std::string& word, const std::string& path) {
  if (const std::optional<Kind> kind = grm::value_of<Kind>(word)) return *kind;
  fail(ErrorKind::data, "{}: damaged description: {} is unknown", path, word);
}

void check_version(const json& about, const std::string& path) {
  const int64_t format = whole_number(about, "format", path);
  if (format >= 1 && format <= kModelFormat) return;
  fail(ErrorKind::data,
       "{}: a model of format {}, written by grm {}; this is grm {}, which reads formats 1 to {}; "
       "use that version or a newer one",
       path, format, about.value("grm", "of an unknown version"), GRM_VERSION, kModelFormat);
}

void check_digest(const io::TensorFile& file, int64_t format, const std::string& path) {
  const auto digest = file.metadata.find(kDigestEntry);
  if (format < 3) {
    log_info(
        "{}: a model of format {}, which has no digest of its contents: changes to it would "
        "not be noticed",
        path, format);
    return;
  }
  if (digest == file.metadata.end() || digest->second != model_digest(file)) {
    fail(ErrorKind::data,
         "{}: its contents do not have the digest that was written with them: the file was changed "
         "or damaged; take a copy that is whole, or train it again",
         path);
  }
}

// What the configuration says, which all formats hold.
void read_config(ModelAbout& about, const std::string& path) {
  ConfigSections sections = config_sections(about.config, path);
  auto& dataset = sections["dataset"];
  auto& method = sections["method"];
  about.dataset = dataset["name"];
  about.method = method["name"];
  about.preset = method["preset"];
  about.symmetrise = dataset["symmetrise"] == kTrue;
  about.centre = grm::value_of<Centring>(dataset["centre"]).value_or(Centring::none);
  if (about.dataset.empty() || about.method.empty()) {
    fail(ErrorKind::data, "{}: damaged description: its configuration names no dataset or method",
         path);
  }
}

void check_shape(const ModelAbout& about, const std::string& path) {
  const auto within = [](int64_t value, int64_t low) {
    return value >= low && value < kMostColumns;
  };
  const auto fits = [](const std::vector<std::string>& names, int64_t count) {
    return names.empty() || static_cast<int64_t>(names.size()) == count;
  };
  const size_t scaled = about.target_scale.mean.size();
  const bool regression = about.loss == LossKind::squared;
  if (scaled != about.target_scale.deviation.size() ||
      scaled != (regression ? static_cast<size_t>(about.classes) : 0)) {
    fail(ErrorKind::data, "{}: damaged description: the scale of its targets does not fit", path);
  }
  const double t = about.temperature;
  if (!(t >= kLeastTemperature && t <= kMostTemperature)) {
    fail(ErrorKind::data, "{}: damaged description: its temperature is {}, expected {} to {}", path,
         t, kLeastTemperature, kMostTemperature);
  }
  if (!within(about.classes, 1) || !within(about.features, 1) || !within(about.edge_features, 0) ||
      !fits(about.label_names, about.classes) || !fits(about.feature_names, about.features)) {
    fail(ErrorKind::data, "{}: damaged description: level, classes and features do not fit", path);
  }
}

ModelAbout read_about(const std::string& text, const std::string& path) {
  ModelAbout about;
  try {
    const json j = parse_json<json>(text, path);
    check_version(j, path);
    about.format = whole_number(j, "format", path);
    about.version = j.at("grm");
    about.config = j.at("config");
    about.seed = whole_number(j, "seed", path);
    about.epoch = whole_number(j, "epoch", path);
    about.classes = whole_number(j, "classes", path);
    about.features = whole_number(j, "features", path);
    about.metric = named<MetricKind>(j.at("metric"), path);
    about.data_hashes = j.at("data_hashes").get<std::map<std::string, std::string>>();
    about.temperature = j.value("temperature", 1.0);
    read_config(about, path);
    if (about.format == 1) {
      about.level = find_dataset(about.dataset).level;
    } else {
      about.level = named<Level>(j.at("level"), path);
      about.edge_features = whole_number(j, "edge_features", path);
      about.loss = named<LossKind>(j.at("loss"), path);
      about.label_names = j.at("label_names").get<std::vector<std::string>>();
      about.feature_names = j.at("feature_names").get<std::vector<std::string>>();
      about.preprocessing = j.at("preprocessing");
      if (j.contains("target_mean")) {
        about.target_scale.mean = j.at("target_mean").get<std::vector<double>>();
        about.target_scale.deviation = j.at("target_deviation").get<std::vector<double>>();
      }
    }
  } catch (const json::exception& error) {
    fail(ErrorKind::data, "{}: damaged description: {}", path, error.what());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::config) throw;
    fail(ErrorKind::data, "{}: damaged description: {}", path, error.what());
  }
  check_shape(about, path);
  return about;
}

// A model of the file's weights. Nothing is allocated for options that do not belong to them.
std::unique_ptr<Method> with_weights(const ModelFile& file,
                                     const std::function<std::unique_ptr<Method>()>& build) {
  int64_t bytes = 0;
  for (const auto& entry : file.weights) bytes += static_cast<int64_t>(entry.second.nbytes());
  std::unique_ptr<Method> method;
  {
    const nn::ParameterBudget budget(kTimesWeights * bytes + kSomething);
    method = build();
  }
  method->parameters().restore(file.weights);
  return method;
}

}  // namespace

void write_model(const std::string& path, Method& method, const RunConfig& config, const Task& task,
                 int64_t seed, int64_t epoch, double temperature) {
  const TrainView view = task.train_view();
  io::TensorFile file;
  file.tensors = method.parameters().snapshot();
  const bool classes = target_of(task.loss) == Target::classes;
  json about = {{"format", classes ? kClassFormat : kModelFormat},
                {"grm", GRM_VERSION},
                {"config", config.to_toml(seed)},
                {"seed", seed},
                {"epoch", epoch},
                {"temperature", temperature},
                {"level", to_string(view.level)},
                {"classes", view.classes},
                {"features", view.features},
                {"edge_features", view.edge_features},
                {"loss", to_string(task.loss)},
                {"metric", to_string(task.metric)},
                {"label_names", task.label_names},
                {"feature_names", task.feature_names},
                {"preprocessing", task.preprocessing},
                {"data_hashes", task.hashes}};
  if (!task.target_scale.mean.empty()) {
    about["target_mean"] = task.target_scale.mean;
    about["target_deviation"] = task.target_scale.deviation;
  }
  // Names of a user's labels and columns need not be UTF-8; a model is not lost over one.
  file.metadata["grm"] = json_text(about);
  file.metadata[kDigestEntry] = model_digest(file);
  io::write_safetensors(path, file);
}

ModelFile read_model(const std::string& path) {
  ModelFile model;
  model.path = file_of(path);
  io::TensorFile file = io::read_safetensors(model.path);
  const auto entry = file.metadata.find("grm");
  if (entry == file.metadata.end()) {
    fail(ErrorKind::data, "{}: a safetensors file, but not a model of this program", model.path);
  }
  model.about = read_about(entry->second, model.path);
  check_digest(file, model.about.format, model.path);
  model.weights = std::move(file.tensors);
  return model;
}

std::unique_ptr<Method> restore_method(const ModelFile& file) {
  const ModelAbout& about = file.about;
  TrainView view;
  view.classes = about.classes;
  view.features = about.features;
  view.loss = about.loss;
  view.level = about.level;
  view.edge_features = about.edge_features;
  try {
    const std::unique_ptr<MethodRecipe> recipe = find_method(about.method, about.level).make();
    OptionList options;
    recipe->declare(options);
    const ConfigSections sections = config_sections(about.config, file.path);
    for (const auto& [key, value] : sections.at("method")) {
      if (kNames.count(key) == 0) options.set("method", key, value);
    }
    return with_weights(
        file, [&] { return recipe->build(view, Rng(static_cast<uint64_t>(about.seed))); });
  } catch (const Error& error) {
    const bool old = about.format == 1 && about.level == Level::graph;
    fail(ErrorKind::data, "{}: {}{}", file.path, error.what(),
         old ? " (format 1 does not say how many features edges have; train the model again, or "
               "score it with 'grm eval', which reads its data)"
             : "");
  }
}

LoadedModel load_model(const std::string& path, const DataContext& context) {
  const ModelFile file = read_model(path);
  LoadedModel model;
  model.seed = file.about.seed;
  model.epoch = file.about.epoch;
  model.temperature = file.about.temperature;
  model.config = config_from_toml(file.about.config, file.path);
  // A model may come from anybody, and what it names is read.
  if (is_own_data(model.config->dataset_name())) {
    log_info("{} names its data itself: {} is read", file.path, model.config->dataset_name());
  }
  model.task = with_validation(load_within_memory(model.config->dataset, context),
                               model.config->train.validate_on);
  if (model.task.level != file.about.level) {
    fail(ErrorKind::data, "{}: the model classifies {}s, the data that it names is at {} level",
         file.path, to_string(file.about.level), to_string(model.task.level));
  }
  if (model.task.classes != file.about.classes || model.task.features() != file.about.features) {
    fail(ErrorKind::data,
         "{}: the model was trained on {} features and {} classes, the data has {} and {}",
         file.path, file.about.features, file.about.classes, model.task.features(),
         model.task.classes);
  }
  model.changes = data_changes(file.about.data_hashes, model.task.hashes);
  if (!model.changes.empty()) {
    log_warning("{}: the data is not the one that the model was trained and scored with: {}",
                file.path, changes_text(model.changes));
  }
  const Rng rng(static_cast<uint64_t>(model.seed));
  try {
    model.method = with_weights(file, [&] {
      TrainView view = model.task.train_view();
      view.sampling = sampling_of(*model.config);
      return model.config->method.build(view, rng);
    });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::shape) throw;
    fail(ErrorKind::data, "{}: {}", file.path, error.what());
  }
  return model;
}

}  // namespace grm
