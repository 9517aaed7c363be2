#pragma once

#include "grm/methods/method.h"

// One maker per method file; the table in registry.cpp lists them.
namespace grm {

std::unique_ptr<MethodRecipe> make_arm();
std::unique_ptr<MethodRecipe> make_ciga();
std::unique_ptr<MethodRecipe> make_dir();
std::unique_ptr<MethodRecipe> make_drnn();
std::unique_ptr<MethodRecipe> make_eerm();
std::unique_ptr<MethodRecipe> make_erm();
std::unique_ptr<MethodRecipe> make_gala();
std::unique_ptr<MethodRecipe> make_gil();
std::unique_ptr<MethodRecipe> make_graph_erm();
std::unique_ptr<MethodRecipe> make_graph_grm();
std::unique_ptr<MethodRecipe> make_grm();
std::unique_ptr<MethodRecipe> make_lisa();
std::unique_ptr<MethodRecipe> make_mario();
std::unique_ptr<MethodRecipe> make_isgib();
std::unique_ptr<MethodRecipe> make_mmd();
std::unique_ptr<MethodRecipe> make_trivial();

}  // namespace grm
