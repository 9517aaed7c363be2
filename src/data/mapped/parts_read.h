#pragma once

#include <string>

#include "data/mapped/read.h"

namespace grm::mapped {

/// The task of a folder of graphs in parts; the group's ranks share the parts.
Task load_parts(const std::string& folder, const PartsPlace& place);
/// Reads all parts and compares checksums.
void verify_parts(const std::string& folder);

}  // namespace grm::mapped
