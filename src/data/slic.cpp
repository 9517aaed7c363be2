// Not among the kernels in cpu/: a fused multiply-add rounds otherwise, and on images with large
// flat parts equal distances are common, so one different rounding moves pixels.
#include "data/slic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "grm/core/error.h"

namespace grm {
namespace {

constexpr int kRounds = 10;
constexpr double kSmallest = 0.5;  // pieces below this share of the mean size are joined
constexpr double kLargest = 3;     // pieces are cut at this multiple of the mean size

// Where the initial centres stand along one side: start, start + step, ...
struct Ticks {
  int64_t start = 0;
  int64_t step = 1;
  bool operator==(const Ticks& other) const { return start == other.start && step == other.step; }
};

struct Grid {
  Ticks y, x;
  bool operator==(const Grid& other) const { return y == other.y && x == other.x; }
};

Ticks ticks(double spacing) {
  return {static_cast<int64_t>(std::floor(spacing / 2)),
          static_cast<int64_t>(std::nearbyint(spacing))};
}

// About n points at equal spacing. A side shorter than the spacing gets one point, and the other
// side all of them.
Grid regular_grid(int64_t height, int64_t width, int64_t n) {
  const auto pixels = static_cast<double>(height * width);
  if (height * width <= n) return {};
  const double spacing = std::sqrt(pixels / static_cast<double>(n));
  const auto shorter = static_cast<double>(std::min(height, width));
  if (shorter >= spacing) return {ticks(spacing), ticks(spacing)};
  const Ticks along = ticks(static_cast<double>(std::max(height, width)) / static_cast<double>(n));
  return height <= width ? Grid{ticks(shorter), along} : Grid{along, ticks(shorter)};
}

struct Centre {
  float y = 0;
  float x = 0;
  float intensity = 0;
  int64_t pixels = 0;
};

class Slic {
 public:
  Slic(const float* image, int64_t height, int64_t width, double compactness)
      : height_(height), width_(width), image_(image, image + height * width) {
    const auto [low, high] = std::minmax_element(image_.begin(), image_.end());
    const float least = *low, range = *high - *low;
    const auto ratio = static_cast<float>(1 / compactness);
    for (float& value : image_) {
      value -= least;
      if (range != 0) value /= range;
      value *= ratio;
    }
  }

  Superpixels run(const Grid& grid) {
    cluster(grid);
    return connect();
  }

 private:
  // Local k-means: every pixel goes to the nearest centre of those whose window it lies in.
  void cluster(const Grid& grid) {
    centres_.clear();
    for (int64_t y = grid.y.start; y < height_; y += grid.y.step) {
      for (int64_t x = grid.x.start; x < width_; x += grid.x.step) {
        // Centres begin black, so that the first round goes by distance alone.
        centres_.push_back({static_cast<float>(y), static_cast<float>(x), 0, 1});
      }
    }
    // The windows come from the number of centres there are, not from the number asked for.
    const auto count = static_cast<int64_t>(centres_.size());
    const Grid windows = regular_grid(height_, width_, count);
    const auto step = static_cast<float>(std::max(grid.y.step, grid.x.step));
    const float weight = 1 / (step * step);
    nearest_.assign(image_.size(), -1);
    distance_.resize(image_.size());
    for (int round = 0; round < kRounds; ++round) {
      std::fill(distance_.begin(), distance_.end(), std::numeric_limits<float>::max());
      for (int64_t k = 0; k < count; ++k) assign(static_cast<int32_t>(k), windows, weight);
      move_centres();
    }
  }

  void assign(int32_t k, const Grid& windows, float weight) {
    const Centre& centre = centres_[k];
    if (centre.pixels == 0) return;  // it lost all pixels and stays without
    const auto [top, bottom] = window(centre.y, windows.y.step, height_);
    const auto [left, right] = window(centre.x, windows.x.step, width_);
    for (int64_t y = top; y < bottom; ++y) {
      const float dy = centre.y - static_cast<float>(y);
      for (int64_t x = left; x < right; ++x) {
        const int64_t pixel = y * width_ + x;
        const float dx = centre.x - static_cast<float>(x);
        const float contrast = image_[pixel] - centre.intensity;
        const float distance = (dy * dy + dx * dx) * weight + contrast * contrast;
        if (distance_[pixel] > distance) {
          distance_[pixel] = distance;
          nearest_[pixel] = k;
        }
      }
    }
  }

  // Two steps to each side of a centre, cut off at the border and to whole pixels.
  static std::array<int64_t, 2> window(float centre, int64_t step, int64_t size) {
    const auto reach = static_cast<float>(2 * step);
    return {static_cast<int64_t>(std::max(centre - reach, 0.0f)),
            static_cast<int64_t>(std::min(centre + reach + 1, static_cast<float>(size)))};
  }

  void move_centres() {
    for (Centre& centre : centres_) centre = {};
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x) {
        Centre& centre = centres_[nearest_[y * width_ + x]];
        ++centre.pixels;
        centre.y += static_cast<float>(y);
        centre.x += static_cast<float>(x);
        centre.intensity += image_[y * width_ + x];
      }
    }
    for (Centre& centre : centres_) {
      if (centre.pixels == 0) continue;
      const auto pixels = static_cast<float>(centre.pixels);
      centre.y /= pixels;
      centre.x /= pixels;
      centre.intensity /= pixels;
    }
  }

  // Labels connected pieces in reading order, breadth first. A piece below the least size takes the
  // label of the labelled neighbour met last. Label 0 is for small pieces in the first corner,
  // which have no such neighbour; they count as not yet labelled when the scan comes by again.
  Superpixels connect() const {
    const double mean_size =
        static_cast<double>(image_.size()) / static_cast<double>(centres_.size());
    const auto least = static_cast<int64_t>(kSmallest * mean_size);
    const auto most = static_cast<int64_t>(kLargest * mean_size);
    constexpr int64_t down[] = {0, 0, 1, -1}, right[] = {1, -1, 0, 0};
    std::vector<int32_t> label(image_.size(), 0);
    std::vector<int64_t> piece;
    int32_t next = 1;
    for (int64_t first = 0; first < height_ * width_; ++first) {
      if (label[first] > 0) continue;
      int32_t neighbour = 0;
      label[first] = next;
      piece.assign(1, first);
      const auto full = [&] { return static_cast<int64_t>(piece.size()) >= most; };
      for (size_t visited = 0; visited < piece.size() && !full(); ++visited) {
        for (int side = 0; side < 4 && !full(); ++side) {
          const int64_t y = piece[visited] / width_ + down[side];
          const int64_t x = piece[visited] % width_ + right[side];
          if (y < 0 || y >= height_ || x < 0 || x >= width_) continue;
          const int64_t pixel = y * width_ + x;
          if (label[pixel] == 0 && nearest_[pixel] == nearest_[first]) {
            label[pixel] = next;
            piece.push_back(pixel);
          } else if (label[pixel] > 0 && label[pixel] != next) {
            neighbour = label[pixel];
          }
        }
      }
      if (static_cast<int64_t>(piece.size()) >= least) {
        ++next;
      } else {
        for (const int64_t pixel : piece) label[pixel] = neighbour;
      }
    }
    return numbered(std::move(label), next);
  }

  // Closes the gap that an unused label 0 leaves.
  static Superpixels numbered(std::vector<int32_t> label, int32_t next) {
    const bool corner = std::find(label.begin(), label.end(), 0) != label.end();
    if (!corner) {
      for (int32_t& value : label) --value;
    }
    return {std::move(label), corner ? next : next - 1};
  }

  int64_t height_;
  int64_t width_;
  std::vector<float> image_;
  std::vector<Centre> centres_;
  std::vector<int32_t> nearest_;  // centre of each pixel
  std::vector<float> distance_;   // to that centre
};

void check(const float* image, int64_t height, int64_t width, int64_t segments,
           double compactness) {
  if (height < 1 || width < 1 || segments < 1 || !(compactness > 0)) {
    fail(ErrorKind::shape, "slic: {} segments of compactness {} in an image of {} x {} pixels",
         segments, compactness, height, width);
  }
  for (int64_t i = 0; i < height * width; ++i) {
    if (!std::isfinite(image[i])) fail(ErrorKind::data, "slic: pixel {} is {}", i, image[i]);
  }
}

}  // namespace

Superpixels slic(const float* image, int64_t height, int64_t width, int64_t segments,
                 double compactness) {
  check(image, height, width, segments, compactness);
  return Slic(image, height, width, compactness).run(regular_grid(height, width, segments));
}

Superpixels slic_at_most(const float* image, int64_t height, int64_t width, int64_t segments,
                         int64_t most, double compactness) {
  check(image, height, width, segments, compactness);
  if (most < 1) fail(ErrorKind::shape, "slic: at most {} superpixels, 1 is the least", most);
  Slic work(image, height, width, compactness);
  Grid grid = regular_grid(height, width, segments);
  Superpixels found = work.run(grid);
  while (found.count > most && segments > 1) {
    const Grid tried = grid;
    grid = regular_grid(height, width, --segments);
    if (!(grid == tried)) found = work.run(grid);  // the result depends on the grid alone
  }
  ensure(found.count <= most, "slic: a single centre gave more than one superpixel");
  return found;
}

}  // namespace grm
