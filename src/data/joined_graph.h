#pragma once

#include <string>
#include <vector>

#include "grm/data/task.h"

namespace grm {

/// Node-level domains with sparse features as one graph, one after the other, without edges between
/// them.
Domain joined(const std::vector<Domain>& parts, const std::string& name);

}  // namespace grm
