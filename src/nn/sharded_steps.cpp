#include "nn/sharded_steps.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"

namespace grm::nn {

ShardedSteps::ShardedSteps(const ParameterSet& set, const Sharding& sharding)
    : set_(set), sharding_(sharding), sum_(dist::group_or_alone(sharding.group), sharding.shards) {
  ensure(set.device().is_cpu(), "steps are cut into shards on the host alone");
}

void ShardedSteps::run(const When& when, const StepRecorder::Body& body) {
  std::vector<torch::Tensor> before, kept;
  for (const auto& [name, buffer] : set_.buffers()) before.push_back(buffer.clone());
  for (const auto& [name, parameter] : set_.parameters()) {
    kept.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
  std::vector<Adam*> taken;
  for (int64_t shard = sum_.first(); shard < sum_.first() + sum_.count(); ++shard) {
    taken.clear();
    Step step({when.epoch, when.step, shard, sharding_.shards}, set_.device(), nullptr, {});
    step.taken_ = &taken;
    body(step);
    values_.push_back(step.values_);
    sum_.add(contribution(before, step.share_));
  }
  if (!taken.empty()) kept.clear();
  take(sum_.total(), before, kept);
  for (Adam* optimiser : taken) optimiser->step();
}

// The gradients, zero where there are none; which there are; the buffers' moves. All is put back as
// it was before the shard.
torch::Tensor ShardedSteps::contribution(const std::vector<torch::Tensor>& before,
                                         double share) const {
  const Stage stage(dist::kCommunicate);
  const at::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts;
  torch::Tensor there =
      torch::zeros({static_cast<int64_t>(set_.parameters().size())}, set_.dtype());
  for (size_t k = 0; k < set_.parameters().size(); ++k) {
    const torch::Tensor& parameter = set_.parameters()[k].second;
    const torch::Tensor gradient = parameter.grad();
    if (gradient.defined()) there[static_cast<int64_t>(k)] = 1.0;
    parts.push_back(gradient.defined() ? gradient.reshape({-1})
                                       : torch::zeros({parameter.numel()}, set_.dtype()));
    parameter.mutable_grad().reset();
  }
  parts.push_back(there);
  for (size_t k = 0; k < before.size(); ++k) {
    const torch::Tensor& buffer = set_.buffers()[k].second;
    parts.push_back((buffer - before[k]).mul_(share).reshape({-1}));
    torch::Tensor(buffer).copy_(before[k]);
  }
  return torch::cat(parts);
}

void ShardedSteps::take(const torch::Tensor& total, const std::vector<torch::Tensor>& before,
                        const std::vector<torch::Tensor>& kept) {
  const Stage stage(dist::kCommunicate);
  const at::NoGradGuard no_grad;
  const auto count = static_cast<int64_t>(set_.parameters().size());
  int64_t at = 0;
  const auto next = [&](const torch::Tensor& like) {
    at += like.numel();
    return total.narrow(0, at - like.numel(), like.numel()).view(like.sizes());
  };
  for (const auto& [name, parameter] : set_.parameters())
    parameter.mutable_grad() = next(parameter);
  const torch::Tensor there = next(torch::empty({count})).to(torch::kFloat64);
  for (int64_t k = 0; k < count; ++k) {
    const torch::Tensor& parameter = set_.parameters()[static_cast<size_t>(k)].second;
    const torch::Tensor old = kept.empty() ? torch::Tensor() : kept[static_cast<size_t>(k)];
    if (there.data_ptr<double>()[k] == 0.0) {
      parameter.mutable_grad() = old;  // no shard has one: optimisers leave it alone
    } else if (old.defined()) {
      parameter.mutable_grad() = old + parameter.grad();
    }
  }
  for (size_t k = 0; k < before.size(); ++k) {
    torch::Tensor(set_.buffers()[k].second).copy_(before[k] + next(before[k]));
  }
}

std::vector<std::vector<double>> ShardedSteps::read() {
  dist::Group& group = dist::group_or_alone(sharding_.group);
  const int64_t own = sum_.count();
  const auto steps = static_cast<int64_t>(values_.size()) / own;
  int64_t width = 0;
  for (const torch::Tensor& values : values_) {
    if (values.defined()) width = std::max(width, values.numel());
  }
  // Shards that were empty do not know how many numbers the others have.
  width = group.gather(torch::full({1}, width, torch::kInt64)).max().item<int64_t>();
  torch::Tensor mine = torch::zeros({steps, own, width}, torch::kFloat64);
  for (int64_t k = 0; k < steps * own; ++k) {
    if (values_[k].defined()) mine[k / own][k % own].copy_(values_[k]);
  }
  values_.clear();
  const torch::Tensor all = group.gather(mine);  // [world, steps, own, width]
  std::vector<std::vector<double>> sums;
  for (int64_t s = 0; s < steps; ++s) {
    torch::Tensor sum = torch::zeros({width}, torch::kFloat64);
    for (int64_t r = 0; r < all.size(0); ++r) {
      for (int64_t j = 0; j < own; ++j) sum += all[r][s][j];
    }
    sums.emplace_back(sum.data_ptr<double>(), sum.data_ptr<double>() + width);
  }
  return sums;
}

}  // namespace grm::nn
