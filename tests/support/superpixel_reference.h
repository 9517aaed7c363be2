#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files.h"

namespace grm::test {

/// Superpixels of the first MNIST test images by scikit-image 0.19.3 (`M75S`, int32 n, int32
/// label[n], int32 offset[n + 1], float node[][3]: mean intensity, centroid row and column).
struct SuperpixelReference {
  std::vector<int32_t> label;   // digit of each image
  std::vector<int32_t> offset;  // first node of each image
  std::vector<float> node;      // three numbers each, in order of the superpixels' labels

  explicit SuperpixelReference(const std::string& path) {
    const std::string bytes = read_file(path);
    if (bytes.compare(0, 4, "M75S") != 0) throw std::runtime_error(path + ": not M75S");
    size_t at = 4;
    const auto take = [&](void* to, size_t count) {
      if (bytes.size() < at + 4 * count) throw std::runtime_error(path + ": truncated");
      std::memcpy(to, bytes.data() + at, 4 * count);
      at += 4 * count;
    };
    int32_t n = 0;
    take(&n, 1);
    label.resize(n);
    offset.resize(n + 1);
    take(label.data(), label.size());
    take(offset.data(), offset.size());
    node.resize(3 * static_cast<size_t>(offset.back()));
    take(node.data(), node.size());
  }

  int64_t images() const { return static_cast<int64_t>(label.size()); }
  int64_t nodes(int64_t image) const { return offset[image + 1] - offset[image]; }
};

}  // namespace grm::test
