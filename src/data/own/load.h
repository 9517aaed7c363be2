#pragma once

#include <string>

#include "data/own/problems.h"

namespace grm::own {

/// The task of a folder. `allow_missing`: test domains without files go to task.missing.
Task load(const std::string& path, bool allow_missing, Problems& problems);

}  // namespace grm::own
