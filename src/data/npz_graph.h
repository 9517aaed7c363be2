#pragma once

#include <string>

#include "io/safetensors.h"

namespace grm {

/// A graph kept as compressed rows in an .npz (adj_*, attr_*, labels), as the authors of
/// graph2gauss and of gnn-benchmark hand them out: the patterns "edges" (both directions, without
/// self-loops) and "x" (positive entries), and y [n] int64 with labels.
io::TensorFile parse_npz_graph(const std::string& path, bool with_labels);

}  // namespace grm
