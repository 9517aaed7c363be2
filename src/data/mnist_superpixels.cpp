// Superpixels of MNIST's images, and what graphs of them have in common.
#include "data/mnist_superpixels.h"

#include <algorithm>
#include <vector>

#include "data/graph_sets.h"
#include "data/parsed_cache.h"
#include "data/slic.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "io/idx.h"

namespace grm {
namespace {

constexpr int kMnistParser = 1;  // raise when the parsed form changes
constexpr int64_t kSide = 28;
constexpr int64_t kDigits = 10;
constexpr int64_t kMostNodes = 75;
constexpr int64_t kRequested = 95;
constexpr double kCompactness = 0.25;
constexpr int64_t kImagesAtOnce = 32;
constexpr int64_t kGraphsAtOnce = 64;
constexpr const char* kMnistFiles[] = {
    "mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
    "mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"};

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
  if (y.max().item<int64_t>() >= kDigits) {
    fail(ErrorKind::data, "{}: label {}, expected 0..{}", path, y.max().item<int64_t>(),
         kDigits - 1);
  }
  return y;
}

// Superpixels and digits of the images in files `first` and `first + 1`.
DigitSuperpixels read_images(const DataContext& context, const Source& source, size_t first,
                             const Task& task) {
  const std::string& images = source.files.at(first).path;
  const io::TensorFile file =
      cached(context, "mnist75sp", {{images, task.hashes.at(images)}}, kMnistParser,
             [&] { return parse_images(full_path(context, images)); });
  const torch::Tensor& parts = file.tensors.at("parts");
  return {parts, file.tensors.at("nodes"),
          read_digits(full_path(context, source.files.at(first + 1).path), parts.numel() - 1)};
}

}  // namespace

Source mnist_source() {
  Source source{"", Use::all, {}};
  for (const std::string name : kMnistFiles) source.files.push_back({name + ".gz", name});
  return source;
}

DigitSuperpixels training_digits(const DataContext& context, const Source& source,
                                 const Task& task) {
  return read_images(context, source, 0, task);
}

DigitSuperpixels test_digits(const DataContext& context, const Source& source, const Task& task) {
  return read_images(context, source, 2, task);
}

DigitSuperpixels pick_images(const DigitSuperpixels& all, const torch::Tensor& ids) {
  const int64_t* from = all.parts.data_ptr<int64_t>();
  const float* source = all.nodes.data_ptr<float>();
  const int64_t* id = ids.data_ptr<int64_t>();
  const int64_t graphs = ids.numel();
  std::vector<int64_t> count(static_cast<size_t>(graphs));
  for (int64_t g = 0; g < graphs; ++g) count[g] = from[id[g] + 1] - from[id[g]];
  DigitSuperpixels picked;
  picked.parts = parts_of(count);
  picked.digit = all.digit.index_select(0, ids);
  const int64_t* part = picked.parts.data_ptr<int64_t>();
  picked.nodes = torch::empty({part[graphs], 3}, torch::kFloat32);
  for (int64_t g = 0; g < graphs; ++g) {
    std::copy(source + 3 * from[id[g]], source + 3 * from[id[g] + 1],
              picked.nodes.data_ptr<float>() + 3 * part[g]);
  }
  return picked;
}

AdjacencyPtr join_graphs(const torch::Tensor& parts,
                         const std::function<void(int64_t graph, const JoinPair& join)>& each) {
  const int64_t graphs = parts.numel() - 1;
  const int64_t* part = parts.data_ptr<int64_t>();
  Csr in;
  in.rows = in.cols = part[graphs];
  in.offsets = torch::zeros({in.rows + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  parallel_chunks(graphs, kGraphsAtOnce, [&](int64_t begin, int64_t end) {
    const JoinPair count = [&](int64_t target, int64_t) { ++offset[target + 1]; };
    for (int64_t g = begin; g < end; ++g) each(g, count);
  });
  for (int64_t i = 0; i < in.rows; ++i) offset[i + 1] += offset[i];
  in.indices = torch::empty({offset[in.rows]}, torch::kInt32);
  int32_t* index = in.indices.data_ptr<int32_t>();
  parallel_chunks(graphs, kGraphsAtOnce, [&](int64_t begin, int64_t end) {
    int64_t e = offset[part[begin]];
    const JoinPair fill = [&](int64_t, int64_t source) {
      index[e++] = static_cast<int32_t>(source);
    };
    for (int64_t g = begin; g < end; ++g) each(g, fill);
  });
  return with_transpose(std::move(in));
}

Domain digit_domain(Graph set, const DigitSuperpixels& images) {
  const Csr& in = set.edges->in;
  const torch::Tensor truth = torch::empty({in.nnz()}, torch::kUInt8);
  const float* node = images.nodes.data_ptr<float>();
  for (int64_t i = 0; i < in.rows; ++i) {
    for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
      truth.data_ptr<uint8_t>()[e] = node[3 * i] > 0 && node[3 * int64_t{in.index()[e]}] > 0;
    }
  }
  Domain domain = make_domain(std::move(set), images.digit);
  domain.labels.edge_truth = truth;
  return domain;
}

}  // namespace grm
