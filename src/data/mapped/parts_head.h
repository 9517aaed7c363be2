#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/mapped/head.h"

// Mapped graphs in parts: a folder with parts.json, the head of the folder that was cut (graph.json
// under another name), what all processes read whole (labels, lists of nodes, and where each node's
// row is), and a folder of arrays for each part. docs/large.md describes the form.
namespace grm::mapped {

constexpr int64_t kPartsVersion = 1;
constexpr int64_t kMostParts = 256;
extern const std::string kPartsFile;  // parts.json
extern const std::string kWholeFile;  // whole.json

/// How nodes are given to parts.
enum class PartBy { metis, hash };
GRM_WORDS(PartBy, "metis", "hash")

/// A part of a graph: its nodes' rows, in the order of the nodes.
struct PartHead {
  int64_t nodes = 0, edges = 0;
  int64_t cut = 0;  // edges that come from nodes of other parts
  Arrays arrays;
};

struct PartedHead {
  Array where;  // i64 n: part << 32 | row there
  std::vector<PartHead> parts;
};

struct PartsHead {
  int64_t parts = 0;
  PartBy by = PartBy::hash;
  std::string whole_hash;  // SHA-256 of the head of the folder that was cut
  Head whole;              // in a file of its own
  std::vector<PartedHead> graphs;
};

/// Without `whole`.
std::string to_json(const PartsHead& head);
/// Error(data) for what is missing or does not fit together.
PartsHead read_parts_head(const std::string& folder);

/// "DIR/part3/graph0.x.f32".
std::string part_file(const std::string& folder, int64_t part, size_t graph,
                      const std::string& what, Number type);

}  // namespace grm::mapped
