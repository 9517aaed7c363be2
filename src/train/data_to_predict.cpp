// What --data names for a trained model: own data, a built-in dataset, or graphs of a known dataset
// that were no part of it, in their publisher's format.
#include <torch/types.h>

#include <filesystem>

#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "grm/train/predict.h"
#include "train/memory_input.h"

namespace grm {
namespace {

namespace fs = std::filesystem;

// "data/" is "data": the last part names a domain.
std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// The files of a path that a dataset's own reader will open, as far as sizes matter.
std::vector<std::string> files_below(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
    std::error_code unreadable;
    if (entry.is_regular_file(unreadable)) files.push_back(entry.path().string());
  }
  return files;
}

// The name of a built-in dataset whose publisher's format the path has, or "".
std::string publisher_of(const std::string& path) {
  for (const DatasetEntry& entry : datasets()) {
    if (entry.make()->is_unseen_form(path)) return entry.name;
  }
  return "";
}

bool is_built_in(const std::string& name) {
  for (const DatasetEntry& entry : datasets()) {
    if (entry.name == name) return true;
  }
  return false;
}

// Labels count where they are there and the model has their class.
void keep_known_labels(Domain& domain, int64_t classes) {
  Labels& labels = domain.labels;
  labels.y = labels.y.masked_fill(labels.y.ge(classes), -1);
  for (torch::Tensor* which : {&labels.loss, &labels.evaluate}) {
    *which = which->masked_select(labels.y.index_select(0, *which).ge(0));
  }
}

std::vector<Domain> load_unseen(const Model& model, const DatasetChoice& known,
                                const std::string& path) {
  const ModelAbout& about = model.about();
  const Dataset& dataset = known.dataset();
  check_memory_to_read(path, files_below(path));
  std::vector<Domain> domains = dataset.load_unseen(path, about.feature_names);
  for (Domain& domain : domains) keep_known_labels(domain, about.classes);
  return domains;
}

std::vector<Asked> all_items(const Model& model, std::vector<Domain> domains) {
  std::vector<Asked> asked;
  for (Domain& domain : domains) {
    domain.graph = model.prepared(domain.graph);
    const torch::Tensor all = torch::arange(domain.graph.items(), torch::kInt64);
    asked.push_back({std::move(domain), all});
  }
  return asked;
}

std::vector<Domain> load_own_for(const Model& model, const std::string& data) {
  const ModelAbout& about = model.about();
  check_memory_to_read(data, own_input_files(data));
  try {
    return load_for_prediction(data, about.preprocessing, about.level, about.features,
                               about.edge_features);
  } catch (const Error& error) {
    const std::string publisher = publisher_of(without_slash(data));
    if (publisher.empty() || publisher == about.dataset) throw;
    fail(ErrorKind::data,
         "{}: has the form in which {} is published, but the model was trained on {}; give a model "
         "that was trained on {}, or own data with the columns of this one",
         data, publisher, about.dataset, publisher);
  }
}

}  // namespace

std::vector<Asked> data_to_predict(const Model& model, const std::string& data,
                                   const DataContext& context) {
  const ModelAbout& about = model.about();
  std::error_code ignored;
  if (is_built_in(about.dataset) && !is_built_in(data) && fs::exists(data, ignored)) {
    const DatasetChoice known = config_from_toml(about.config, model.path()).dataset;
    if (known.dataset().is_unseen_form(without_slash(data))) {
      return all_items(model, load_unseen(model, known, without_slash(data)));
    }
  }
  if (is_own_data(data) || !publisher_of(data).empty()) {
    return all_items(model, load_own_for(model, data));
  }
  std::vector<Asked> asked;
  const Level level = find_dataset(data).level;
  if (level != about.level) {
    fail(ErrorKind::data, "{}: a dataset of {} level, but the model is for {} level", data,
         to_string(level), to_string(about.level));
  }
  Task task;
  if (data == about.dataset) {
    task = load_within_memory(config_from_toml(about.config, model.path()).dataset, context);
  } else {
    DatasetChoice choice(data);
    choice.options().set("dataset", "symmetrise", about.symmetrise ? "true" : "false");
    choice.options().set("dataset", "centre", to_string(about.centre));
    task = load_within_memory(choice, context);
  }
  const TrainView view = task.train_view();
  if (view.features != about.features || view.edge_features != about.edge_features) {
    fail(ErrorKind::data,
         "{}: has {} features of nodes and {} of edges, the model was trained on {} and {}", data,
         view.features, view.edge_features, about.features, about.edge_features);
  }
  for (Domain& domain : task.test) {
    const torch::Tensor items = domain.labels.evaluate;
    asked.push_back({std::move(domain), items});
  }
  return asked;
}

}  // namespace grm
