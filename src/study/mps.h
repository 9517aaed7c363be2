#pragma once

#include <optional>

#include "core/system/temporary_folder.h"

namespace grm::study {

/// Lets several processes share a GPU instead of taking turns: starts NVIDIA's MPS for the children
/// of this process while it lives, with a folder of its own, and stops it at the end. Does nothing
/// where there is no nvidia-cuda-mps-control or where one runs already.
class SharedGpu {
 public:
  /// `wanted`: whether there is anything to share.
  explicit SharedGpu(bool wanted);
  ~SharedGpu();
  SharedGpu(const SharedGpu&) = delete;
  SharedGpu& operator=(const SharedGpu&) = delete;
  bool started() const { return folder_.has_value(); }

 private:
  void forget();

  std::optional<TemporaryFolder> folder_;
};

}  // namespace grm::study
