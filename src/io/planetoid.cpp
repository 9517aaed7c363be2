#include "io/planetoid.h"

#include <algorithm>
#include <cstring>

#include "grm/core/error.h"
#include "io/csv.h"
#include "io/npy.h"
#include "io/pickle.h"
#include "io/shapes.h"

namespace grm::io {
namespace {

std::vector<int64_t> integers(const Pickle& pickle, const PickleValue& sequence) {
  std::vector<int64_t> numbers;
  for (const PickleRef ref : sequence.items) {
    if (pickle.at(ref).kind != PickleKind::integer) {
      fail(ErrorKind::data, "{}: a whole number is expected in a list of them", pickle.path());
    }
    numbers.push_back(pickle.at(ref).number);
  }
  return numbers;
}

// Integers become int64, floats stay as they are.
torch::Tensor array_tensor(const Pickle& pickle, const PickleValue& value,
                           const std::string& what) {
  const std::string where = pickle.path() + ": " + what;
  if (value.kind != PickleKind::array || value.items.size() != 4) {
    fail(ErrorKind::data, "{} is not a numpy array", where);
  }
  NpyHeader header;
  header.shape = integers(pickle, pickle.at(value.items[0]));
  header.dtype = "<" + std::string(pickle.at(value.items[1]).text);
  header.fortran = pickle.at(value.items[2]).number != 0;
  const std::string_view raw = pickle.at(value.items[3]).text;
  const auto type = npy_type(header.dtype);
  if (!type) fail(ErrorKind::data, "{} has dtype {}, which is not numeric", where, header.dtype);
  if (!fills(header.shape, static_cast<int64_t>(torch::elementSize(type->stored)),
             static_cast<int64_t>(raw.size()))) {
    fail(ErrorKind::data, "{} has {} bytes, which its shape does not fill", where, raw.size());
  }
  torch::Tensor stored = torch::empty({*element_count(header.shape)}, type->stored);
  if (!raw.empty()) std::memcpy(stored.data_ptr(), raw.data(), raw.size());
  const torch::Tensor tensor = npy_shaped(npy_numbers(std::move(stored), *type, where), header);
  return tensor.is_floating_point() ? tensor : tensor.to(torch::kInt64);
}

const PickleValue& member(const Pickle& pickle, const PickleValue& dict, std::string_view name) {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict.items[i]);
    if (key.kind == PickleKind::text && key.text == name) return pickle.at(dict.items[i + 1]);
  }
  fail(ErrorKind::data, "{}: the sparse matrix has no member '{}'", pickle.path(), name);
}

void check_csr(const CsrMatrix& matrix, int64_t rows, const std::string& path) {
  const auto bad = [&](const char* what) {
    fail(ErrorKind::data, "{}: the sparse matrix is inconsistent: {}", path, what);
  };
  if (matrix.offsets.dim() != 1 || matrix.offsets.size(0) - 1 != rows) {
    bad("indptr does not have one entry more than there are rows");
  }
  if (matrix.indices.dim() != 1 || !matrix.indices.is_same_size(matrix.values)) {
    bad("indices and data differ in size");
  }
  if (matrix.offsets.is_floating_point() || matrix.indices.is_floating_point()) {
    bad("indptr or indices are not whole numbers");
  }
  const auto* offset = matrix.offsets.data_ptr<int64_t>();
  if (offset[0] != 0 || offset[rows] != matrix.indices.size(0) ||
      !std::is_sorted(offset, offset + rows + 1)) {
    bad("indptr does not rise from 0 to the number of entries");
  }
  const auto* column = matrix.indices.data_ptr<int64_t>();
  if (std::any_of(column, column + matrix.indices.size(0),
                  [&](int64_t c) { return c < 0 || c >= matrix.cols; })) {
    bad("a column lies outside");
  }
}

// Row r of the result is row order[r] of `top` over `bottom`.
CsrMatrix stack_rows(const CsrMatrix& top, const CsrMatrix& bottom,
                     const std::vector<int64_t>& order) {
  CsrMatrix out;
  out.cols = top.cols;
  const int64_t nnz = top.indices.size(0) + bottom.indices.size(0);
  out.offsets = torch::zeros({static_cast<int64_t>(order.size()) + 1}, torch::kInt64);
  out.indices = torch::empty({nnz}, torch::kInt64);
  out.values = torch::empty({nnz}, torch::kFloat32);
  auto* offset = out.offsets.data_ptr<int64_t>();
  for (size_t r = 0; r < order.size(); ++r) {
    const bool is_top = order[r] < top.rows();
    const CsrMatrix& from = is_top ? top : bottom;
    const int64_t row = is_top ? order[r] : order[r] - top.rows();
    const int64_t begin = from.offsets.data_ptr<int64_t>()[row];
    const int64_t count = from.offsets.data_ptr<int64_t>()[row + 1] - begin;
    offset[r + 1] = offset[r] + count;
    std::copy_n(from.indices.data_ptr<int64_t>() + begin, count,
                out.indices.data_ptr<int64_t>() + offset[r]);
    std::copy_n(from.values.data_ptr<float>() + begin, count,
                out.values.data_ptr<float>() + offset[r]);
  }
  return out;
}

// One-hot rows to class numbers; a row of zeros (a node without class) becomes -1.
torch::Tensor classes(const std::string& path, int64_t rows) {
  const torch::Tensor one_hot = read_pickled_array(path);
  if (one_hot.dim() != 2 || one_hot.size(0) != rows || one_hot.is_floating_point()) {
    fail(ErrorKind::data, "{}: expected whole numbers in {} rows, one-hot", path, rows);
  }
  torch::Tensor labels = torch::full({rows}, -1, torch::kInt64);
  const auto* in = one_hot.data_ptr<int64_t>();
  auto* out = labels.data_ptr<int64_t>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < one_hot.size(1); ++c, ++in) {
      if (*in == 0) continue;
      if (*in != 1 || out[r] >= 0) fail(ErrorKind::data, "{}: row {} is not one-hot", path, r);
      out[r] = c;
    }
  }
  return labels;
}

// Which stacked row each node gets: the rows of tx stand in the order of the sorted test ids, while
// test.index tells which nodes they are. Row s_r belongs to node t_r.
std::vector<int64_t> node_order(const std::string& path, int64_t known, int64_t tested) {
  std::vector<int64_t> ids;
  read_csv(path, [&](const CsvRow& row) {
    row.expect_size(1);
    ids.push_back(row.parse_int(0));
  });
  std::vector<int64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  bool fits = static_cast<int64_t>(ids.size()) == tested;
  for (int64_t r = 0; fits && r < tested; ++r) fits = sorted[r] == known + r;
  if (!fits) {
    fail(ErrorKind::data, "{}: expected each of the node numbers {} to {} once, one a line", path,
         known, known + tested - 1);
  }
  std::vector<int64_t> order(known + tested);
  for (int64_t i = 0; i < known; ++i) order[i] = i;
  for (int64_t r = 0; r < tested; ++r) order[ids[r]] = sorted[r];
  return order;
}

void read_edges(const std::string& path, int64_t nodes, Planetoid& out) {
  const Pickle pickle(path);
  if (pickle.root().kind != PickleKind::dict) {
    fail(ErrorKind::data, "{}: is not a dictionary of lists", path);
  }
  std::vector<int64_t> source, target;
  const std::vector<PickleRef>& items = pickle.root().items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const PickleValue& node = pickle.at(items[i]);
    const PickleValue& list = pickle.at(items[i + 1]);
    if (node.kind != PickleKind::integer || list.kind != PickleKind::list) {
      fail(ErrorKind::data, "{}: entry {} of the dictionary is not number -> list", path, i / 2);
    }
    for (const int64_t neighbour : integers(pickle, list)) {
      if (std::min(node.number, neighbour) < 0 || std::max(node.number, neighbour) >= nodes) {
        fail(ErrorKind::data, "{}: edge {} -> {} leaves the {} nodes", path, node.number, neighbour,
             nodes);
      }
      source.push_back(node.number);
      target.push_back(neighbour);
    }
  }
  out.source = torch::tensor(source, torch::kInt64);
  out.target = torch::tensor(target, torch::kInt64);
}

}  // namespace

CsrMatrix read_pickled_csr(const std::string& path) {
  const Pickle pickle(path);
  if (pickle.root().kind != PickleKind::csr || pickle.root().items.empty()) {
    fail(ErrorKind::data, "{}: is not a scipy csr_matrix", path);
  }
  const PickleValue& state = pickle.at(pickle.root().items[0]);
  const PickleValue& shape = member(pickle, state, "_shape");
  const std::vector<int64_t> sizes = integers(pickle, shape);
  if (sizes.size() != 2 || !element_count(sizes)) {
    fail(ErrorKind::data, "{}: the sparse matrix does not have two sizes", path);
  }
  CsrMatrix matrix;
  matrix.cols = sizes[1];
  matrix.offsets = array_tensor(pickle, member(pickle, state, "indptr"), "indptr");
  matrix.indices = array_tensor(pickle, member(pickle, state, "indices"), "indices");
  matrix.values = array_tensor(pickle, member(pickle, state, "data"), "data").to(torch::kFloat32);
  check_csr(matrix, sizes[0], path);
  return matrix;
}

torch::Tensor read_pickled_array(const std::string& path) {
  const Pickle pickle(path);
  return array_tensor(pickle, pickle.root(), "the pickle");
}

Planetoid read_planetoid(const std::string& folder, const std::string& name) {
  const std::string stem = folder + "/ind." + name + ".";
  const CsrMatrix known = read_pickled_csr(stem + "allx");
  const CsrMatrix tested = read_pickled_csr(stem + "tx");
  if (known.cols != tested.cols) {
    fail(ErrorKind::data, "{}tx: has {} columns, allx has {}", stem, tested.cols, known.cols);
  }
  const std::vector<int64_t> order = node_order(stem + "test.index", known.rows(), tested.rows());
  Planetoid out;
  out.features = stack_rows(known, tested, order);
  const torch::Tensor stacked =
      torch::cat({classes(stem + "ally", known.rows()), classes(stem + "ty", tested.rows())});
  out.labels = stacked.index_select(0, torch::tensor(order, torch::kInt64));
  read_edges(stem + "graph", static_cast<int64_t>(order.size()), out);
  return out;
}

}  // namespace grm::io
