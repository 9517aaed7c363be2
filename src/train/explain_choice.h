#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/methods/method.h"

namespace grm {

/// An item that is worth looking at, and why.
struct ChosenItem {
  int64_t item = 0;
  std::string why;  // a sentence
};

/// At most `count` of the candidates, in turn: the errors with the highest probability, items of
/// the rarest class, the most uncertain ones (highest entropy), and for contrast the surest right
/// answers. Where labels are unknown, the uncertain and the sure ones. The same model and data give
/// the same items. `names` are those of the classes, or none.
std::vector<ChosenItem> items_worth_a_look(Method& method, const Domain& domain,
                                           const std::vector<int64_t>& candidates, int64_t count,
                                           double temperature,
                                           const std::vector<std::string>& names);

}  // namespace grm
