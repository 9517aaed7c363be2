#pragma once

#include <string>

namespace grm::study {

/// Lets several processes share a GPU instead of taking turns: starts NVIDIA's MPS for the children
/// of this process while it lives, with folders of its own, and stops it at the end. Does nothing
/// where there is no nvidia-cuda-mps-control or where one runs already.
class SharedGpu {
 public:
  /// `wanted`: whether there is anything to share.
  explicit SharedGpu(bool wanted);
  ~SharedGpu();
  SharedGpu(const SharedGpu&) = delete;
  SharedGpu& operator=(const SharedGpu&) = delete;
  bool started() const { return !folder_.empty(); }

 private:
  std::string folder_;
};

}  // namespace grm::study
