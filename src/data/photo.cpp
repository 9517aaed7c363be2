// Amazon Photo (one .npz of compressed rows) under the artificial shift.
#include <torch/types.h>

#include "data/binary_rows.h"
#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "data/spurious.h"
#include "grm/core/error.h"
#include "io/npz.h"

namespace grm {
namespace {

constexpr int kPhotoParser = 1;              // raise when the parsed form changes
constexpr int64_t kPhotoSpuriousWidth = 10;  // columns of X2
constexpr char kFile[] = "amazon-photo/amazon_electronics_photo.npz";

// The matrix kept in <prefix>_data, <prefix>_indices, <prefix>_indptr and <prefix>_shape.
StoredRows stored_rows(const io::Npz& npz, const std::string& prefix) {
  const torch::Tensor& shape = npz.at(prefix + "_shape");
  if (shape.numel() != 2 || !torch::isIntegralType(shape.scalar_type(), false)) {
    fail(ErrorKind::data, "{}: {}_shape holds {} numbers of type {}, two whole numbers are needed",
         npz.path, prefix, shape.numel(), c10::toString(shape.scalar_type()));
  }
  const torch::Tensor size = shape.to(torch::kInt64).reshape({2});
  return {npz.path + ": " + prefix,   size[0].item<int64_t>(),     size[1].item<int64_t>(),
          npz.at(prefix + "_indptr"), npz.at(prefix + "_indices"), npz.at(prefix + "_data")};
}

io::TensorFile parse_photo(const std::string& path) {
  const io::Npz npz =
      io::read_npz(path, {"adj_data", "adj_indices", "adj_indptr", "adj_shape", "attr_data",
                          "attr_indices", "attr_indptr", "attr_shape"});
  const StoredRows adjacency = stored_rows(npz, "adj");
  const StoredRows features = stored_rows(npz, "attr");
  if (adjacency.rows != adjacency.cols || features.rows != adjacency.rows) {
    fail(ErrorKind::data, "{}: adj is {} x {} and attr {} x {}; their nodes do not agree", path,
         adjacency.rows, adjacency.cols, features.rows, features.cols);
  }
  io::TensorFile file;
  put_pattern(file, "x", binary_rows(features)->in);
  put_pattern(file, "edges", symmetrised(*without_self_loops(*binary_rows(adjacency)))->in);
  return file;
}

class Photo final : public Dataset {
 public:
  void declare(OptionList& list) override { shift_.declare(list); }
  std::vector<std::string> files() const override { return {kFile}; }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "photo";
    require_sources(context, {{"", Use::all, {{kFile}}}}, task);
    const io::TensorFile file = cached(context, "photo", task.hashes, kPhotoParser,
                                       [&] { return parse_photo(full_path(context, kFile)); });
    const AdjacencyPtr edges = get_pattern(file, "edges");
    const AdjacencyPtr x = get_pattern(file, "x");
    add_spurious_domains(task, edges, x,
                         draw_spurious(*edges, *x, shift_.generator, kPhotoSpuriousWidth,
                                       static_cast<uint64_t>(shift_.dataset_seed)));
    return task;
  }

 private:
  SpuriousOptions shift_;
};

}  // namespace

std::unique_ptr<Dataset> make_photo() {
  return std::make_unique<Photo>();
}

}  // namespace grm
