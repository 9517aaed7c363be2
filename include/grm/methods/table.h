#pragma once

#include "grm/methods/method.h"

// One maker per method file; the table in registry.cpp lists them.
namespace grm {

std::unique_ptr<MethodRecipe> make_erm();
std::unique_ptr<MethodRecipe> make_grm();

}  // namespace grm
