#include "nn/losses.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm::nn {
namespace {

using torch::Tensor;

bool plain(const TrainLoss& loss) {
  return !loss.weights.defined() && loss.focal == 0.0;
}

void check_shapes(const TrainLoss& loss, const Tensor& logits, const Tensor& y) {
  const bool classes = target_of(loss.kind) == Target::classes;
  if (logits.dim() != 2 || y.dim() != (classes ? 1 : 2) || logits.size(0) != y.size(0)) {
    fail(ErrorKind::shape, "the loss was given logits of {} rows and {} labels",
         logits.dim() == 2 ? logits.size(0) : logits.numel(), y.dim() > 0 ? y.size(0) : 0);
  }
  if (y.size(0) == 0) fail(ErrorKind::data, "the loss of no rows is not defined");
  if (!classes && y.size(1) != logits.size(1)) {
    fail(ErrorKind::shape, "the loss was given {} outputs and {} targets per row", logits.size(1),
         y.size(1));
  }
  if (loss.kind == LossKind::binary_pair && logits.size(1) != 2) {
    fail(ErrorKind::shape, "the 2-output loss was given {} outputs per row", logits.size(1));
  }
}

void check_labels(const Tensor& y, int64_t classes) {
  if (!y.device().is_cpu()) return;  // labels on a GPU were checked before they went there
  const int64_t low = y.min().item<int64_t>(), high = y.max().item<int64_t>();
  if (low < 0 || high >= classes) {
    fail(ErrorKind::data, "the loss was given the label {}, but labels must lie in 0..{}",
         low < 0 ? low : high, classes - 1);
  }
}

// Labels as rows of numbers, and what each entry counts: the sum over a row of count * (loss of
// the entry) is the row's loss.
struct Entries {
  Tensor t, count;  // [N, C]
};

Entries entries_of(const TrainLoss& loss, const Tensor& logits, const Tensor& y) {
  const Tensor here = to_place_of(y, logits);
  const auto outputs = static_cast<double>(logits.size(1));
  Tensor weights;
  if (loss.weights.defined()) {
    weights = to_place_of(loss.weights, logits).to(logits.scalar_type());
  }
  if (target_of(loss.kind) == Target::classes) {
    const Tensor t = torch::one_hot(here, logits.size(1)).to(logits.scalar_type());
    const Tensor of_row =
        weights.defined() ? weights.index_select(0, here).unsqueeze(1) : torch::ones_like(t);
    return {t, of_row.expand_as(t) / outputs};
  }
  const Tensor known = torch::isnan(here).logical_not();
  const Tensor t = torch::where(known, here, torch::zeros_like(here)).to(logits.scalar_type());
  const Tensor counted = known.to(logits.scalar_type());
  const Tensor share = static_cast<double>(logits.size(0)) / counted.sum().clamp_min(1.0);
  Tensor count = loss.known > 0.0 ? counted / loss.known : counted * share;
  if (weights.defined()) count = count * (1.0 + t * (weights - 1.0));
  return {t, count};
}

// log p and log (1 - p) of the right answer of each entry.
struct LogOdds {
  Tensor right, wrong;
};
LogOdds log_odds(const Tensor& logits, const Tensor& t) {
  const Tensor signed_logits = logits * (2.0 * t - 1.0);
  return {torch::log_sigmoid(signed_logits), torch::log_sigmoid(-signed_logits)};
}

Tensor weights_of_rows(const TrainLoss& loss, const Tensor& labels, const Tensor& rows) {
  if (!loss.weights.defined()) return rows;
  const Tensor w = to_place_of(loss.weights, rows).to(rows.scalar_type()).index_select(0, labels);
  return rows.dim() == 2 ? rows * w.unsqueeze(1) : rows * w;
}

}  // namespace

Tensor row_losses(const TrainLoss& loss, const Tensor& logits, const Tensor& y) {
  check_shapes(loss, logits, y);
  if (target_of(loss.kind) == Target::classes) check_labels(y, logits.size(1));
  if (loss.kind == LossKind::softmax) {
    const Tensor labels = to_place_of(y, logits);
    const Tensor log_p = torch::log_softmax(logits, 1);
    Tensor rows = torch::nll_loss(log_p, labels, {}, at::Reduction::None);
    if (loss.focal > 0.0) rows = rows * (-torch::expm1(-rows)).clamp_min(1e-12).pow(loss.focal);
    return weights_of_rows(loss, labels, rows);
  }
  if (loss.kind == LossKind::binary_pair && plain(loss)) {
    const Tensor t =
        torch::one_hot(to_place_of(y, logits), logits.size(1)).to(logits.scalar_type());
    return torch::binary_cross_entropy_with_logits(logits, t, {}, {}, at::Reduction::None).mean(1);
  }
  const Entries e = entries_of(loss, logits, y);
  if (loss.kind == LossKind::squared) {
    const Tensor off = logits - e.t;
    return (e.count * off * off).sum(1);
  }
  const LogOdds log_p = log_odds(logits, e.t);
  Tensor each = -log_p.right;
  if (loss.focal > 0.0) each = each * torch::exp(loss.focal * log_p.wrong);
  return (e.count * each).sum(1);
}

Tensor supervised_loss(const TrainLoss& loss, const Tensor& logits, const Tensor& y) {
  if (!plain(loss) || target_of(loss.kind) != Target::classes) {
    return row_losses(loss, logits, y).mean();
  }
  check_shapes(loss, logits, y);
  check_labels(y, logits.size(1));
  const Tensor labels = to_place_of(y, logits);
  if (loss.kind == LossKind::softmax) {
    return torch::nll_loss(torch::log_softmax(logits, 1), labels);
  }
  const Tensor t = torch::one_hot(labels, 2).to(logits.scalar_type());
  return torch::binary_cross_entropy_with_logits(logits, t);
}

double known_labels(const TrainLoss& loss, const Tensor& y) {
  if (target_of(loss.kind) == Target::classes) return 0.0;
  const auto known = static_cast<double>(torch::isnan(y).logical_not().sum().item<int64_t>());
  return std::max(known, 1.0) / static_cast<double>(std::max<int64_t>(y.size(0), 1));
}

// With p the probability of the right answer, d/do of -(1 - p)^g log p is
// (g (1 - p)^(g - 1) p log p - (1 - p)^g) (t - softmax(o)) for softmax, and
// s (1 - p)^g (g p log p - (1 - p)) for one sigmoid, s = 2t - 1.
Tensor loss_residuals(const TrainLoss& loss, const Tensor& logits, const Tensor& y) {
  check_shapes(loss, logits, y);
  const double g = loss.focal;
  if (target_of(loss.kind) == Target::classes) {
    const Tensor labels = to_place_of(y, logits);
    const Tensor t = torch::one_hot(labels, logits.size(1)).to(logits.scalar_type());
    if (loss.kind == LossKind::softmax) {
      Tensor rows = torch::softmax(logits, 1) - t;
      if (g > 0.0) {
        const Tensor log_p = (torch::log_softmax(logits, 1) * t).sum(1, true);
        const Tensor p = torch::exp(log_p), rest = (-torch::expm1(log_p)).clamp_min(1e-12);
        rows = rows * (rest.pow(g) - g * rest.pow(g - 1.0) * p * log_p);
      }
      return weights_of_rows(loss, labels, rows);
    }
    if (plain(loss)) return (torch::sigmoid(logits) - t) / static_cast<double>(logits.size(1));
  }
  const Entries e = entries_of(loss, logits, y);
  if (loss.kind == LossKind::squared) {
    return 2.0 * e.count * (logits - e.t);
  }
  if (g == 0.0) return e.count * (torch::sigmoid(logits) - e.t);
  const LogOdds log_p = log_odds(logits, e.t);
  const Tensor inner = g * torch::exp(log_p.right) * log_p.right - torch::exp(log_p.wrong);
  return e.count * (2.0 * e.t - 1.0) * torch::exp(g * log_p.wrong) * inner;
}

Tensor class_probabilities(const Tensor& logits) {
  return torch::softmax(logits, 1);
}

Tensor output_means(LossKind kind, const Tensor& logits) {
  switch (target_of(kind)) {
    case Target::classes:
      return class_probabilities(logits);
    case Target::multi_label:
      return torch::sigmoid(logits);
    case Target::regression:
      return logits;
  }
  throw InternalError("output_means: unknown target");
}

namespace {

Tensor mean_of_samples(const Tensor& sampled) {
  Tensor sum = sampled[0];
  for (int64_t s = 1; s < sampled.size(0); ++s) sum = sum + sampled[s];
  return sum / static_cast<double>(sampled.size(0));
}

}  // namespace

Tensor log_mean(const Tensor& sampled) {
  return torch::log(torch::clamp_min(mean_of_samples(sampled), 1e-30));
}

Tensor logits_of_samples(LossKind kind, const Tensor& sampled) {
  if (target_of(kind) == Target::classes) return log_mean(sampled);
  const Tensor mean = mean_of_samples(sampled);
  if (target_of(kind) == Target::regression) return mean;
  return torch::log(torch::clamp_min(mean, 1e-30)) - torch::log(torch::clamp_min(1.0 - mean, 1e-7));
}

}  // namespace grm::nn
