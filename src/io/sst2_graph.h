#pragma once

#include <torch/types.h>

#include <string>

namespace grm::io {

/// Sentences as trees: tokens with the position of their head.
struct SentenceTrees {
  int64_t vocabulary = 0;
  torch::Tensor labels;  // [n] int64
  torch::Tensor parts;   // [n + 1] int64: first token of each sentence
  torch::Tensor token;   // [N] int64, below `vocabulary`
  torch::Tensor parent;  // [N] int64, counted inside the sentence; -1: root
};

/// Reads the little-endian file `SSTG`, i32 n, N, V, label[n], offset[n + 1], token[N], parent[N].
/// Error(data) names file and place of anything that does not fit, so that all numbers can be used
/// as indices.
SentenceTrees read_sentence_trees(const std::string& path);

/// f32[rows][columns] and nothing else.
torch::Tensor read_float_table(const std::string& path, int64_t rows, int64_t columns);

}  // namespace grm::io
