#pragma once

#include <string>

#include "core/json.h"
#include "train/calibration.h"

namespace grm {

nlohmann::ordered_json to_json(const Calibration& calibration);
/// Throws what the JSON library throws, or Error(data) that names `origin`.
Calibration calibration_from(const nlohmann::ordered_json& j, const std::string& origin);

}  // namespace grm
