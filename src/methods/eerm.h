#pragma once

#include <memory>
#include <vector>

#include "methods/backbone_cost.h"
#include "methods/backbone_method.h"
#include "methods/device_editors.h"
#include "methods/edited_graph.h"
#include "methods/editors.h"

namespace grm {

struct EermOptions : MethodOptions {
  nn::BackboneOptions backbone;
  OptimiserOptions optimiser;
  EditorLaw mode = EditorLaw::as_published;
  int64_t views = 3;  // K
  int64_t edits = 1;  // s
  double beta = 1.0;
  bool beta_ramp = false;
  int64_t ramp_epochs = 200;
  int64_t inner_steps = 1;  // T
  double editor_lr = 0.005;
  EditorInit editor_init = EditorInit::uniform_once;
  int64_t editor_memory_mib = 512;
  DomainUpdate update = DomainUpdate::mean;
  void declare(OptionList& list);
  EditorOptions editors() const;
  std::optional<MemoryUses> memory(const RunShape& run) const;
  std::optional<WorkCount> work(const RunShape& run) const;
  std::vector<Saving> savings(const RunShape& run) const;
};

/// A copy of a graph with edited edges and its operator, in bytes.
double edited_graph_bytes(nn::Conv conv, const GraphShape& graph, int64_t edits);
/// The step of EERM: all views of the training graphs that share it, and the editors after some
/// number of their own steps (below 0: there are none).
Held eerm_held(const nn::BackboneOptions& backbone, const EditorOptions& editors,
               const RunShape& run, DomainUpdate update, double editor_steps);

/// Mean and variance (divisor K - 1; 0 for K = 1) of the losses of K views, and the derivative of
/// variance + beta mean by each of them: 2 (L_k - mean) / (K - 1) + beta / K.
struct ViewRisk {
  double mean = 0.0;
  double variance = 0.0;
  std::vector<double> weights;
};
ViewRisk view_risk(const std::vector<double>& losses, double beta);

/// The same where the losses live, as double scalars without gradients.
struct ViewRiskThere {
  torch::Tensor mean, variance;
  std::vector<torch::Tensor> weights;
};
ViewRiskThere view_risk(const std::vector<torch::Tensor>& losses, const torch::Tensor& beta);

/// The method is described at the top of eerm.cpp.
class Eerm final : public BackboneMethod {
 public:
  Eerm(const EermOptions& options, const TrainView& view, const Rng& rng);
  std::vector<LossTerm> train_epoch(int64_t epoch) override;
  std::map<std::string, torch::Tensor> training_state() const override;
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override;

  /// The editors of a training graph; there are none in mode random or without edits.
  GraphEditors& editors(size_t domain) { return *editors_.at(domain); }

 private:
  using Flips = std::vector<std::vector<torch::Tensor>>;  // by domain and view
  struct Span {
    size_t begin, end;  // training domains that share a step
  };
  bool lives_on_gpu() const;
  double beta_at(int64_t epoch) const;
  int64_t number_of(int64_t epoch, int64_t m) const;
  std::vector<int64_t> prepare(const Span& span, int64_t epoch);
  void train_span(nn::Step& step, const Span& span);
  void start_editors(nn::Step& step, const Span& span);
  Flips trial(nn::Step& step, const Span& span, int64_t m);
  Flips fresh_views(nn::Step& step, const Span& span);
  std::vector<torch::Tensor> losses(nn::Step& step, const Span& span, const Flips& flips,
                                    int64_t phase);
  torch::Tensor explore(nn::Step& step, const Span& span, int64_t m);
  void learn(nn::Step& step, const Span& span, const Flips& flips, int64_t m,
             const torch::Tensor& reward);
  ViewRiskThere classifier_step(nn::Step& step, const Span& span, const Flips& flips);

  EermOptions options_;
  // Editors and edited graphs are all on the GPU, where steps are recorded, or all on the host.
  const bool on_gpu_;
  std::vector<std::unique_ptr<GraphEditors>> editors_;
  std::vector<std::unique_ptr<DeviceEditors>> device_editors_;
  std::vector<std::unique_ptr<EditedGraph>> edited_;
  nn::StepRecorder host_steps_;  // of editors on the host, never recorded
};

}  // namespace grm
