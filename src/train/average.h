#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "grm/train/config.h"
#include "train/checkpoint.h"

// Averaged weights: after every epoch but the first `average_start` the weights w enter
//   ema   a <- d a + (1 - d) w, from a = w                              d = average_decay
//   swa   a = the mean of all of them
// What is evaluated, chosen and saved is a; training goes on from w. Running statistics of batch
// normalisation are averaged like weights: no pass over the training data is needed, and a method
// need not know.
namespace grm {

/// Takes the weights of an epoch into the average of a run.
void average_weights(const TrainOptions& options, int64_t epoch, const nn::ParameterSet& weights,
                     TrainingState& state);

/// The average in the place of a method's weights, as long as this lives. Nothing without an
/// average.
class AveragedWeights {
 public:
  AveragedWeights(Method& method, const TrainingState& state);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  Method& method_;
  std::map<std::string, torch::Tensor> weights_;  // of training
};

}  // namespace grm
