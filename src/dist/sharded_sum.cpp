#include "dist/sharded_sum.h"

#include <torch/types.h>

#include "core/stages.h"
#include "grm/core/error.h"

namespace grm::dist {

void check_shards(int64_t shards, int world) {
  if (shards >= 1 && shards % world == 0) return;
  fail(ErrorKind::config,
       "train.shards = {} cannot be shared by {} processes: each computes equally many shards; use "
       "{} processes or fewer that divide it, or train.shards = {} (another arithmetic)",
       shards, world, shards, (shards + world - 1) / world * world);
}

ShardedSum::ShardedSum(Group& group, int64_t shards) : group_(group) {
  check_shards(shards, group.world());
  count_ = shards / group.world();
}

void ShardedSum::add(const torch::Tensor& numbers) {
  const Stage stage(kCommunicate);
  const at::NoGradGuard no_grad;
  const int64_t world = group_.world();
  ensure(numbers.dim() == 1, "ShardedSum: one row of numbers");
  ensure(size_ == 0 || size_ == numbers.numel(), "ShardedSum: shards differ in their numbers");
  size_ = numbers.numel();
  if (world == 1) {
    sum_ = sum_.defined() ? sum_ + numbers : numbers;
    return;
  }
  const int64_t part = (size_ + world - 1) / world;
  torch::Tensor rows = torch::zeros({world * part}, numbers.options());
  rows.narrow(0, 0, size_).copy_(numbers);
  sent_.push_back(group_.exchange(rows.view({world, part})));
}

torch::Tensor ShardedSum::total() {
  const Stage stage(kCommunicate);
  const at::NoGradGuard no_grad;
  torch::Tensor sum = sum_;
  if (group_.world() > 1) {
    ensure(static_cast<int64_t>(sent_.size()) == count_, "ShardedSum: a shard is missing");
    std::vector<torch::Tensor> came;  // for each place among a rank's shards: [world, part]
    for (const auto& each : sent_) came.push_back(each->wait());
    for (int64_t r = 0; r < group_.world(); ++r) {
      for (int64_t j = 0; j < count_; ++j) {
        const torch::Tensor part = came[j][r];
        sum = sum.defined() ? sum + part : part;
      }
    }
    sum = group_.gather(sum).view({-1}).narrow(0, 0, size_);
  }
  sum_ = torch::Tensor();
  sent_.clear();
  size_ = 0;
  return sum;
}

}  // namespace grm::dist
