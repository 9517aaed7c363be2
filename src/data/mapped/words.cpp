#include "data/mapped/words.h"

#include <torch/types.h>

#include <algorithm>
#include <cstring>

#include "grm/core/error.h"

namespace grm::mapped {
namespace {

int64_t usual_entries(const PartsOfGraph& of) {
  int64_t entries = 0, rows = 0;
  for (const PartRows& part : of.parts) {
    if (!part.sparse.offsets.defined()) continue;
    entries += part.sparse.nnz();
    rows += part.sparse.rows;
  }
  return (entries + rows) / std::max<int64_t>(rows, 1);
}

}  // namespace

void add_words(Words& words, const void* numbers, int64_t count) {
  if (count == 0) return;
  const size_t before = words.size();
  words.resize(before + static_cast<size_t>(count));
  std::memcpy(words.data() + before, numbers, static_cast<size_t>(count) * 4);
}

RowWords::RowWords(const PartsOfGraph& of)
    : dense_(of.dense), sparse_(of.sparse), entry_(of.sparse_valued ? 2 : 1) {
  most_ = sparse_ == 0 ? dense_ : 1 + 4 * usual_entries(of) * entry_ + dense_;
}

int64_t RowWords::length(const int32_t* row) const {
  return sparse_ == 0 ? dense_ : 1 + row[0] * entry_ + dense_;
}

void RowWords::add(Words& words, const PartRows& rows, int64_t row) const {
  if (sparse_ > 0) {
    const int64_t begin = rows.sparse.offset()[row];
    const int64_t count = rows.sparse.offset()[row + 1] - begin;
    words.push_back(static_cast<int32_t>(count));
    if (count > 0) {
      add_words(words, rows.sparse.index() + begin, count);
      if (entry_ == 2) add_words(words, rows.sparse_values.data_ptr<float>() + begin, count);
    }
  }
  if (dense_ > 0) add_words(words, rows.x.data_ptr<float>() + row * dense_, dense_);
}

Features RowWords::features(const std::vector<const int32_t*>& rows,
                            const torch::Tensor& shift) const {
  const auto count = static_cast<int64_t>(rows.size());
  Features x;
  x.shift = shift;
  if (dense_ > 0) {
    x.dense = torch::empty({count, dense_}, torch::kFloat32);
    auto* to = x.dense.data_ptr<float>();
    for (int64_t k = 0; k < count; ++k) {
      const int32_t* row = rows[static_cast<size_t>(k)];
      std::memcpy(to + k * dense_, row + length(row) - dense_, static_cast<size_t>(dense_) * 4);
    }
  }
  if (sparse_ > 0) add_sparse(x, rows);
  return x;
}

void RowWords::add_sparse(Features& x, const std::vector<const int32_t*>& rows) const {
  Csr in;
  in.rows = static_cast<int64_t>(rows.size());
  in.cols = sparse_;
  in.offsets = torch::zeros({in.rows + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  for (int64_t k = 0; k < in.rows; ++k) {
    offset[k + 1] = offset[k] + rows[static_cast<size_t>(k)][0];
  }
  in.indices = torch::empty({offset[in.rows]}, torch::kInt32);
  if (entry_ == 2) x.sparse_values = torch::empty({offset[in.rows]}, torch::kFloat32);
  for (int64_t k = 0; k < in.rows; ++k) {
    const int32_t* row = rows[static_cast<size_t>(k)];
    if (row[0] == 0) continue;
    std::copy_n(row + 1, row[0], in.indices.data_ptr<int32_t>() + offset[k]);
    if (entry_ == 1) continue;
    std::memcpy(x.sparse_values.data_ptr<float>() + offset[k], row + 1 + row[0],
                static_cast<size_t>(row[0]) * 4);
  }
  x.sparse = with_transpose(std::move(in));
}

Words words_of(const DrawnLists& lists) {
  Words words;
  int64_t begin = 0;
  for (int64_t k = 0; k < lists.nodes(); ++k) {
    words.push_back(static_cast<int32_t>(lists.ends[k] - begin));
    words.push_back(lists.stored[k]);
    words.push_back(lists.loops[k]);
    add_words(words, &lists.degrees[k], 1);
    begin = lists.ends[k];
  }
  add_words(words, lists.sources.data(), static_cast<int64_t>(lists.sources.size()));
  add_words(words, lists.edge_data.data(), static_cast<int64_t>(lists.edge_data.size()));
  return words;
}

DrawnLists lists_of(const torch::Tensor& words, int64_t nodes, int64_t edge_width) {
  const auto fits = [&](bool so) { ensure(so, "an answer about neighbours is of another length"); };
  fits(words.numel() >= 4 * nodes);
  const int32_t* word = words.data_ptr<int32_t>();
  DrawnLists lists;
  int64_t total = 0;
  for (int64_t k = 0; k < nodes; ++k, word += 4) {
    total += word[0];
    lists.ends.push_back(total);
    lists.stored.push_back(word[1]);
    lists.loops.push_back(static_cast<uint8_t>(word[2]));
    float degree = 0;
    std::memcpy(&degree, word + 3, 4);
    lists.degrees.push_back(degree);
  }
  fits(words.numel() == 4 * nodes + total * (1 + edge_width));
  lists.sources.assign(word, word + total);
  lists.edge_data.resize(static_cast<size_t>(total * edge_width));
  if (!lists.edge_data.empty()) {
    std::memcpy(lists.edge_data.data(), word + total, lists.edge_data.size() * 4);
  }
  return lists;
}

}  // namespace grm::mapped
