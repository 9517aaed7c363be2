#pragma once

#include "grm/train/predict.h"

namespace grm {

/// What may be explained with a model: everything that `data` names or, where it is empty or the
/// model's own dataset, all domains of that, test domains first.
struct ExplainedDomains {
  std::vector<Domain> domains;
  size_t test = 0;  // how many of them are test domains of the model's own data
};
ExplainedDomains explained_domains(const Model& model, const std::string& data,
                                   const DataContext& context);

}  // namespace grm
