#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/evaluate.h"

// Whether probabilities mean what they say. A model's logits are divided by one temperature that is
// fitted on validation data after the model was chosen: the order of classes and of items of two
// classes stays, so no score changes.
namespace grm {

constexpr int64_t kReliabilityBins = 15;
constexpr double kLeastTemperature = 0.05, kMostTemperature = 20.0;

/// The items whose confidence (the probability of the predicted class) lies in one stretch of 0..1.
struct ReliabilityBin {
  int64_t count = 0;
  double confidence = 0.0;  // mean, percent; 0 for no items
  double accuracy = 0.0;
};

/// Confidence beside accuracy. The expected calibration error is the mean over the items of the
/// distance between the two in the item's bin: (k / 15, (k + 1) / 15] for k = 0 .. 14.
struct Reliability {
  int64_t items = 0;
  double ece = 0.0, confidence = 0.0, accuracy = 0.0;  // percent
  double nll = 0.0;                                    // mean of -log p(true class), nats
  std::vector<ReliabilityBin> bins;
};

/// softmax(logits / temperature) by rows, as float; for temperature 1 the bits of softmax(logits).
torch::Tensor tempered_probabilities(const torch::Tensor& logits, double temperature);

Reliability reliability(const torch::Tensor& logits, const torch::Tensor& y, double temperature);
/// Of all groups together.
Reliability reliability(const std::vector<GroupLogits>& groups, double temperature);

/// The temperature in [0.05, 20] with the least cross-entropy on these items, where each label
/// counts n / (n + 1) and the remaining 1 / (n + 1) is spread evenly over the classes: n items that
/// are all right do not prove certainty. 1 for no items. The same numbers give the same bits.
double fit_temperature(const std::vector<GroupLogits>& groups);

/// The same items with temperature 1 and with the fitted one.
struct BeforeAfter {
  Reliability before, after;
};
BeforeAfter before_after(const std::vector<GroupLogits>& groups, double temperature);

/// What a run knows of its probabilities, as kept in summary.json.
struct Calibration {
  struct OfDomain {
    std::string domain;
    double before = 0.0, after = 0.0;  // ECE, percent
  };
  double temperature = 1.0;
  BeforeAfter validation;         // all validation items together
  BeforeAfter test;               // all test items together; none where test is never scored
  std::vector<OfDomain> domains;  // of test
};
Calibration calibration_of(double temperature, const std::vector<GroupLogits>& validation,
                           const std::vector<GroupLogits>& test);

}  // namespace grm
