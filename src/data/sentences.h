#pragma once

#include <string>
#include <vector>

#include "data/sources.h"
#include "grm/data/task.h"

namespace grm {

/// Sentences as DIG hands them out: dependency graphs, tokens with vectors, a label for each.
struct Sentences {
  Graph all;
  torch::Tensor y;                    // [sentences] int64
  std::vector<int64_t> nodes, edges;  // of each; an arc counts in both directions
};

/// The four files of Graph-<name> ("SST2", "Twitter"), under either way of writing it.
Source sentence_source(const std::string& name);
/// Of a source whose files were found.
Sentences read_sentences(const DataContext& context, const Source& source);
/// The sentences `ids` in this order; those with a label below 0 do not count.
Domain pick_sentences(const Sentences& sentences, const torch::Tensor& ids,
                      const std::string& name);

}  // namespace grm
