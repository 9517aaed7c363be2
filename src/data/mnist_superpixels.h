#pragma once

#include <torch/types.h>

#include <functional>

#include "data/sources.h"
#include "grm/data/task.h"

namespace grm {

/// MNIST's images as graphs without edges: superpixels by our own SLIC, at most 75 an image.
struct DigitSuperpixels {
  torch::Tensor parts;  // [images + 1] int64
  torch::Tensor nodes;  // [parts.back(), 3] float: mean intensity, row, column, each in [0, 1]
  torch::Tensor digit;  // [images] int64

  int64_t images() const { return digit.numel(); }
};

/// The four files, each with or without ".gz".
Source mnist_source();
/// Of a source whose files were found; superpixels through the cache.
DigitSuperpixels training_digits(const DataContext& context, const Source& source,
                                 const Task& task);
DigitSuperpixels test_digits(const DataContext& context, const Source& source, const Task& task);
/// The images `ids` (int64) in this order.
DigitSuperpixels pick_images(const DigitSuperpixels& all, const torch::Tensor& ids);

/// Joins one pair source -> target, nodes counted through the set.
using JoinPair = std::function<void(int64_t target, int64_t source)>;
/// The edges of packed graphs. `each` joins the pairs of one graph, targets and then sources
/// ascending; it is called twice, by several threads.
AdjacencyPtr join_graphs(const torch::Tensor& parts,
                         const std::function<void(int64_t graph, const JoinPair& join)>& each);

/// The graphs `set` made of these images, with their digits; true edges have both ends on the digit.
Domain digit_domain(Graph set, const DigitSuperpixels& images);

}  // namespace grm
