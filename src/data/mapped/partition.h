#pragma once

#include <string>
#include <vector>

#include "data/mapped/parts_head.h"
#include "grm/graph/adjacency.h"

namespace grm::mapped {

/// Cuts the graphs of a folder of mapped graphs, each into as many parts, and writes them to `out`.
/// Features are read and written row by row; METIS holds the edges of a graph several times. The
/// same arguments give the same parts. Error(config) where this build lacks METIS.
PartsHead partition(const std::string& path, int64_t parts, PartBy by, const std::string& out,
                    bool force);

/// The part of each node, chosen by METIS so that few edges go from part to part and parts have about
/// equally many nodes. `in` need not be symmetric.
std::vector<int32_t> parts_by_metis(const Csr& in, bool symmetric, int64_t parts);
bool has_metis();

}  // namespace grm::mapped
