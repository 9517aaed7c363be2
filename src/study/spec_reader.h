#pragma once

#include "study/spec.h"

namespace grm::study {

/// Another study named in `include`, and where.
struct Include {
  std::string name, place;
};

/// One specification without those it includes.
StudySpec read_spec(const std::string& text, const std::string& origin,
                    std::vector<Include>& includes);

}  // namespace grm::study
