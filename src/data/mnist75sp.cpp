// MNIST-75sp: handwritten digits as graphs of at most 75 superpixels, of which those that are near
// each other are joined. Test images are the same kind of digits with noise on their colours.
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/slic.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"
#include "io/idx.h"

namespace grm {
namespace {

constexpr int kMnistParser = 1;  // raise when the parsed form changes
constexpr int64_t kSide = 28;
constexpr int64_t kMnistClasses = 10;
constexpr int64_t kMostNodes = 75;
constexpr int64_t kRequested = 95;
constexpr double kCompactness = 0.25;
constexpr double kPi = 3.14159265358979323846;
constexpr double kScale = 0.1 * kPi * 0.1 * kPi;  // of the distance in the weight of an edge
constexpr double kLeastWeight = 0.1;
constexpr double kReach = 0.23;   // a pair at this distance weighs 0.097, below the least
constexpr int64_t kChannels = 3;  // the intensity, three times
constexpr int64_t kImagesAtOnce = 32;
constexpr int64_t kGraphsAtOnce = 64;
constexpr char kTrainImages[] = "mnist/train-images-idx3-ubyte";
constexpr char kTrainLabels[] = "mnist/train-labels-idx1-ubyte";
constexpr char kTestImages[] = "mnist/t10k-images-idx3-ubyte";
constexpr char kTestLabels[] = "mnist/t10k-labels-idx1-ubyte";

// Mean intensity and centroid (row, column) of each superpixel, in units of 255 and of the image's
// side; returns how many there are.
int64_t superpixels_of(const uint8_t* image, float* node) {
  std::vector<float> gray(kSide * kSide);
  for (size_t i = 0; i < gray.size(); ++i) gray[i] = static_cast<float>(image[i] / 255.0);
  const Superpixels found =
      slic_at_most(gray.data(), kSide, kSide, kRequested, kMostNodes, kCompactness);
  int64_t sum[kMostNodes][3] = {}, pixels[kMostNodes] = {};
  for (int64_t i = 0; i < kSide * kSide; ++i) {
    const int32_t k = found.label[i];
    sum[k][0] += image[i];
    sum[k][1] += i / kSide;
    sum[k][2] += i % kSide;
    ++pixels[k];
  }
  constexpr double unit[3] = {255, kSide, kSide};
  for (int32_t k = 0; k < found.count; ++k) {
    for (int c = 0; c < 3; ++c) {
      const double mean = static_cast<double>(sum[k][c]) / static_cast<double>(pixels[k]);
      node[3 * k + c] = static_cast<float>(mean / unit[c]);
    }
  }
  return found.count;
}

// parts [images + 1] int64 and nodes [parts.back(), 3] float of all images of a file.
io::TensorFile parse_images(const std::string& path) {
  const torch::Tensor images = io::read_idx(path, 3);
  if (images.size(1) != kSide || images.size(2) != kSide) {
    fail(ErrorKind::data, "{}: images of {} x {} pixels, expected {} x {}", path, images.size(1),
         images.size(2), kSide, kSide);
  }
  const int64_t n = images.size(0);
  const uint8_t* pixel = images.data_ptr<uint8_t>();
  std::vector<int64_t> count(n);
  const torch::Tensor slots = torch::empty({n, kMostNodes, 3}, torch::kFloat32);
  float* slot = slots.data_ptr<float>();
  parallel_chunks(n, kImagesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      count[i] = superpixels_of(pixel + i * kSide * kSide, slot + i * kMostNodes * 3);
    }
  });
  const torch::Tensor parts = parts_of(count);
  const int64_t* part = parts.data_ptr<int64_t>();
  const torch::Tensor nodes = torch::empty({part[n], 3}, torch::kFloat32);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(slot + i * kMostNodes * 3, 3 * count[i], nodes.data_ptr<float>() + 3 * part[i]);
  }
  io::TensorFile file;
  file.tensors["parts"] = parts;
  file.tensors["nodes"] = nodes;
  return file;
}

// The digits of a file, one for each of `images`.
torch::Tensor read_digits(const std::string& path, int64_t images) {
  const torch::Tensor y = io::read_idx(path, 1).to(torch::kInt64);
  if (y.numel() != images) {
    fail(ErrorKind::data, "{}: {} labels for {} images", path, y.numel(), images);
  }
  if (y.max().item<int64_t>() >= kMnistClasses) {
    fail(ErrorKind::data, "{}: label {}, expected 0..{}", path, y.max().item<int64_t>(),
         kMnistClasses - 1);
  }
  return y;
}

// exp(-d / (0.1 pi)^2), with the distance itself where a Gaussian would have its square: so did the
// authors of the dataset. Zero for pairs that are too far apart for an edge anyway.
double weight_of(const float* a, const float* b) {
  const double dy = double{a[1]} - double{b[1]}, dx = double{a[2]} - double{b[2]};
  const double square = dy * dy + dx * dx;
  return square > kReach * kReach ? 0 : std::exp(-std::sqrt(square) / kScale);
}

// Topology, weights and true edges of packed superpixels, graph by graph.
struct RadiusEdges {
  AdjacencyPtr pattern;
  torch::Tensor weights;  // [nnz] float
  torch::Tensor truth;    // [nnz] uint8: both ends are on the digit
};

RadiusEdges join_near(const torch::Tensor& parts, const torch::Tensor& nodes) {
  const int64_t graphs = parts.numel() - 1;
  const int64_t* part = parts.data_ptr<int64_t>();
  const float* node = nodes.data_ptr<float>();
  // Calls edge(target, source, weight) for the edges of graphs begin .. end, targets ascending.
  const auto each_edge = [&](int64_t begin, int64_t end, const auto& edge) {
    for (int64_t g = begin; g < end; ++g) {
      for (int64_t i = part[g]; i < part[g + 1]; ++i) {
        for (int64_t j = part[g]; j < part[g + 1]; ++j) {
          const double weight = i == j ? 0 : weight_of(node + 3 * i, node + 3 * j);
          if (weight > kLeastWeight) edge(i, j, weight);
        }
      }
    }
  };
  Csr in;
  in.rows = in.cols = part[graphs];
  in.offsets = torch::zeros({in.rows + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  parallel_chunks(graphs, kGraphsAtOnce, [&](int64_t begin, int64_t end) {
    each_edge(begin, end, [&](int64_t i, int64_t, double) { ++offset[i + 1]; });
  });
  for (int64_t i = 0; i < in.rows; ++i) offset[i + 1] += offset[i];
  in.indices = torch::empty({offset[in.rows]}, torch::kInt32);
  RadiusEdges edges;
  edges.weights = torch::empty({offset[in.rows]}, torch::kFloat32);
  edges.truth = torch::empty({offset[in.rows]}, torch::kUInt8);
  int32_t* index = in.indices.data_ptr<int32_t>();
  float* weights = edges.weights.data_ptr<float>();
  uint8_t* truth = edges.truth.data_ptr<uint8_t>();
  parallel_chunks(graphs, kGraphsAtOnce, [&](int64_t begin, int64_t end) {
    int64_t e = offset[part[begin]];
    each_edge(begin, end, [&](int64_t i, int64_t j, double weight) {
      index[e] = static_cast<int32_t>(j);
      weights[e] = static_cast<float>(weight);
      truth[e] = node[3 * i] > 0 && node[3 * j] > 0;
      ++e;
    });
  });
  edges.pattern = with_transpose(std::move(in));
  return edges;
}

// The images `ids` of a parsed file as one packed set.
Domain pack(const io::TensorFile& file, const torch::Tensor& y, const torch::Tensor& ids,
            const std::string& name) {
  const int64_t* from = file.tensors.at("parts").data_ptr<int64_t>();
  const float* source = file.tensors.at("nodes").data_ptr<float>();
  const int64_t* id = ids.data_ptr<int64_t>();
  const int64_t graphs = ids.numel();
  std::vector<int64_t> count(graphs);
  for (int64_t g = 0; g < graphs; ++g) count[g] = from[id[g] + 1] - from[id[g]];
  Graph set;
  set.name = name;
  set.parts = parts_of(count);
  const int64_t* part = set.parts.data_ptr<int64_t>();
  const torch::Tensor nodes = torch::empty({part[graphs], 3}, torch::kFloat32);
  for (int64_t g = 0; g < graphs; ++g) {
    std::copy(source + 3 * from[id[g]], source + 3 * from[id[g] + 1],
              nodes.data_ptr<float>() + 3 * part[g]);
  }
  const torch::Tensor v = nodes.narrow(1, 0, 1);
  set.x.dense = torch::cat({v, v, v, nodes.narrow(1, 1, 2)}, 1);  // [N, 5]
  RadiusEdges edges = join_near(set.parts, nodes);
  set.edges = std::move(edges.pattern);
  set.edge_weights = std::move(edges.weights);
  Domain domain = make_domain(std::move(set), y.index_select(0, ids));
  domain.labels.edge_truth = std::move(edges.truth);
  return domain;
}

class Mnist75sp final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.add("noise", noise_, {0, 2},
             "standard deviation of the noise on the three colours of test nodes");
    list.add("train_graphs", train_graphs_, {1, 55000}, "training images");
    list.add("validation_graphs", validation_graphs_, {1, 55000}, "validation images");
    list.add("test_graphs", test_graphs_, {1, 10000}, "test images, the first of their file");
    list.add("dataset_seed", dataset_seed_, {0},
             "seed of the split into training and validation and of the noise");
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const char* name : {kTrainImages, kTrainLabels, kTestImages, kTestLabels}) {
      names.push_back(std::string(name) + ".gz");
    }
    return names;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "mnist75sp";
    task.level = Level::graph;
    task.classes = kMnistClasses;
    Source all{"", Use::all, {}};
    for (const std::string& name : files()) {
      all.files.push_back({name, name.substr(0, name.size() - 3)});  // or without ".gz"
    }
    all = require_sources(context, {all}, task).front();
    split_training(context, all, task);
    add_test(context, all, task);
    task.notes.push_back("superpixels by our own SLIC; split and noise from our own streams");
    return task;
  }

 private:
  // Superpixels and digits of the images in files `first` and `first + 1`.
  static std::pair<io::TensorFile, torch::Tensor> read(const DataContext& context,
                                                       const Source& source, size_t first,
                                                       const Task& task) {
    const std::string& images = source.files.at(first).path;
    io::TensorFile file =
        cached(context, "mnist75sp", {{images, task.hashes.at(images)}}, kMnistParser,
               [&] { return parse_images(full_path(context, images)); });
    const int64_t count = file.tensors.at("parts").numel() - 1;
    return {std::move(file),
            read_digits(full_path(context, source.files.at(first + 1).path), count)};
  }

  // The first of a permutation of the images are for training, the last for validation.
  void split_training(const DataContext& context, const Source& source, Task& task) const {
    const auto [file, y] = read(context, source, 0, task);
    const int64_t n = y.numel();
    if (train_graphs_ + validation_graphs_ > n) {
      fail(ErrorKind::data, "{}: {} images, {} training and {} validation graphs were asked for",
           full_path(context, source.files[0].path), n, train_graphs_, validation_graphs_);
    }
    Stream draws = Rng(static_cast<uint64_t>(dataset_seed_)).stream("split");
    const torch::Tensor order = torch::tensor(draws.choose(n, n), torch::kInt64);
    task.training.push_back(pack(file, y, order.narrow(0, 0, train_graphs_), "train"));
    task.validation.push_back(
        pack(file, y, order.narrow(0, n - validation_graphs_, validation_graphs_), "validation"));
  }

  void add_test(const DataContext& context, const Source& source, Task& task) const {
    const auto [file, y] = read(context, source, 2, task);
    if (test_graphs_ > y.numel()) {
      fail(ErrorKind::data, "{}: {} images, {} test graphs were asked for",
           full_path(context, source.files[2].path), y.numel(), test_graphs_);
    }
    Domain domain = pack(file, y, torch::arange(test_graphs_, torch::kInt64), "test");
    torch::Tensor& x = domain.graph.x.dense;
    torch::Tensor noise = torch::empty({x.size(0), kChannels}, torch::kFloat32);
    Rng(static_cast<uint64_t>(dataset_seed_))
        .stream("noise")
        .fill_normal(noise.data_ptr<float>(), noise.numel());
    x.narrow(1, 0, kChannels).add_(noise, noise_);
    task.test.push_back(std::move(domain));
  }

  double noise_ = 0.4;
  int64_t train_graphs_ = 20000;
  int64_t validation_graphs_ = 5000;
  int64_t test_graphs_ = 10000;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_mnist75sp() {
  return std::make_unique<Mnist75sp>();
}

}  // namespace grm
