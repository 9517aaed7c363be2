#pragma once

#include <functional>
#include <map>
#include <string>

#include "grm/data/dataset.h"
#include "grm/graph/adjacency.h"
#include "io/safetensors.h"

namespace grm {

/// What parse() gives, kept in context.cache/<key>-<hash>.safetensors. `sources` are the files that
/// parse() reads, by relative name, with their SHA-256; the name of the cache file depends on them
/// and on `version`, the parser's own number, so a change of either parses anew. A damaged cache
/// file is parsed anew and replaced with a warning; a folder that cannot be written only warns.
io::TensorFile cached(const DataContext& context, const std::string& key,
                      const std::map<std::string, std::string>& sources, int version,
                      const std::function<io::TensorFile()>& parse);

/// Patterns inside a TensorFile, as the tensors <name>.offsets, <name>.indices and <name>.cols.
void put_pattern(io::TensorFile& file, const std::string& name, const Csr& rows);
AdjacencyPtr get_pattern(const io::TensorFile& file, const std::string& name);

}  // namespace grm
