#include "grm/graph/adjacency.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {
namespace {

torch::Tensor new_int32(int64_t n) {
  return torch::empty({n}, torch::kInt32);
}

Csr copied(const Csr& from, const torch::Device& device) {
  Csr copy = from;
  copy.offsets = on_device(from.offsets, device);
  copy.indices = on_device(from.indices, device);
  const int64_t* offset = from.offset();
  copy.longest = 0;
  for (int64_t i = 0; i < from.rows; ++i) {
    copy.longest = std::max(copy.longest, offset[i + 1] - offset[i]);
  }
  return copy;
}

}  // namespace

const Adjacency& Adjacency::on(const torch::Device& device) const {
  if (in.offsets.device() == device) return *this;
  ensure(in.offsets.device().is_cpu(), "a pattern is wanted on another device than it was made on");
  static std::mutex mutex;  // copies are rare, so one for all patterns will do
  const std::lock_guard<std::mutex> lock(mutex);
  if (!copy || copy->in.offsets.device() != device) {
    auto made = std::make_shared<Adjacency>();
    made->in = copied(in, device);
    made->out = copied(out, device);
    made->out_edge = on_device(out_edge, device);
    copy = std::move(made);
  }
  return *copy;
}

AdjacencyPtr with_transpose(Csr in) {
  auto result = std::make_shared<Adjacency>();
  const int64_t nnz = in.nnz();
  Csr& out = result->out;
  out.rows = in.cols;
  out.cols = in.rows;
  out.offsets = torch::zeros({in.cols + 1}, torch::kInt64);
  out.indices = new_int32(nnz);
  result->out_edge = empty_indices(nnz);
  int64_t* offset = out.offsets.data_ptr<int64_t>();
  int32_t* index = out.indices.data_ptr<int32_t>();
  int64_t* edge = result->out_edge.data_ptr<int64_t>();
  // Counting sort by source: rows of `in` are visited in order, so each row of `out` is ascending.
  const int32_t* source = in.index();
  for (int64_t e = 0; e < nnz; ++e) ++offset[source[e] + 1];
  for (int64_t j = 0; j < in.cols; ++j) offset[j + 1] += offset[j];
  std::vector<int64_t> next(offset, offset + in.cols);
  const int64_t* row = in.offset();
  for (int64_t i = 0; i < in.rows; ++i) {
    for (int64_t e = row[i]; e < row[i + 1]; ++e) {
      const int64_t at = next[source[e]]++;
      index[at] = static_cast<int32_t>(i);
      edge[at] = e;
    }
  }
  result->in = std::move(in);
  return result;
}

AdjacencyPtr make_adjacency(int64_t rows, int64_t cols, const torch::Tensor& source,
                            const torch::Tensor& target) {
  if (rows > INT32_MAX || cols > INT32_MAX) {
    fail(ErrorKind::data, "a graph of {} nodes is beyond the limit of {}", std::max(rows, cols),
         INT32_MAX);
  }
  const torch::Tensor s = source.to(torch::kInt64).contiguous();
  const torch::Tensor t = target.to(torch::kInt64).contiguous();
  if (s.numel() != t.numel()) {
    fail(ErrorKind::shape, "{} sources but {} targets of edges", s.numel(), t.numel());
  }
  const int64_t pairs = s.numel();
  const int64_t* sp = s.data_ptr<int64_t>();
  const int64_t* tp = t.data_ptr<int64_t>();
  std::vector<int64_t> offset(rows + 1, 0);
  for (int64_t k = 0; k < pairs; ++k) {
    if (sp[k] < 0 || sp[k] >= cols || tp[k] < 0 || tp[k] >= rows) {
      fail(ErrorKind::data,
           "edge {} is {} -> {}, but sources must lie in 0..{} and targets in 0..{}", k, sp[k],
           tp[k], cols - 1, rows - 1);
    }
    ++offset[tp[k] + 1];
  }
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  std::vector<int32_t> sorted(pairs);
  std::vector<int64_t> next(offset.begin(), offset.end() - 1);
  for (int64_t k = 0; k < pairs; ++k) sorted[next[tp[k]]++] = static_cast<int32_t>(sp[k]);

  Csr in;
  in.rows = rows;
  in.cols = cols;
  in.offsets = torch::zeros({rows + 1}, torch::kInt64);
  int64_t* merged = in.offsets.data_ptr<int64_t>();
  int64_t kept = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto begin = sorted.begin() + offset[i], end = sorted.begin() + offset[i + 1];
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    kept = std::copy(begin, last, sorted.begin() + kept) - sorted.begin();
    merged[i + 1] = kept;
  }
  in.indices = new_int32(kept);
  std::copy_n(sorted.begin(), kept, in.indices.data_ptr<int32_t>());
  return with_transpose(std::move(in));
}

std::pair<torch::Tensor, torch::Tensor> edge_list(const Adjacency& edges) {
  if (!edges.in.offsets.device().is_cpu()) {
    const torch::Tensor& offsets = edges.in.offsets;
    const torch::Tensor degree = offsets.slice(0, 1) - offsets.slice(0, 0, edges.rows());
    // With the number of pairs given, the host does not wait for it.
    const torch::Tensor target = torch::repeat_interleave(
        torch::arange(edges.rows(), offsets.options()), degree, /*dim=*/0, edges.nnz());
    return {edges.in.indices.to(torch::kInt64), target};
  }
  torch::Tensor target = empty_indices(edges.nnz());
  int64_t* t = target.data_ptr<int64_t>();
  for (int64_t i = 0; i < edges.rows(); ++i) {
    std::fill(t + edges.in.offset()[i], t + edges.in.offset()[i + 1], i);
  }
  return {edges.in.indices.to(torch::kInt64), target};
}

AdjacencyPtr symmetrised(const Adjacency& edges) {
  ensure(edges.rows() == edges.cols(), "symmetrised: the pattern is not square");
  const auto [source, target] = edge_list(edges);
  return make_adjacency(edges.rows(), edges.rows(), torch::cat({source, target}),
                        torch::cat({target, source}));
}

AdjacencyPtr with_self_loops(const Adjacency& edges, torch::Tensor* edge_of_input) {
  ensure(edges.rows() <= edges.cols(), "with_self_loops: a row has no column of its own");
  const int64_t n = edges.rows();
  const int64_t* offset = edges.in.offset();
  const int32_t* index = edges.in.index();
  std::vector<int32_t> merged;
  merged.reserve(edges.nnz() + n);
  torch::Tensor moved = empty_indices(edges.nnz());
  int64_t* to = moved.data_ptr<int64_t>();
  Csr in;
  in.rows = n;
  in.cols = edges.cols();
  in.offsets = torch::zeros({n + 1}, torch::kInt64);
  int64_t* new_offset = in.offsets.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    bool placed = false;
    for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
      if (!placed && index[e] >= i) {
        if (index[e] > i) merged.push_back(static_cast<int32_t>(i));
        placed = true;
      }
      to[e] = static_cast<int64_t>(merged.size());
      merged.push_back(index[e]);
    }
    if (!placed) merged.push_back(static_cast<int32_t>(i));
    new_offset[i + 1] = static_cast<int64_t>(merged.size());
  }
  in.indices = new_int32(static_cast<int64_t>(merged.size()));
  std::copy(merged.begin(), merged.end(), in.indices.data_ptr<int32_t>());
  if (edge_of_input) *edge_of_input = moved;
  return with_transpose(std::move(in));
}

}  // namespace grm
