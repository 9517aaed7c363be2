// GOOD-CMNIST (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): coloured digits as graphs of superpixels. Subsets,
// environments and colours are the benchmark's, from its own random streams; its superpixels are not
// to be made again, so the graphs are ours: SLIC with at most 75 segments, each joined to its 16
// nearest, which gives about as many edges.
#include <torch/types.h>

#include <algorithm>

#include "data/good/cmnist_colours.h"
#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/mnist_superpixels.h"

namespace grm {
namespace {

enum class Coloured { color, background };
GRM_WORDS(Coloured, "color", "background")

constexpr int64_t kNearest = 16;
constexpr float kDark = 0.001F;  // a superpixel below is background

// Each superpixel with its nearest by distance of centroids, then by number; both directions.
AdjacencyPtr join_nearest(const torch::Tensor& parts, const torch::Tensor& nodes) {
  const int64_t* part = parts.data_ptr<int64_t>();
  const float* node = nodes.data_ptr<float>();
  return join_graphs(parts, [&](int64_t g, const JoinPair& join) {
    const int64_t first = part[g], n = part[g + 1] - first;
    const int64_t count = std::min(kNearest, n - 1);
    std::vector<uint8_t> joined(static_cast<size_t>(n * n), 0);
    std::vector<std::pair<double, int64_t>> others;
    for (int64_t i = 0; i < n; ++i) {
      others.clear();
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        const float* a = node + 3 * (first + i);
        const float* b = node + 3 * (first + j);
        const double dy = double{a[1]} - double{b[1]}, dx = double{a[2]} - double{b[2]};
        others.emplace_back(dy * dy + dx * dx, j);
      }
      std::partial_sort(others.begin(), others.begin() + count, others.end());
      for (int64_t k = 0; k < count; ++k) {
        const int64_t j = others[static_cast<size_t>(k)].second;
        joined[static_cast<size_t>(i * n + j)] = joined[static_cast<size_t>(j * n + i)] = 1;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (joined[static_cast<size_t>(i * n + j)] != 0) join(first + i, first + j);
      }
    }
  });
}

class GoodCmnist final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what has the colour: the digit, or the background");
    protocol_.declare(list, Level::graph);
  }
  std::vector<std::string> files() const override { return paths_of({mnist_source()}); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "good-cmnist";
    task.level = Level::graph;
    task.classes = 10;
    const Source source = require_sources(context, {mnist_source()}, task).front();
    const std::array<DigitSuperpixels, 2> files = {training_digits(context, source, task),
                                                   test_digits(context, source, task)};
    const int64_t first = files[0].images();
    const torch::Tensor digit = torch::cat({files[0].digit, files[1].digit});
    const good::ColouredDigits coloured = good::colour_digits(
        {digit.data_ptr<int64_t>(), digit.data_ptr<int64_t>() + digit.numel()}, protocol_.shift);
    DigitSuperpixels all;
    all.digit = digit;
    all.nodes = torch::cat({files[0].nodes, files[1].nodes});
    all.parts = torch::cat({files[0].parts, files[1].parts.slice(0, 1) + files[0].parts[first]});
    protocol_.add_sets(task, coloured.split,
                       [&](const torch::Tensor& ids, const std::string& name) {
                         return pack(pick_images(all, ids), ids, coloured.colour, name);
                       });
    task.notes.push_back(
        "superpixels and edges are ours, subsets and colours GOOD's: published numbers are near, "
        "not "
        "equal, comparisons");
    return task;
  }

 private:
  Domain pack(const DigitSuperpixels& images, const torch::Tensor& ids,
              const std::vector<int64_t>& colour, const std::string& name) const {
    Graph set;
    set.name = name;
    set.parts = images.parts;
    set.x.dense = images.nodes.narrow(1, 0, 1).repeat({1, 3});
    if (!colour.empty()) paint(set, ids, colour);
    set.edges = join_nearest(images.parts, images.nodes);
    return digit_domain(std::move(set), images);
  }

  void paint(Graph& set, const torch::Tensor& ids, const std::vector<int64_t>& colour) const {
    const int64_t* part = set.parts.data_ptr<int64_t>();
    float* x = set.x.dense.data_ptr<float>();
    for (int64_t g = 0; g < ids.numel(); ++g) {
      const auto image = static_cast<size_t>(ids.data_ptr<int64_t>()[g]);
      const std::array<float, 3> tint = good::digit_colour(protocol_.shift, colour[image]);
      for (int64_t i = part[g]; i < part[g + 1]; ++i) {
        const bool is_dark = x[3 * i] < kDark;
        for (int64_t c = 0; c < 3; ++c) {
          float& value = x[3 * i + c];
          if (domain_ == Coloured::color) {
            value *= tint[static_cast<size_t>(c)];
          } else if (is_dark) {
            value = tint[static_cast<size_t>(c)];
          }
        }
      }
    }
  }

  Coloured domain_ = Coloured::color;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_cmnist() {
  return std::make_unique<GoodCmnist>();
}

}  // namespace grm
