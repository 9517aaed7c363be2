#pragma once

#include <cstdint>
#include <vector>

namespace grm::kernels {

/// One number for each of the 64 sources of a block.
template <class T>
struct alignas(64) Lanes {
  T at[64];
};

/// Neighbour lists of an undirected graph without self-loops.
struct NeighbourLists {
  int64_t nodes;
  const int64_t* offset;
  const int32_t* index;
};

/// The two limits of the influence rule: on the mean length, and on the mean log2 of path counts.
struct PathLimits {
  double max_length;
  double min_log2_paths;
};

/// Sources that pass both limits for certain, and sources that pass the first while the second is
/// too close to call with rounded logarithms. One bit for each source.
struct Verdict {
  uint64_t sure;
  uint64_t unsure;
};

/// Breadth-first search with path counting from 64 consecutive nodes at once. Every node holds a
/// contiguous vector over the 64 sources, so that one step along an edge is a few vector additions.
/// Counts are exact below 2^24 for Count = float and below 2^53 for double.
template <class Count>
class PathBlock {
 public:
  static constexpr int kLanes = 64;
  /// Logarithms are kept as 16-bit fixed point, with as many fraction bits as the range of Count
  /// leaves: log2 is below 32 for the exact floats and below 2048 for any double.
  static constexpr int kFractionBits = sizeof(Count) == 4 ? 11 : 5;

  explicit PathBlock(const NeighbourLists& graph);

  /// Searches from the nodes first .. first + sources, up to `depth` steps. False if some count
  /// left the exact range of Count; the other functions then have no meaning.
  bool search(int64_t first, int sources, int depth);

  /// Weighs all sources against the `count` > 0 nodes `members`. A source farther than `depth`
  /// from some member is never selected.
  Verdict judge(const int32_t* members, int64_t count, const PathLimits& limits) const;

  /// Number of shortest paths from the source in `lane` to `node`; 0 beyond the searched depth.
  double paths(int64_t node, int lane) const { return count_[node].at[lane]; }

 private:
  Count step(int64_t node, uint64_t reached, int length);

  NeighbourLists graph_;
  std::vector<uint64_t> seen_;                  // sources that have reached the node
  std::vector<uint64_t> front_, next_front_;    // sources that reached it in the last, this step
  std::vector<Lanes<Count>> wave_, next_wave_;  // their path counts; meaningless where front_ is 0
  std::vector<Lanes<Count>> count_;
  std::vector<Lanes<uint8_t>> length_;
  std::vector<Lanes<uint16_t>> log_;
  std::vector<uint16_t> log_table_;  // of small counts
};

}  // namespace grm::kernels
