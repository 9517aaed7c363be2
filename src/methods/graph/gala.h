#pragma once

#include <torch/types.h>

#include <string>

#include "methods/graph/model.h"
#include "methods/graph/split_model.h"

namespace grm::graph_level {

enum class AssistantKind { erm, extractor };
GRM_WORDS(AssistantKind, "erm", "extractor")
enum class AssistantKeep { best, last };
GRM_WORDS(AssistantKeep, "best", "last")

/// GALA's environment assistant: how it is trained and turned into tags.
struct AssistantOptions {
  AssistantKind assistant = AssistantKind::erm;
  AssistantKeep keep = AssistantKeep::best;
  int64_t epochs = 20;
  int64_t envs = 3;
  void declare(OptionList& list);
};

/// What the assistant says about the graphs of the training set; -1 / false for those without loss.
struct Assistance {
  torch::Tensor tags;   // [graphs] int64: nearest centre, or the predicted class where envs = 1
  torch::Tensor right;  // [graphs] bool: does it predict the label?
};

/// Trains an assistant by empirical risk minimisation and asks it about the training set. It is
/// made anew from the seed and depends on nothing else.
Assistance train_assistant(const AssistantOptions& options, const SplitOptions& split,
                           const GraphTrainOptions& training, const TrainView& view,
                           const Rng& rng);

}  // namespace grm::graph_level
