#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "grm/data/task.h"

namespace grm::mapped {

/// Who holds the parts of graphs together (null: nobody), and how much is kept of rows of others.
struct PartsPlace {
  std::shared_ptr<dist::Group> processes = nullptr;
  int64_t row_cache_mib = 64;
};

/// The folder of a path that names it or the head in it.
std::string folder_of(const std::string& path);
/// Whether a folder (or the head's own path) holds mapped graphs, in one piece or in parts.
bool is_mapped(const std::string& path);
bool in_parts(const std::string& path);
/// The dataset's name, without the arrays.
std::string name_of(const std::string& path);

/// The task of a folder. Its arrays are mapped, not read; those that say where to look (offsets,
/// neighbours, lists of nodes, labels) are gone through once, so that no later step can leave them.
/// Large graphs have the pairs of one direction alone, which is enough for samples (train.batch) and
/// predictions. Error(data) names the file. Of graphs in parts each process maps its own, and
/// Error(config) says so where nobody can have them.
Task load(const std::string& path, const PartsPlace& place = {});

/// Reads every array and compares checksums, too.
void verify(const std::string& path);

}  // namespace grm::mapped
