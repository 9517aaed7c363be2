#pragma once

#include <cstdint>
#include <vector>

namespace grm {

/// A partition of an image's pixels. Labels 0 .. count - 1 all occur.
struct Superpixels {
  std::vector<int32_t> label;  // [height * width], row by row
  int32_t count = 0;
};

/// SLIC superpixels (Achanta et al., TPAMI 2012) of a gray image [height, width], with the choices
/// of scikit-image 0.19: intensities stretched to [0, 1], centres on a regular grid of about
/// `segments` points, ten rounds of local k-means under
///   |intensity difference|^2 / compactness^2 + |pixel distance|^2 / step^2,
/// then connected pieces, small ones joined to a neighbour and large ones cut. The number of
/// superpixels differs from `segments`. All of it in single precision, in a fixed order.
Superpixels slic(const float* image, int64_t height, int64_t width, int64_t segments,
                 double compactness);

/// The same with `segments` lowered one by one until at most `most` superpixels result.
Superpixels slic_at_most(const float* image, int64_t height, int64_t width, int64_t segments,
                         int64_t most, double compactness);

}  // namespace grm
