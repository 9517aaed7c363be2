#pragma once

#include <string>

#include "grm/methods/method.h"

namespace grm {

/// The preset whose values depend on a dataset of GOOD, on what shifts there and how.
extern const char* const kGoodPreset;

/// What good.toml says for a method on such a dataset, in the order of that file. `domain` is what
/// shifts (empty: the dataset has one such domain alone), `shift` covariate, concept or none;
/// `options` are those of the method: keys that it has not are left out. Nothing for other datasets.
PresetValues good_values(const std::string& method, const std::string& dataset,
                         const std::string& domain, const std::string& shift,
                         const OptionList& options);

}  // namespace grm
