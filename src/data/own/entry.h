#pragma once

#include <string>

#include "grm/data/dataset.h"

namespace grm {

/// The entry of own data, made when it is first asked for and kept: references stay good.
/// Error(data) if dataset.toml is not there or not right.
const DatasetEntry& own_entry(const std::string& path);

}  // namespace grm
