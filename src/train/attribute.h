#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grm/core/words.h"
#include "grm/train/predict.h"

// Which features a model's answers rest on, domain by domain. Nothing is asked of the method but its
// logits, so every method can be asked.
namespace grm {

/// permutation: how much worse the answers are when a feature is mixed among the nodes.
/// gradient: how far the log-odds of the predicted class follow it.
enum class AttributeBy { permutation, gradient };
GRM_WORDS(AttributeBy, "permutation", "gradient")

struct AttributeOptions {
  AttributeBy by = AttributeBy::permutation;
  int64_t repeats = 5;  // permutations of a feature
  int64_t most = 100;   // features that are permuted: those with the largest gradient
  bool single = false;  // every column by itself, instead of the columns of a category together
  int64_t seed = 1;
};

struct FeatureScore {
  std::string name;
  int64_t columns = 1;
  double score = 0.0;   // permutation: points of the measure lost; gradient: see below
  double spread = 0.0;  // permutation: deviation over the repeats (divisor R)
};

/// Of one domain. The score of the gradient is the mean over items of sum_i |dm/dx_ij (x_ij - mean
/// of column j)|, where m is the item's log-odds of its predicted class and i runs over all nodes;
/// of sparse columns the stored numbers count, without a mean.
struct DomainAttribution {
  std::string domain;
  std::string measure;  // the metric; "agreement" without labels; "log-odds" of the gradient
  int64_t items = 0;
  double base = 0.0;                   // the measure with all features as they are
  int64_t left_out = 0;                // features that were not permuted
  std::vector<FeatureScore> features;  // by score, largest first
};

/// Who is asked: a method with what its model file says of it (metric, names of features).
struct AskedMethod {
  Method& method;
  const ModelAbout& about;
};

/// `graph` of the domain is as the model reads it (Model::prepared). `progress` is told what is done
/// of all passes. Error(config) where the prediction depends on no feature by a gradient (a method
/// that reads sizes alone).
DomainAttribution attribute(const AskedMethod& model, const Domain& domain,
                            const AttributeOptions& options,
                            const std::function<void(int64_t, int64_t)>& progress = {});

/// Domains to look at for a model: of `data` (see data_to_predict) or, without it, of the model's
/// own data, test domains alone unless one of another role is named.
std::vector<Domain> domains_to_attribute(const Model& model, const std::string& data,
                                         const std::string& domain, const DataContext& context);

}  // namespace grm
