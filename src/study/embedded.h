#pragma once

#include "core/embedded.h"

namespace grm {

/// The ready studies and the published numbers.
const std::vector<EmbeddedFile>& study_files();

}  // namespace grm
