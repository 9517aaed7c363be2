// MNIST-75sp: handwritten digits as graphs of at most 75 superpixels, of which those that are near
// each other are joined. Test images are the same kind of digits with noise on their colours.
#include <torch/types.h>

#include <cmath>
#include <vector>

#include "data/makers.h"
#include "data/mnist_superpixels.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"

namespace grm {
namespace {

constexpr int64_t kMnistClasses = 10;
constexpr double kPi = 3.14159265358979323846;
constexpr double kScale = 0.1 * kPi * 0.1 * kPi;  // of the distance in the weight of an edge
constexpr double kLeastWeight = 0.1;
constexpr double kReach = 0.23;   // a pair at this distance weighs 0.097, below the least
constexpr int64_t kChannels = 3;  // the intensity, three times

// exp(-d / (0.1 pi)^2), with the distance itself where a Gaussian would have its square: so did the
// authors of the dataset. Zero for pairs that are too far apart for an edge anyway.
double weight_of(const float* a, const float* b) {
  const double dy = double{a[1]} - double{b[1]}, dx = double{a[2]} - double{b[2]};
  const double square = dy * dy + dx * dx;
  return square > kReach * kReach ? 0 : std::exp(-std::sqrt(square) / kScale);
}

// Topology and weights of packed superpixels.
void join_near(Graph& set, const torch::Tensor& nodes) {
  const int64_t* part = set.parts.data_ptr<int64_t>();
  const float* node = nodes.data_ptr<float>();
  set.edges = join_graphs(set.parts, [&](int64_t g, const JoinPair& join) {
    for (int64_t i = part[g]; i < part[g + 1]; ++i) {
      for (int64_t j = part[g]; j < part[g + 1]; ++j) {
        if (i != j && weight_of(node + 3 * i, node + 3 * j) > kLeastWeight) join(i, j);
      }
    }
  });
  set.edge_weights = torch::empty({set.edges->nnz()}, torch::kFloat32);
  const Csr& in = set.edges->in;
  float* weight = set.edge_weights.data_ptr<float>();
  for (int64_t i = 0; i < in.rows; ++i) {
    for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
      weight[e] = static_cast<float>(weight_of(node + 3 * i, node + 3 * int64_t{in.index()[e]}));
    }
  }
}

// The images `ids` as one packed set.
Domain pack(const DigitSuperpixels& all, const torch::Tensor& ids, const std::string& name) {
  const DigitSuperpixels picked = pick_images(all, ids);
  Graph set;
  set.name = name;
  set.parts = picked.parts;
  const torch::Tensor v = picked.nodes.narrow(1, 0, 1);
  set.x.dense = torch::cat({v, v, v, picked.nodes.narrow(1, 1, 2)}, 1);  // [N, 5]
  join_near(set, picked.nodes);
  return digit_domain(std::move(set), picked);
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
  std::vector<std::string> files() const override { return paths_of({mnist_source()}); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "mnist75sp";
    task.level = Level::graph;
    task.classes = kMnistClasses;
    const Source all = require_sources(context, {mnist_source()}, task).front();
    split_training(context, all, task);
    add_test(context, all, task);
    task.notes.push_back("superpixels by our own SLIC; split and noise from our own streams");
    return task;
  }

 private:
  // The first of a permutation of the images are for training, the last for validation.
  void split_training(const DataContext& context, const Source& source, Task& task) const {
    const DigitSuperpixels images = training_digits(context, source, task);
    const int64_t n = images.images();
    if (train_graphs_ + validation_graphs_ > n) {
      fail(ErrorKind::data, "{}: {} images, {} training and {} validation graphs were asked for",
           full_path(context, source.files[0].path), n, train_graphs_, validation_graphs_);
    }
    Stream draws = Rng(static_cast<uint64_t>(dataset_seed_)).stream("split");
    const torch::Tensor order = torch::tensor(draws.choose(n, n), torch::kInt64);
    task.training.push_back(pack(images, order.narrow(0, 0, train_graphs_), "train"));
    task.validation.push_back(
        pack(images, order.narrow(0, n - validation_graphs_, validation_graphs_), "validation"));
  }

  void add_test(const DataContext& context, const Source& source, Task& task) const {
    const DigitSuperpixels images = test_digits(context, source, task);
    if (test_graphs_ > images.images()) {
      fail(ErrorKind::data, "{}: {} images, {} test graphs were asked for",
           full_path(context, source.files[2].path), images.images(), test_graphs_);
    }
    Domain domain = pack(images, torch::arange(test_graphs_, torch::kInt64), "test");
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
