#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grm/data/task.h"
#include "methods/graph/model.h"
#include "methods/graph/normalised_scorer.h"
#include "methods/graph/subgraph.h"

namespace grm::graph_level {

enum class ClassifierInput { raw, feat };
GRM_WORDS(ClassifierInput, "raw", "feat")
enum class Contrasted { rep, feat };
GRM_WORDS(Contrasted, "rep", "feat")

struct SplitOptions {
  nn::GraphEncoderOptions encoder;
  int64_t c_dim = 0;
  ClassifierInput c_in = ClassifierInput::raw;
  Contrasted c_rep = Contrasted::rep;
  double r = 0.25;
  void declare(OptionList& list);
  nn::GraphEncoderOptions classifier() const;  // the encoder's options with width c_dim
  nn::GraphEncoderOptions widest() const { return c_dim > encoder.hidden ? classifier() : encoder; }
};

/// The hinge of the spurious head and what it may touch.
struct HingeOptions {
  double beta = 0.0;
  bool gradient = true;
  bool statistics = false;
  void declare(OptionList& list);
};

/// The model of CIGA and GALA. An extractor scores the edges from H = GNN(g); the ceil(r |E|) best
/// of each graph make the causal subgraph, the rest the spurious one; one classifier GNN reads
/// both, with messages scaled by sig(s) and sig(-s). r < 0 cuts nothing: both branches see the
/// whole graph.
class SplitModel {
 public:
  /// ciga: scores of [2d -> 4d -> 1]; without a cut the spurious branch is weighted sig(s) too.
  /// gala: normalised scores; without a cut it is weighted 1 - sig(s).
  enum class Kind { ciga, gala };

  SplitModel(nn::ParameterSet& set, const SplitOptions& options, const nn::ReadoutOptions& readout,
             const HingeOptions& hinge, const TrainView& view, Kind kind);

  struct Wanted {
    bool contrast = false;
    bool spurious = false;  // needs a model with beta > 0
  };
  struct Output {
    torch::Tensor logits;    // [B, C]
    torch::Tensor pooled;    // [B, c_dim], what the head reads under pool = rows
    torch::Tensor contrast;  // [B, d], rows of length 1; undefined unless wanted
    torch::Tensor spurious;  // [B, C] logits of the spurious branch; undefined unless wanted
  };
  Output forward(const nn::GraphInput& batch, nn::Pass& pass, const Wanted& wanted);
  torch::Tensor scores(const nn::GraphInput& batch, nn::Pass& pass);  // [nnz]

 private:
  // A part of the batch with its messages' weights, ready for the classifier.
  struct Branch {
    nn::GraphInput input;
    std::optional<Subgraph> part;  // what was cut out; none: all of it
  };
  torch::Tensor score(const torch::Tensor& h, const nn::GraphInput& batch, nn::Pass& pass) const;
  Branch branch(const nn::GraphInput& batch, const torch::Tensor& h, const torch::Tensor& keep,
                const torch::Tensor& mask) const;
  nn::NodeRows read(const Branch& branch, nn::Pass& pass);
  nn::NodeRows read_spurious(const Branch& branch, nn::Pass& pass);

  SplitOptions options_;
  HingeOptions hinge_;
  Kind kind_;
  std::unique_ptr<nn::GraphEncoder> extractor_, classifier_;
  EdgeScorer plain_;
  NormalisedScorer normalised_;
  nn::GraphReadout readout_;
  nn::Mlp head_, spurious_;
  nn::Linear spurious_last_;
  std::vector<torch::Tensor> statistics_;  // buffers of the classifier
};

/// The options of a method with this model begin with these, which say what it costs.
struct SplitMethodOptions : GraphMethodOptions {
  SplitOptions split;

  std::optional<MemoryUses> memory(const RunShape& run) const {
    return memory_of(split.widest(), run);
  }
  std::optional<WorkCount> work(const RunShape& run) const {
    return work_of({split.encoder, split.classifier()}, run);
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return savings_of(split.encoder); }
};

/// The objective of CIGA and GALA on a batch: the risk, alpha times the contrast of the rows that
/// `contrast_of` is given, and beta times the hinge; what weighs 0 is not computed.
BatchLoss split_loss(SplitModel& model, TrainBatch& batch, const TrainLoss& of, double alpha,
                     double beta,
                     const std::function<torch::Tensor(const torch::Tensor&)>& contrast_of);

}  // namespace grm::graph_level
