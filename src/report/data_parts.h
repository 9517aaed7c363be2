#pragma once

#include <string>
#include <vector>

#include "report/report_parts.h"

namespace grm::report {

/// Items of all domains of a task in two dimensions, evenly sampled: the features, and what models
/// make of them, by their principal components.
class Embedding {
 public:
  explicit Embedding(const Task& task);
  /// The answers of a model on the sampled items; with three classes and more also a space of its
  /// own, that of its log-probabilities.
  void add_answers(const std::string& row, int64_t seed, Method& method);
  EmbeddingPart finish(const std::string& dataset);

 private:
  struct Sample {
    const Domain* domain;
    torch::Tensor items;
  };
  EmbeddingPart part_;
  std::vector<Sample> samples_;
  int64_t classes_;
};

/// The first two principal components of the rows of x [k, d]: places [k, 2] in double, and the
/// shares of the variance. The sign is such that the largest entry of a component is positive.
/// Nothing (undefined places) for fewer than three rows or no variance.
EmbeddingPart::Space principal_components(const torch::Tensor& x);

}  // namespace grm::report
