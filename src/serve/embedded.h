#pragma once

#include "core/embedded.h"

namespace grm {

/// The description of the service.
const std::vector<EmbeddedFile>& service_files();

}  // namespace grm
