#include "graph/influence_device.h"

#include <algorithm>
#include <cmath>

#include "graph/influence_product.h"
#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {
namespace {

constexpr int64_t kMostBlocks = 256;
constexpr double kShareOfFree = 0.25;  // of the free device memory, for the searches

torch::Tensor to_device(const void* from, int64_t n, torch::Dtype dtype,
                        const torch::Device& device) {
  if (n == 0) return torch::empty({0}, torch::dtype(dtype).device(device));
  // from_blob takes no pointer to const, but nothing writes here.
  return torch::from_blob(const_cast<void*>(from), {n}, torch::dtype(dtype)).to(device);
}

}  // namespace

kernels::NeighbourLists DeviceBlockSearch::DeviceLists::view() const {
  return {offsets.numel() - 1, offsets.data_ptr<int64_t>(), indices.data_ptr<int32_t>()};
}

DeviceBlockSearch::DeviceBlockSearch(const kernels::NeighbourLists& graph,
                                     const kernels::NeighbourLists& members,
                                     const InfluenceRule& rule, const torch::Device& device)
    : nodes_(graph.nodes),
      members_(members),
      rule_(rule),
      depth_(static_cast<int>(std::floor(rule.max_length)) + 2),
      device_(device) {
  const auto copied = [&](const kernels::NeighbourLists& lists) {
    return DeviceLists{to_device(lists.offset, lists.nodes + 1, torch::kInt64, device),
                       to_device(lists.index, lists.offset[lists.nodes], torch::kInt32, device)};
  };
  graph_there_ = copied(graph);
  members_there_ = copied(members);
  const double each = static_cast<double>(kernels::path_workspace_bytes<float>(nodes_, 1));
  const double free = static_cast<double>(device_memory(device).free) * kShareOfFree;
  const int64_t all = (nodes_ + kernels::kPathLanes - 1) / kernels::kPathLanes;
  const auto fitting = static_cast<int64_t>(free / std::max(each, 1.0));
  blocks_at_once_ = std::max<int64_t>(1, std::min({fitting, kMostBlocks, all}));
  const size_t bytes = std::max(kernels::path_workspace_bytes<float>(nodes_, blocks_at_once_),
                                kernels::path_workspace_bytes<double>(nodes_, 1));
  work_ = torch::empty({static_cast<int64_t>(bytes)}, torch::dtype(torch::kUInt8).device(device));
  inexact_ = torch::empty({blocks_at_once_}, torch::dtype(torch::kInt32).device(device));
}

torch::Tensor DeviceBlockSearch::run(int64_t first, int64_t count) {
  ensure(count <= blocks_at_once_, "influence: more blocks than fit the device");
  const auto options = torch::dtype(torch::kInt64).device(device_);
  torch::Tensor sure = torch::empty({nodes_, count}, options);
  torch::Tensor unsure = torch::empty({nodes_, count}, options);
  const Place place = place_of(work_);
  on_gpu<kernels::path_search<float>>(place, graph_there_.view(), first * kernels::kPathLanes,
                                      count, depth_, work_.data_ptr(),
                                      inexact_.data_ptr<int32_t>());
  judge<float>(count, count, sure.data_ptr<int64_t>(), unsure.data_ptr<int64_t>());
  const torch::Tensor inexact = inexact_.cpu();
  // Blocks whose counts left the exact range of a float have no meaning yet.
  const torch::Tensor searched = on_device(inexact.narrow(0, 0, count).eq(0), device_);
  torch::Tensor words = torch::where(searched, sure, torch::zeros_like(sure)).cpu();
  decide<float>(count, -1, words, torch::where(searched, unsure, torch::zeros_like(unsure)));
  for (int64_t b = 0; b < count; ++b) {
    if (inexact.data_ptr<int32_t>()[b] == 0) continue;
    on_gpu<kernels::path_search<double>>(place, graph_there_.view(),
                                         (first + b) * kernels::kPathLanes, 1, depth_,
                                         work_.data_ptr(), inexact_.data_ptr<int32_t>());
    torch::Tensor one = torch::empty({nodes_, 1}, options),
                  open = torch::empty({nodes_, 1}, options);
    judge<double>(1, 1, one.data_ptr<int64_t>(), open.data_ptr<int64_t>());
    words.select(1, b).copy_(one.squeeze(1));
    decide<double>(1, b, words, open);
  }
  return words;
}

template <class Count>
void DeviceBlockSearch::judge(int64_t blocks, int64_t stride, int64_t* sure, int64_t* unsure) {
  const kernels::PathLimits limits = {rule_.max_length, std::log2(rule_.min_paths)};
  on_gpu<kernels::path_judge<Count>>(place_of(work_), members_there_.view(), nodes_, blocks, limits,
                                     work_.data_ptr(), reinterpret_cast<uint64_t*>(sure),
                                     reinterpret_cast<uint64_t*>(unsure), stride);
}

// Reads the exact path counts behind the bits of `unsure` and sets those bits of `sure` (host) that
// reach the limit. `unsure` has the columns of the last search; `column` is its place in `sure`, -1
// where both have the same columns.
template <class Count>
void DeviceBlockSearch::decide(int64_t blocks, int64_t column, torch::Tensor& sure,
                               const torch::Tensor& unsure) {
  const torch::Tensor places = unsure.nonzero();
  if (places.size(0) == 0) return;
  const torch::Tensor open =
      unsure.view({-1}).index_select(0, places.select(1, 0) * blocks + places.select(1, 1)).cpu();
  const torch::Tensor where = places.cpu().contiguous();
  struct Question {
    int64_t row, block, lane, first;
  };
  std::vector<Question> questions;
  std::vector<int32_t> node, source;
  for (int64_t k = 0; k < where.size(0); ++k) {
    const int64_t row = where.data_ptr<int64_t>()[2 * k], b = where.data_ptr<int64_t>()[2 * k + 1];
    auto left = static_cast<uint64_t>(open.data_ptr<int64_t>()[k]);
    for (; left != 0; left &= left - 1) {
      const int lane = __builtin_ctzll(left);
      questions.push_back({row, b, lane, static_cast<int64_t>(node.size())});
      for (int64_t e = members_.offset[row]; e < members_.offset[row + 1]; ++e) {
        node.push_back(members_.index[e]);
        source.push_back(static_cast<int32_t>(b * kernels::kPathLanes + lane));
      }
    }
  }
  const auto asked = static_cast<int64_t>(node.size());
  const torch::Tensor node_there = to_device(node.data(), asked, torch::kInt32, device_);
  const torch::Tensor source_there = to_device(source.data(), asked, torch::kInt32, device_);
  torch::Tensor counts = torch::empty({asked}, torch::dtype(torch::kFloat64).device(device_));
  on_gpu<kernels::path_counts<Count>>(
      place_of(work_), nodes_, blocks, work_.data_ptr(), node_there.data_ptr<int32_t>(),
      source_there.data_ptr<int32_t>(), asked, counts.data_ptr<double>());
  const torch::Tensor answered = counts.cpu();
  int64_t* words = sure.data_ptr<int64_t>();
  const int64_t stride = sure.size(1);
  for (const Question& q : questions) {
    const double* begin = answered.data_ptr<double>() + q.first;
    const int64_t members = members_.offset[q.row + 1] - members_.offset[q.row];
    if (!geometric_mean_reaches({begin, begin + members}, rule_.min_paths)) continue;
    int64_t& word = words[q.row * stride + (column < 0 ? q.block : column)];
    word = static_cast<int64_t>(static_cast<uint64_t>(word) | (uint64_t{1} << q.lane));
  }
}

}  // namespace grm
