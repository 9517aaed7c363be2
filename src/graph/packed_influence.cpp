#include "graph/packed_influence.h"

#include <algorithm>

#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kPieceNodes = 256;  // graphs are searched together up to about this many nodes
constexpr int64_t kGraphs = 64;       // graphs that one thread unpacks at a time

int64_t words_of(int64_t nodes) {
  return (nodes + 63) / 64;
}

torch::Tensor word_offsets(const torch::Tensor& parts) {
  const int64_t graphs = parts.numel() - 1;
  const int64_t* part = parts.data_ptr<int64_t>();
  torch::Tensor first = torch::zeros({graphs + 1}, torch::kInt64);
  int64_t* offset = first.data_ptr<int64_t>();
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t nodes = part[g + 1] - part[g];
    offset[g + 1] = offset[g] + nodes * words_of(nodes);
  }
  return first;
}

// First graph of each piece, and the number of graphs at the end.
std::vector<int64_t> piece_starts(const torch::Tensor& parts) {
  const int64_t* part = parts.data_ptr<int64_t>();
  const int64_t graphs = parts.numel() - 1;
  std::vector<int64_t> starts = {0};
  for (int64_t g = 1; g < graphs; ++g) {
    if (part[g] - part[starts.back()] >= kPieceNodes) starts.push_back(g);
  }
  if (graphs > 0) starts.push_back(graphs);
  return starts;
}

Csr cut_csr(const Csr& csr, int64_t begin, int64_t end) {
  const int64_t first = csr.offset()[begin], last = csr.offset()[end];
  Csr piece;
  piece.rows = piece.cols = end - begin;
  piece.offsets = csr.offsets.slice(0, begin, end + 1) - first;
  piece.indices = csr.indices.slice(0, first, last) - begin;
  return piece;
}

// Calls use(u) for every bit u set in `count` words.
template <class Use>
void each_bit(const uint64_t* words, int64_t count, const Use& use) {
  for (int64_t w = 0; w < count; ++w) {
    for (uint64_t left = words[w]; left != 0; left &= left - 1) {
      use(w * 64 + __builtin_ctzll(left));
    }
  }
}

}  // namespace

PackedInfluence packed_influence(const Adjacency& edges, const torch::Tensor& parts,
                                 const InfluenceRule& rule) {
  ensure(!rule.sampled, "packed_influence: sets of small graphs are exact");
  PackedInfluence packed;
  packed.parts = parts.contiguous();
  packed.first_word = word_offsets(packed.parts);
  const int64_t graphs = packed.parts.numel() - 1;
  const int64_t* part = packed.parts.data_ptr<int64_t>();
  const int64_t* first_word = packed.first_word.data_ptr<int64_t>();
  packed.bits = torch::zeros({first_word[graphs]}, torch::kInt64);
  auto* bits = reinterpret_cast<uint64_t*>(packed.bits.data_ptr<int64_t>());
  // Some graphs side by side are one graph whose parts cannot reach each other. The search takes 64
  // sources at a time, so small graphs are cheapest together, and all of them at once would cost
  // the square of their number.
  const std::vector<int64_t> starts = piece_starts(packed.parts);
  parallel_chunks(static_cast<int64_t>(starts.size()) - 1, 4, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = part[starts[piece]], last = part[starts[piece + 1]];
      if (first == last) continue;
      Adjacency cut;
      cut.in = cut_csr(edges.in, first, last);
      cut.out = cut_csr(edges.out, first, last);
      const InfluenceSets sets = influence_sets(cut, rule);
      const auto* rows = reinterpret_cast<const uint64_t*>(sets.bits.data_ptr<int64_t>());
      for (int64_t g = starts[piece]; g < starts[piece + 1]; ++g) {
        const int64_t words = words_of(part[g + 1] - part[g]), offset = part[g] - first;
        for (int64_t i = part[g]; i < part[g + 1]; ++i) {
          uint64_t* row = bits + first_word[g] + (i - part[g]) * words;
          each_bit(rows + (i - first) * sets.bits.size(1), sets.bits.size(1), [&](int64_t u) {
            row[(u - offset) / 64] |= uint64_t{1} << ((u - offset) % 64);
          });
        }
      }
    }
  });
  return packed;
}

AdjacencyPtr PackedInfluence::pick(const torch::Tensor& ids) const {
  const torch::Tensor chosen = ids.contiguous();
  const int64_t* id = chosen.data_ptr<int64_t>();
  const int64_t* part = parts.data_ptr<int64_t>();
  const int64_t* word = first_word.data_ptr<int64_t>();
  const auto* all = reinterpret_cast<const uint64_t*>(bits.data_ptr<int64_t>());
  const int64_t graphs = chosen.numel();
  std::vector<int64_t> first(graphs + 1, 0), first_entry(graphs + 1, 0);
  for (int64_t b = 0; b < graphs; ++b) {
    if (id[b] < 0 || id[b] >= parts.numel() - 1) {
      fail(ErrorKind::shape, "influence: graph {} of a set of {}", id[b], parts.numel() - 1);
    }
    first[b + 1] = first[b] + part[id[b] + 1] - part[id[b]];
    first_entry[b + 1] = first_entry[b];
    for (int64_t w = word[id[b]]; w < word[id[b] + 1]; ++w) {
      first_entry[b + 1] += __builtin_popcountll(all[w]);
    }
  }
  const int64_t nodes = first[graphs], entries = first_entry[graphs];
  auto pattern = std::make_shared<Adjacency>();
  for (Csr* csr : {&pattern->in, &pattern->out}) {
    csr->rows = csr->cols = nodes;
    csr->offsets = torch::zeros({nodes + 1}, torch::kInt64);
    csr->indices = torch::empty({entries}, torch::kInt32);
  }
  pattern->out_edge = torch::empty({entries}, torch::kInt64);
  int64_t* in_offset = pattern->in.offsets.data_ptr<int64_t>();
  int64_t* out_offset = pattern->out.offsets.data_ptr<int64_t>();
  int32_t* in_index = pattern->in.indices.data_ptr<int32_t>();
  int32_t* out_index = pattern->out.indices.data_ptr<int32_t>();
  int64_t* out_edge = pattern->out_edge.data_ptr<int64_t>();
  parallel_chunks(graphs, kGraphs, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> next;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t count = first[b + 1] - first[b], words = words_of(count);
      const uint64_t* rows = all + word[id[b]];
      next.assign(count + 1, 0);
      int64_t entry = first_entry[b];
      for (int64_t i = 0; i < count; ++i) {
        each_bit(rows + i * words, words, [&](int64_t u) {
          in_index[entry++] = static_cast<int32_t>(first[b] + u);
          ++next[u + 1];
        });
        in_offset[first[b] + i + 1] = entry;
      }
      for (int64_t u = 0; u < count; ++u) {
        next[u + 1] += next[u];
        out_offset[first[b] + u + 1] = first_entry[b] + next[u + 1];
      }
      entry = first_entry[b];
      for (int64_t i = 0; i < count; ++i) {
        for (; entry < in_offset[first[b] + i + 1]; ++entry) {
          const int64_t at = first_entry[b] + next[in_index[entry] - first[b]]++;
          out_index[at] = static_cast<int32_t>(first[b] + i);
          out_edge[at] = entry;
        }
      }
    }
  });
  return pattern;
}

double PackedInfluence::mean_size() const {
  const auto* word = reinterpret_cast<const uint64_t*>(bits.data_ptr<int64_t>());
  int64_t members = 0;
  for (int64_t w = 0; w < bits.numel(); ++w) members += __builtin_popcountll(word[w]);
  const int64_t nodes = parts.data_ptr<int64_t>()[parts.numel() - 1];
  return nodes > 0 ? static_cast<double>(members) / static_cast<double>(nodes) : 0.0;
}

PackedInfluence PackedInfluence::from_tensors(const std::map<std::string, torch::Tensor>& tensors,
                                              const torch::Tensor& parts) {
  const auto found = tensors.find("graph_bits");
  PackedInfluence packed;
  packed.parts = parts.contiguous();
  packed.first_word = word_offsets(packed.parts);
  const int64_t graphs = packed.parts.numel() - 1;
  const int64_t* part = packed.parts.data_ptr<int64_t>();
  const int64_t* first_word = packed.first_word.data_ptr<int64_t>();
  if (found == tensors.end() || found->second.scalar_type() != torch::kInt64 ||
      found->second.dim() != 1 || found->second.numel() != first_word[graphs]) {
    fail(ErrorKind::data, "influence sets: 'graph_bits' must be int64 [{}]", first_word[graphs]);
  }
  packed.bits = found->second.contiguous();
  const auto* word = reinterpret_cast<const uint64_t*>(packed.bits.data_ptr<int64_t>());
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t nodes = part[g + 1] - part[g], words = words_of(nodes);
    for (int64_t i = 0; i < nodes; ++i) {
      const uint64_t* row = word + first_word[g] + i * words;
      const bool empty = std::all_of(row, row + words, [](uint64_t w) { return w == 0; });
      const bool beyond = nodes % 64 != 0 && row[words - 1] >> (nodes % 64) != 0;
      if (empty || beyond) {
        fail(ErrorKind::data, "influence sets: node {} of graph {} has {}", i, g,
             empty ? "no members" : "a member outside its graph");
      }
    }
  }
  return packed;
}

}  // namespace grm
