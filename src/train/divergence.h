#pragma once

#include <string>

#include "grm/data/task.h"

namespace grm {

/// Features or weights of edges that are too large to compute with, with their domain and column,
/// and what to do; "" where there are none.
std::string huge_numbers(const Task& task);

/// Why numbers that are not finite came out, and what to do: features or weights of edges that are
/// too large for single precision are named with their domain and column; else the learning rate
/// (`lr`, as text; "" if unknown) is the first guess.
std::string divergence_advice(const Task& task, const std::string& lr);

}  // namespace grm
