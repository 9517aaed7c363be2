#include "methods/graph/contrastive.h"

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm::graph_level {
namespace {

// [B, B] bool: do members i and j carry the same number?
torch::Tensor equal_pairs(const torch::Tensor& ids) {
  return ids.unsqueeze(1) == ids.unsqueeze(0);
}

torch::Tensor without_diagonal(const torch::Tensor& pairs) {
  return pairs.logical_and(torch::eye(pairs.size(0), pairs.options()).logical_not());
}

}  // namespace

Pairs label_pairs(const torch::Tensor& y) {
  const torch::Tensor all = torch::ones({y.numel(), y.numel()}, y.options().dtype(torch::kBool));
  return {without_diagonal(equal_pairs(y)), without_diagonal(all)};
}

Pairs assisted_pairs(const torch::Tensor& y, const torch::Tensor& tags) {
  ensure(y.numel() == tags.numel(), "assisted_pairs: one tag per label");
  const torch::Tensor same_label = equal_pairs(y), same_tag = equal_pairs(tags);
  Pairs pairs;
  pairs.positive = same_label.logical_and(same_tag.logical_not());
  // A member shares its label and its tag with itself, so neither set holds the diagonal.
  pairs.compared = same_label.logical_xor(same_tag);
  if (y.is_cuda()) {  // the host does not wait for the answer
    pairs.positive =
        torch::where(pairs.positive.any(), pairs.positive, without_diagonal(same_label));
    pairs.compared = torch::where(pairs.compared.any(), pairs.compared, label_pairs(y).compared);
    return pairs;
  }
  if (!pairs.positive.any().item<bool>()) pairs.positive = without_diagonal(same_label);
  if (!pairs.compared.any().item<bool>()) pairs.compared = label_pairs(y).compared;
  return pairs;
}

namespace {

// The same without asking which rows have positives: the others count 0.
torch::Tensor contrast_of_all(const torch::Tensor& u, const Pairs& pairs, double slack) {
  const torch::Tensor products = torch::mm(u, u.t()), ones = torch::ones({}, u.options());
  const torch::Tensor positive = pairs.positive.to(u.scalar_type());
  const torch::Tensor compared = pairs.compared.to(u.scalar_type());
  const torch::Tensor valid = pairs.positive.any(1), count = valid.sum().clamp_min(1);
  const torch::Tensor attracted = (products * positive).sum(1) / positive.sum(1).clamp_min(1);
  const torch::Tensor others = (torch::exp(products) * compared).sum(1) + slack;
  const torch::Tensor normaliser = torch::log(torch::where(valid, others, ones));
  return ((normaliser - attracted) * valid).sum() / count;
}

}  // namespace

torch::Tensor contrast(const torch::Tensor& u, const Pairs& pairs, double slack) {
  if (pairs.positive.is_cuda()) return contrast_of_all(u, pairs, slack);
  const torch::Tensor valid = pairs.positive.any(1).nonzero().squeeze(1);  // rows with positives
  if (valid.numel() == 0) return torch::zeros({}, u.options());
  const auto type = u.scalar_type();
  const torch::Tensor products = select_rows(torch::mm(u, u.t()), valid);
  const torch::Tensor positive = to_place_of(pairs.positive.index_select(0, valid).to(type), u);
  const torch::Tensor compared = to_place_of(pairs.compared.index_select(0, valid).to(type), u);
  const torch::Tensor attracted = (products * positive).sum(1) / positive.sum(1);
  const torch::Tensor normaliser = torch::log((torch::exp(products) * compared).sum(1) + slack);
  return (normaliser - attracted).mean();
}

torch::Tensor hinge(const torch::Tensor& spurious, const torch::Tensor& causal) {
  const torch::Tensor worse = (spurious > causal).to(spurious.scalar_type()).detach();
  return (spurious * worse).sum() / (worse.sum() + 1e-6);
}

torch::Tensor upsampled_counts(const torch::Tensor& right, int64_t repeats) {
  const int64_t n = right.numel();
  const int64_t right_count = right.sum().item<int64_t>();
  const bool majority = right_count > n - right_count;
  const torch::Tensor wrong = majority ? right.logical_not() : torch::ones({n}, torch::kBool);
  const int64_t wrong_count = wrong.sum().item<int64_t>();
  if (wrong_count == 0) return torch::ones({n}, torch::kInt64);
  const int64_t ratio = (n - wrong_count) / wrong_count;
  const int64_t copies = repeats > 0 ? repeats + 1 : std::clamp<int64_t>(ratio, 1, 2);
  return torch::ones({n}, torch::kInt64) + (copies - 1) * wrong.to(torch::kInt64);
}

}  // namespace grm::graph_level
