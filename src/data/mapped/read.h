#pragma once

#include <string>

#include "grm/data/task.h"

namespace grm::mapped {

/// Whether a folder (or the head's own path) holds mapped graphs.
bool is_mapped(const std::string& path);
/// The dataset's name, without the arrays.
std::string name_of(const std::string& path);

/// The task of a folder. Its arrays are mapped, not read; those that say where to look (offsets,
/// neighbours, lists of nodes, labels) are gone through once, so that no later step can leave them.
/// Large graphs have the pairs of one direction alone, which is enough for samples (train.batch) and
/// predictions. Error(data) names the file.
Task load(const std::string& path);

/// Reads every array and compares checksums, too.
void verify(const std::string& path);

}  // namespace grm::mapped
