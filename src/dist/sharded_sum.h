#pragma once

#include <memory>
#include <vector>

#include "dist/group.h"

namespace grm::dist {

/// The stage (core/stages.h) of packing, sending and summing, and of waiting for other processes.
inline constexpr char kCommunicate[] = "communicate";

/// The sum of what each shard of a step contributes, taken in the order of the shards: whoever
/// computes them, its bits are the same. Rank r computes the shards first() .. first() + count() - 1.
/// What a shard contributes travels while the next one is computed: every rank sums a part of the
/// numbers over all shards, then the parts are put together.
class ShardedSum {
 public:
  /// Error(config) unless the ranks get equally many shards.
  ShardedSum(Group& group, int64_t shards);

  int64_t first() const { return group_.rank() * count_; }
  int64_t count() const { return count_; }

  /// What the next own shard contributes, [n] on the host. The same n
  /// and type for all shards.
  void add(const torch::Tensor& numbers);
  /// [n], once all own shards were added; the next sum begins.
  torch::Tensor total();

 private:
  Group& group_;
  int64_t count_;
  int64_t size_ = 0;   // n
  torch::Tensor sum_;  // world of one
  std::vector<std::unique_ptr<Group::Exchange>> sent_;
};

/// Error(config) unless `world` processes get equally many of `shards`.
void check_shards(int64_t shards, int world);

}  // namespace grm::dist
