#pragma once

#include <string>
#include <vector>

#include "grm/train/predict.h"
#include "study/drift.h"

// What a watched model says of items, as quantities that are compared.
namespace grm::study {

constexpr int64_t kMostAnswers = 20;  // classes, tasks or targets whose numbers are compared

struct Answers {
  std::vector<Sample> columns;  // of answer_names()
  double confidence = 0.0;      // mean, percent; 0 for numbers
  torch::Tensor each;           // classes [k], yes or no [k, tasks], or numbers [k, targets]
};

/// "confidence", then "p_fraud" of classes and tasks; of a regression "predicted amount".
std::vector<std::string> answer_names(const Model& model);
Answers answers_of(const Model& model, const Prediction& prediction);

/// How alike the answers of several runs are, percent: the share that is equal, mean over pairs of
/// runs; of numbers 100 times their correlation, mean over targets. 100 with one run.
double agreement(Target target, const std::vector<torch::Tensor>& each);

}  // namespace grm::study
