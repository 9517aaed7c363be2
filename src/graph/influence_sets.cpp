#include <algorithm>
#include <string_view>

#include "core/files.h"
#include "graph/influence.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

int64_t words_for(int64_t nodes) {
  return (nodes + 63) / 64;
}

const uint64_t* bit_row(const InfluenceSets& sets, int64_t i) {
  return reinterpret_cast<const uint64_t*>(sets.bits.data_ptr<int64_t>()) + i * sets.bits.size(1);
}

int64_t count_bits(const uint64_t* words, int64_t count) {
  int64_t total = 0;
  for (int64_t w = 0; w < count; ++w) total += __builtin_popcountll(words[w]);
  return total;
}

void list_bits(const uint64_t* words, int64_t count, int32_t* out) {
  for (int64_t w = 0; w < count; ++w) {
    for (uint64_t left = words[w]; left != 0; left &= left - 1) {
      *out++ = static_cast<int32_t>(w * 64 + __builtin_ctzll(left));
    }
  }
}

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

InfluenceSets from_bits(const torch::Tensor& bits) {
  if (bits.scalar_type() != torch::kInt64 || bits.dim() != 2 ||
      bits.size(1) != words_for(bits.size(0))) {
    fail(ErrorKind::data, "influence sets: 'bits' must be int64 [n, ceil(n / 64)]");
  }
  InfluenceSets sets;
  sets.nodes = bits.size(0);
  sets.bits = bits.contiguous();
  const int64_t words = sets.bits.size(1), spare = words * 64 - sets.nodes;
  for (int64_t i = 0; i < sets.nodes; ++i) {
    const uint64_t* row = bit_row(sets, i);
    if (spare > 0 && row[words - 1] >> (64 - spare) != 0) {
      fail(ErrorKind::data, "influence sets: row {} holds a node beyond {}", i, sets.nodes - 1);
    }
    if (count_bits(row, words) == 0) fail(ErrorKind::data, "influence sets: row {} is empty", i);
  }
  return sets;
}

InfluenceSets from_lists(const torch::Tensor& offsets, const torch::Tensor& indices) {
  if (offsets.scalar_type() != torch::kInt64 || offsets.dim() != 1 || offsets.numel() < 1 ||
      indices.scalar_type() != torch::kInt32 || indices.dim() != 1) {
    fail(ErrorKind::data, "influence sets: 'offsets' must be int64 [n + 1], 'indices' int32 [m]");
  }
  Csr in;
  in.rows = in.cols = offsets.numel() - 1;
  in.offsets = offsets.contiguous();
  in.indices = indices.contiguous();
  const int64_t* offset = in.offset();
  const int32_t* index = in.index();
  if (offset[0] != 0 || offset[in.rows] != in.nnz()) {
    fail(ErrorKind::data, "influence sets: offsets run from {} to {}, expected 0 to {}", offset[0],
         offset[in.rows], in.nnz());
  }
  for (int64_t i = 0; i < in.rows; ++i) {
    const int64_t begin = offset[i], end = offset[i + 1];
    bool good = begin >= 0 && begin < end && end <= in.nnz() && index[begin] >= 0 &&
                index[end - 1] < in.cols;
    for (int64_t e = begin + 1; good && e < end; ++e) good = index[e - 1] < index[e];
    if (!good) {
      fail(ErrorKind::data, "influence sets: row {} is not an ascending list of nodes below {}", i,
           in.cols);
    }
  }
  InfluenceSets sets;
  sets.nodes = in.rows;
  sets.sparse = with_transpose(std::move(in));
  return sets;
}

}  // namespace

int64_t InfluenceSets::size(int64_t i) const {
  if (exact()) return count_bits(bit_row(*this, i), bits.size(1));
  return sparse->in.offset()[i + 1] - sparse->in.offset()[i];
}

bool InfluenceSets::contains(int64_t i, int64_t u) const {
  if (exact()) return (bit_row(*this, i)[u / 64] >> (u % 64) & 1) != 0;
  const int32_t* index = sparse->in.index();
  return std::binary_search(index + sparse->in.offset()[i], index + sparse->in.offset()[i + 1],
                            static_cast<int32_t>(u));
}

double InfluenceSets::mean_size() const {
  double total = 0.0;
  for (int64_t i = 0; i < nodes; ++i) total += static_cast<double>(size(i));
  return nodes > 0 ? total / static_cast<double>(nodes) : 0.0;
}

AdjacencyPtr InfluenceSets::rows(const torch::Tensor& ids) const {
  const torch::Tensor wanted = ids.to(torch::kInt64).contiguous();
  const int64_t* id = wanted.data_ptr<int64_t>();
  Csr in;
  in.rows = wanted.numel();
  in.cols = nodes;
  in.offsets = torch::zeros({in.rows + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  for (int64_t k = 0; k < in.rows; ++k) {
    if (id[k] < 0 || id[k] >= nodes) {
      fail(ErrorKind::data, "influence sets of node {}: the graph has nodes 0..{}", id[k],
           nodes - 1);
    }
    offset[k + 1] = offset[k] + size(id[k]);
  }
  in.indices = torch::empty({offset[in.rows]}, torch::kInt32);
  int32_t* index = in.indices.data_ptr<int32_t>();
  parallel_chunks(in.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (exact()) {
        list_bits(bit_row(*this, id[k]), bits.size(1), index + offset[k]);
      } else {
        std::copy_n(sparse->in.index() + sparse->in.offset()[id[k]], size(id[k]),
                    index + offset[k]);
      }
    }
  });
  return with_transpose(std::move(in));
}

std::map<std::string, torch::Tensor> InfluenceSets::to_tensors() const {
  if (exact()) return {{"bits", bits}};
  return {{"offsets", sparse->in.offsets}, {"indices", sparse->in.indices}};
}

InfluenceSets InfluenceSets::from_tensors(const std::map<std::string, torch::Tensor>& tensors) {
  const auto bits = tensors.find("bits");
  if (bits != tensors.end()) return from_bits(bits->second);
  const auto offsets = tensors.find("offsets"), indices = tensors.find("indices");
  if (offsets == tensors.end() || indices == tensors.end()) {
    fail(ErrorKind::data, "influence sets: neither 'bits' nor 'offsets' and 'indices' are there");
  }
  return from_lists(offsets->second, indices->second);
}

std::string influence_key(const Adjacency& edges, const InfluenceRule& rule) {
  constexpr int kAlgorithm = 1;  // raise it when the same input would give other sets
  std::string key =
      fmt::format("influence {} nodes {} offsets {} indices {} length {} paths {}", kAlgorithm,
                  edges.rows(), sha256(bytes_of(edges.in.offsets)),
                  sha256(bytes_of(edges.in.indices)), rule.max_length, rule.min_paths);
  if (rule.sampled) {
    key += fmt::format(" sampled members {} neighbours {} seed {}", rule.members, rule.neighbours,
                       rule.seed);
  }
  return key;
}

}  // namespace grm
