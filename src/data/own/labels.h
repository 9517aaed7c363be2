#pragma once

#include <string>
#include <vector>

#include "data/own/raw_domain.h"

namespace grm::own {

struct Classes {
  int64_t count = 0;  // 0: not known, numbers are taken as they are
  std::vector<std::string> names;
};

/// Number of classes and their names: what dataset.toml says, else what the training labels say.
Classes find_classes(const Description& d, const std::vector<const RawDomain*>& training,
                     Problems& problems);

/// Class of every item, -1 where there is no label. A label that is none of the classes is a
/// problem, or, for prediction, no label.
torch::Tensor class_numbers(const RawDomain& raw, const Classes& classes, Purpose purpose,
                            Problems& problems);

/// Gives a domain its labels y and the items that count.
void set_labels(Domain& domain, const RawDomain& raw, torch::Tensor y);

}  // namespace grm::own
