#pragma once

#include <string>

#include "core/files.h"
#include "fuzz/target.h"
#include "grm/core/error.h"
#include "grm/train/config.h"
#include "grm/train/model_file.h"
#include "study/spec.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

// As io_targets.h, for what runs and studies read.
namespace grm::fuzz {

/// The smallest method that a checkpoint can be of.
class TinyMethod : public Method {
 public:
  TinyMethod() : parameters_(Rng(1)) {
    parameters_.constant("weight", {2, 3}, 0.5);
    parameters_.buffer("mean", {3}, 0.0);
    optimiser_ = std::make_unique<nn::Adam>(parameters_.parameters(), 0.01, 0.0, false);
  }
  std::vector<LossTerm> train_epoch(int64_t) override { return {{"total", 0.0}}; }
  torch::Tensor logits(const Graph&, const torch::Tensor& nodes) override {
    return torch::zeros({nodes.numel(), 3});
  }
  nn::ParameterSet& parameters() override { return parameters_; }
  std::vector<nn::Adam*> optimisers() override { return {optimiser_.get()}; }

 private:
  nn::ParameterSet parameters_;
  std::unique_ptr<nn::Adam> optimiser_;
};

inline void checkpoint(const std::string& path) {
  TinyMethod method;
  read_checkpoint(path, method);
}

inline void model(const std::string& path) {
  restore_method(read_model(path));
}

inline void record(const std::string& path) {
  to_json_text(record_from_json(read_file(path), path));
}

inline void config(const std::string& path) {
  const std::string text = config_from_toml(read_file(path), path).to_toml(1);
  ensure(config_from_toml(text, path).to_toml(1) == text, "a configuration reads back as itself");
}

inline void study(const std::string& path) {
  study::parse_spec(read_file(path), path);
}

inline constexpr Target kTargets[] = {
    {"checkpoint", checkpoint}, {"model", model}, {"record", record},
    {"config", config},         {"study", study},
};

}  // namespace grm::fuzz
