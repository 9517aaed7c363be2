#include "io/sst2_graph.h"

#include <cstring>

#include "core/files.h"
#include "grm/core/error.h"

namespace grm::io {
namespace {

constexpr size_t kHead = 16;

// `count` numbers from byte `at` on, which then moves behind them; the caller knows they are there.
torch::Tensor take(const std::string& bytes, size_t& at, int64_t count) {
  torch::Tensor numbers = torch::empty({count}, torch::kInt32);
  const size_t size = static_cast<size_t>(count) * sizeof(int32_t);
  if (size > 0) std::memcpy(numbers.data_ptr(), bytes.data() + at, size);
  at += size;
  return numbers.to(torch::kInt64);
}

void check_trees(const SentenceTrees& trees, const std::string& path) {
  const int64_t sentences = trees.labels.numel(), tokens = trees.token.numel();
  const int64_t* part = trees.parts.data_ptr<int64_t>();
  const int64_t* token = trees.token.data_ptr<int64_t>();
  const int64_t* parent = trees.parent.data_ptr<int64_t>();
  if (part[0] != 0 || part[sentences] != tokens) {
    fail(ErrorKind::data, "{}: the offsets run from {} to {}, not from 0 to {}", path, part[0],
         part[sentences], tokens);
  }
  for (int64_t i = 0; i < sentences; ++i) {  // a falling offset shows here before it is used
    if (part[i + 1] <= part[i] || part[i + 1] > tokens) {
      fail(ErrorKind::data, "{}: sentence {} has its tokens from {} to {}", path, i, part[i],
           part[i + 1]);
    }
    for (int64_t k = part[i]; k < part[i + 1]; ++k) {
      if (token[k] < 0 || token[k] >= trees.vocabulary) {
        fail(ErrorKind::data, "{}: token {} of sentence {} is word {} of {}", path, k - part[i], i,
             token[k], trees.vocabulary);
      }
      if (parent[k] < -1 || parent[k] >= part[i + 1] - part[i] || parent[k] == k - part[i]) {
        fail(ErrorKind::data, "{}: token {} of sentence {} has the head {} among {} tokens", path,
             k - part[i], i, parent[k], part[i + 1] - part[i]);
      }
    }
  }
}

}  // namespace

SentenceTrees read_sentence_trees(const std::string& path) {
  const std::string bytes = read_file(path);
  if (bytes.size() < kHead || bytes.compare(0, 4, "SSTG") != 0) {
    fail(ErrorKind::data, "{}: does not begin with SSTG and three numbers", path);
  }
  int32_t counts[3];
  std::memcpy(counts, bytes.data() + 4, sizeof(counts));
  const int64_t n = counts[0], tokens = counts[1];
  const int64_t expected = static_cast<int64_t>(kHead) + 4 * (2 * n + 1 + 2 * tokens);
  if (n < 0 || tokens < 0 || static_cast<int64_t>(bytes.size()) != expected) {
    fail(ErrorKind::data, "{}: {} bytes, but {} sentences of {} tokens take {}", path, bytes.size(),
         n, tokens, expected);
  }
  size_t at = kHead;
  SentenceTrees trees;
  trees.vocabulary = counts[2];
  trees.labels = take(bytes, at, n);
  trees.parts = take(bytes, at, n + 1);
  trees.token = take(bytes, at, tokens);
  trees.parent = take(bytes, at, tokens);
  check_trees(trees, path);
  return trees;
}

torch::Tensor read_float_table(const std::string& path, int64_t rows, int64_t columns) {
  const std::string bytes = read_file(path);
  const int64_t expected = rows * columns * static_cast<int64_t>(sizeof(float));
  if (static_cast<int64_t>(bytes.size()) != expected) {
    fail(ErrorKind::data, "{}: {} bytes, but {} rows of {} numbers take {}", path, bytes.size(),
         rows, columns, expected);
  }
  torch::Tensor table = torch::empty({rows, columns}, torch::kFloat32);
  if (expected > 0) std::memcpy(table.data_ptr(), bytes.data(), bytes.size());
  return table;
}

}  // namespace grm::io
