#pragma once

#include "data/sources.h"
#include "io/safetensors.h"

namespace grm {

/// OGB's four files of ogbn-arxiv.
Source arxiv_source();
/// x [n, 128], y [n], year [n] and the pattern "edges" of files that were found, through the cache.
io::TensorFile cached_arxiv(const DataContext& context, const Task& task);

}  // namespace grm
