#include "data/npz_graph.h"

#include <torch/types.h>

#include <vector>

#include "data/binary_rows.h"
#include "data/parsed_cache.h"
#include "grm/core/error.h"
#include "io/npz.h"

namespace grm {
namespace {

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

}  // namespace

io::TensorFile parse_npz_graph(const std::string& path, bool with_labels) {
  std::vector<std::string> names = {"adj_data",  "adj_indices",  "adj_indptr",  "adj_shape",
                                    "attr_data", "attr_indices", "attr_indptr", "attr_shape"};
  if (with_labels) names.push_back("labels");
  const io::Npz npz = io::read_npz(path, names);
  const StoredRows adjacency = stored_rows(npz, "adj");
  const StoredRows features = stored_rows(npz, "attr");
  if (adjacency.rows != adjacency.cols || features.rows != adjacency.rows) {
    fail(ErrorKind::data, "{}: adj is {} x {} and attr {} x {}; their nodes do not agree", path,
         adjacency.rows, adjacency.cols, features.rows, features.cols);
  }
  io::TensorFile file;
  put_pattern(file, "x", binary_rows(features)->in);
  put_pattern(file, "edges", symmetrised(*without_self_loops(*binary_rows(adjacency)))->in);
  if (with_labels) {
    const torch::Tensor labels = npz.at("labels").to(torch::kInt64).reshape({-1}).contiguous();
    if (labels.numel() != adjacency.rows || labels.min().item<int64_t>() < 0) {
      fail(ErrorKind::data,
           "{}: {} labels from {} on, a class from 0 on for each of {} nodes is "
           "needed",
           path, labels.numel(), labels.min().item<int64_t>(), adjacency.rows);
    }
    file.tensors["y"] = labels;
  }
  return file;
}

}  // namespace grm
