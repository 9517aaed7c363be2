#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grm/data/task.h"

// Mapped graphs: a folder with graph.json and one file of plain little-endian numbers for each
// array, which are read page by page as they are needed. docs/large.md describes the form.
namespace grm::mapped {

constexpr int64_t kVersion = 1;
extern const std::string kHeadFile;  // graph.json

enum class Number { i32, i64, f32 };
GRM_WORDS(Number, "i32", "i64", "f32")
int64_t size_of(Number type);

/// What is in an array's file. Its name follows from where it belongs (array_file).
struct Array {
  Number type = Number::i64;
  int64_t count = 0;
  std::string checksum;  // 16 hexadecimal digits
};

/// The arrays of a graph, by what they hold; those below have these types and counts, others are
/// refused. n nodes, m edges, d dense columns, s sparse entries, k columns of edges.
///   in_offsets i64 n + 1   in_indices i32 m      y i64 n
///   x f32 n d              sparse_offsets i64 n + 1   sparse_indices i32 s   sparse_values f32 s
///   shift f32 columns      edge_weights f32 m    edge_x f32 m k
using Arrays = std::map<std::string, Array>;

struct GraphHead {
  std::string name;
  int64_t nodes = 0, edges = 0;
  int64_t dense = 0, sparse = 0;  // columns of features
  int64_t edge_features = 0;
  bool symmetric = false;  // every pair is there in both directions
  Arrays arrays;
};

/// A domain: a graph, and the nodes of it that count ("loss" and "evaluate", i64, ascending; where
/// one is missing, all nodes with a label).
struct DomainHead {
  Role role = Role::train;
  std::string name, group;
  int64_t graph = 0;
  Arrays arrays;
};

struct Head {
  std::string name, origin;
  int64_t classes = 0;
  LossKind loss = LossKind::softmax;
  MetricKind metric = MetricKind::accuracy;
  std::vector<std::string> label_names, feature_names, notes;
  std::vector<GraphHead> graphs;
  std::vector<DomainHead> domains;
};

std::string to_json(const Head& head);
/// Error(data) naming `origin` for what is missing, out of range or does not fit together.
Head head_from_json(const std::string& text, const std::string& origin);

/// The head of a folder in one piece.
Head read_head(const std::string& folder);

/// "graph0.x.f32", "domain2.loss.i64".
std::string array_file(const std::string& owner, size_t index, const std::string& what,
                       Number type);

/// A checksum of bytes that come piece by piece, in pieces whose sizes are multiples of 8 but for
/// the last: against torn and damaged files, not against people.
class Checksum {
 public:
  void add(const void* bytes, size_t count);
  std::string text() const;

 private:
  uint64_t sum_ = 0x9e3779b97f4a7c15ULL;
  uint64_t length_ = 0;
};

}  // namespace grm::mapped
