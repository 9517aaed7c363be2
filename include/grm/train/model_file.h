#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grm/methods/method.h"
#include "grm/train/config.h"

namespace grm {

/// What a model file says of itself besides the weights: all that is needed to use the model where
/// its training data is not. Format 4 is that of models
/// whose targets are not classes; others are written in format 3. Format 1 had no level, loss, names and preprocessing; its data sets
/// were built-in ones, which tell the level.
struct ModelAbout {
  int64_t format = 0;
  std::string version;  // of the program that wrote it
  std::string config;   // of the run, TOML
  int64_t seed = 0;
  int64_t epoch = 0;
  double temperature = 1.0;             // that the logits are divided by, see calibration.h
  std::string dataset, method, preset;  // as the configuration names them
  bool symmetrise = false;              // of the dataset's options, those that concern new graphs
  Centring centre = Centring::none;
  Level level = Level::node;
  int64_t classes = 0;
  int64_t features = 0;
  int64_t edge_features = 0;
  LossKind loss = LossKind::softmax;
  TargetScale target_scale;  // of regression
  MetricKind metric = MetricKind::accuracy;
  std::vector<std::string> label_names;    // by class; empty: 0, 1, 2, ...
  std::vector<std::string> feature_names;  // by column; empty: unnamed
  std::string preprocessing;               // JSON, see Task
  std::map<std::string, std::string> data_hashes;
};

struct ModelFile {
  std::string path;  // of the file, also where a run folder was given
  ModelAbout about;
  std::map<std::string, torch::Tensor> weights;
};

/// Writes the method's current parameters as model.safetensors, with a ModelAbout as metadata.
void write_model(const std::string& path, Method& method, const RunConfig& config, const Task& task,
                 int64_t seed, int64_t epoch, double temperature = 1.0);

/// Reads a model from a run folder or a model file. Error(data) for anything else; a newer format
/// says which version it needs.
ModelFile read_model(const std::string& path);

/// The method with its weights, to predict with: built from the shape of the problem alone, so it
/// cannot be trained further. Its logits are those of the run that made it, bit for bit.
std::unique_ptr<Method> restore_method(const ModelFile& file);

}  // namespace grm
