// A graph whose pairs are flipped: a thread for each pair, flip and node.
#include "methods/edited_pairs.h"

#include "core/cuda/launch.cuh"

namespace grm::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock)
    edit_kernel(const UneditedPairs pairs, const FlippedPairs flips, const EditedPairs<T> to) {
  edit_pair(pairs, flips, to, global_thread());
}

}  // namespace

template <class T>
void edited_pairs(const Queue& queue, const UneditedPairs& pairs, const FlippedPairs& flips,
                  const EditedPairs<T>& to) {
  const unsigned blocks = blocks_for(edited_work(pairs, flips), kBlock);
  edit_kernel<T><<<blocks, kBlock, 0, stream_of(queue)>>>(pairs, flips, to);
  check_launch("edited_pairs");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(edited_pairs)
