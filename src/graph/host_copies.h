#pragma once

#include <torch/types.h>

#include <mutex>
#include <vector>

namespace grm {

/// Device copies of host tensors for work that a GPU records and replays. A record must not copy
/// from the host: that memory is somebody else's when it is replayed. So the pass before the record
/// fills this, and on_device() takes the copies from here while the record is made.
class HostCopies {
 public:
  /// The copy of a tensor. Once sealed, one that the pass before used, or the copy of equal numbers
  /// (offsets that an operator makes anew at each call). Where there is none, the pass draws what it
  /// copies, and a record of it would repeat old numbers: complete() is false from then on.
  torch::Tensor get(const torch::Tensor& host, const torch::Device& device);
  void seal() { sealed_ = true; }
  bool complete() const { return complete_; }

  /// While it lives, on_device() asks `copies` in all work of the stream that is current now. That
  /// holds for a backward pass, too: it runs in other threads but in the streams of the forward pass.
  class Use {
   public:
    Use(HostCopies& copies, const torch::Device& device);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    void* stream_;
  };
  /// Those of the current stream of a GPU; null: none.
  static HostCopies* current(const torch::Device& device);

 private:
  struct Kept {
    torch::Tensor host, copy;
    uint32_t version;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
  bool sealed_ = false;
  bool complete_ = true;
};

}  // namespace grm
