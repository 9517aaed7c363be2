#include "methods/domains_frozen.h"

#include <torch/types.h>

#include <cmath>

#include "core/clock.h"
#include "core/files.h"
#include "data/describe.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "io/safetensors.h"
#include "methods/eerm.h"

namespace grm {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;
constexpr int64_t kValidateEvery = 5;

EermOptions eerm_options(const DomainOptions& options, const nn::BackboneOptions& backbone) {
  EermOptions eerm;
  eerm.backbone = backbone;
  // A network of the user's own is not trained twice, and no key of a cache could name it.
  if (backbone.backbone == nn::BackboneKind::own) eerm.backbone.backbone = nn::BackboneKind::gcn;
  eerm.optimiser.lr = options.eerm_lr;
  eerm.optimiser.weight_decay = options.eerm_weight_decay;
  eerm.views = options.views;
  eerm.edits = options.edits;
  eerm.beta = options.eerm_beta;
  eerm.beta_ramp = options.eerm_beta_ramp;
  eerm.ramp_epochs = options.eerm_epochs;
  eerm.inner_steps = options.eerm_inner_steps;
  eerm.editor_lr = options.editor_lr;
  eerm.editor_memory_mib = options.editor_memory_mib;
  return eerm;
}

// The validation labels stay out of sight, but the score of fixed random logits changes with them,
// and the graphs that a predictor is shown can be hashed.
std::string fingerprint_of(const TrainView& view) {
  Task seen;
  seen.classes = view.classes;
  seen.loss = view.loss.kind;
  seen.training = view.training;
  double score = 0.0;
  if (view.validate) {
    score = view.validate([&](const Graph& graph, const torch::Tensor& nodes) {
      Domain domain = make_domain(graph, torch::zeros({graph.nodes()}, torch::kInt64));
      domain.labels.evaluate = nodes;
      torch::Tensor logits = torch::empty({nodes.numel(), view.classes}, torch::kFloat32);
      Rng(0)
          .stream("probe", seen.validation.size())
          .fill_normal(logits.data_ptr<float>(), logits.numel());
      seen.validation.push_back(std::move(domain));
      return logits;
    });
  }
  return fmt::format("{} {:.17g}", fingerprint(seen), score);
}

std::string cache_path(const EermOptions& options, int64_t epochs, const TrainView& view,
                       const Rng& rng) {
  EermOptions copy = options;
  OptionList list;
  copy.declare(list);
  std::string key = fmt::format("frozen domains 1\nseed {}\nepochs {}\n{}\n", rng.seed(), epochs,
                                fingerprint_of(view));
  for (const Option& option : list.options()) key += option.key + " = " + option.get() + "\n";
  if (view.loss.weights.defined()) {
    const torch::Tensor weights = view.loss.weights.to(torch::kFloat64);
    for (int64_t c = 0; c < weights.numel(); ++c) {
      key += fmt::format("weight {:.17g}\n", weights[c].item<double>());
    }
  }
  if (view.loss.focal > 0.0) key += fmt::format("focal {:.17g}\n", view.loss.focal);
  // Sums are rounded otherwise on a GPU, and what is drawn from them may differ.
  if (compute_device().is_cuda()) key += "device cuda\n";
  return cache_file("domains", sha256(key) + ".safetensors");
}

Tensors draw_frozen(Eerm& eerm, const DomainOptions& options, const TrainView& view,
                    const Rng& rng) {
  Tensors flips;
  for (size_t d = 0; d < view.training.size(); ++d) {
    std::vector<torch::Tensor> views;
    for (int64_t k = 0; k < options.views; ++k) {
      views.push_back(eerm.editors(d).draw(k, rng.stream("frozen-domains", d, k)));
    }
    flips["flips" + std::to_string(d)] = torch::stack(views);
  }
  return flips;
}

Tensors train(const EermOptions& eerm_options, const DomainOptions& options, const TrainView& view,
              const Rng& rng) {
  const Stopwatch watch;
  Eerm eerm(eerm_options, view, Rng(rng.stream("eerm").key()));
  Tensors best;
  double best_score = 0.0;
  int64_t best_epoch = 0;
  for (int64_t epoch = 1; epoch <= options.eerm_epochs; ++epoch) {
    const double loss = eerm.train_epoch(epoch).front().value;
    if (!std::isfinite(loss)) {
      fail(ErrorKind::config,
           "the EERM run that edits the training domains reached the loss {} in epoch {}; a "
           "smaller method.eerm_lr (now {}) usually helps",
           loss, epoch, options.eerm_lr);
    }
    const bool last = epoch == options.eerm_epochs;
    if (!last && (!view.validate || epoch % kValidateEvery != 0)) continue;
    const double score = view.validate
                             ? view.validate([&](const Graph& graph, const torch::Tensor& nodes) {
                                 return eerm.logits(graph, nodes);
                               })
                             : 0.0;
    if (best_epoch != 0 && score <= best_score) continue;
    best = draw_frozen(eerm, options, view, rng);
    best_score = score;
    best_epoch = epoch;
  }
  log_info("training domains edited by EERM: {} epochs, editors of epoch {}, {:.1f} s",
           options.eerm_epochs, best_epoch, watch.seconds());
  return best;
}

}  // namespace

void check_flips(const Tensors& flips, const DomainOptions& options, const TrainView& view) {
  bool good = flips.size() == view.training.size();
  for (size_t d = 0; good && d < view.training.size(); ++d) {
    const int64_t n = view.training[d].graph.nodes();
    const auto found = flips.find("flips" + std::to_string(d));
    good = found != flips.end() && found->second.scalar_type() == torch::kInt32 &&
           found->second.sizes() == at::IntArrayRef({options.views, n, options.edits});
    if (!good) break;
    const torch::Tensor& all = found->second;
    good = all.min().item<int64_t>() >= 0 && all.max().item<int64_t>() < n &&
           (all.diff(1, 2) > 0).all().item<bool>();
  }
  if (!good) {
    fail(ErrorKind::data,
         "the saved training domains are not {} views with {} flips per node of {} training graphs",
         options.views, options.edits, view.training.size());
  }
}

Tensors frozen_flips(const DomainOptions& options, const nn::BackboneOptions& backbone,
                     const TrainView& view, const Rng& rng) {
  const EermOptions eerm = eerm_options(options, backbone);
  const std::string path = cache_path(eerm, options.eerm_epochs, view, rng);
  if (path.empty()) return train(eerm, options, view, rng);
  // A cache that cannot be read or written costs time, never a run.
  try {
    const Tensors flips = io::read_safetensors(path).tensors;
    check_flips(flips, options, view);
    return flips;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) log_warning("{}: computed anew: {}", path, error.what());
  }
  const Tensors flips = train(eerm, options, view, rng);
  try {
    io::write_safetensors(path, {flips, {}});
  } catch (const Error& error) {
    log_warning("training domains are not cached: {}", error.what());
  }
  return flips;
}

}  // namespace grm
