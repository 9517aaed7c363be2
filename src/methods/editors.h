#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grm/core/rng.h"
#include "grm/core/words.h"
#include "grm/graph/adjacency.h"

namespace grm {

/// The flips of one view of a graph of n nodes are an int32 tensor [n, s]: row i holds the s
/// distinct sources j whose pair j -> i is flipped, ascending.

/// s distinct sources per target, uniformly at random. Target i draws from its own part of `draws`.
torch::Tensor random_flips(int64_t nodes, int64_t edits, const Stream& draws);

/// The pattern with A[j, i] = 1 - A[j, i] for all j in row i of `flips`: a stored pair goes, a
/// missing one comes, self-pairs included. Only pairs into i change, never the reverse pair.
AdjacencyPtr flipped(const Adjacency& edges, const torch::Tensor& flips);

enum class EditorLaw { as_published, as_coded, random };  // random: no editors, uniform edits
GRM_WORDS(EditorLaw, "as_published", "as_coded", "random")
enum class EditorInit { uniform_once, uniform_each_epoch, zeros };
GRM_WORDS(EditorInit, "uniform_once", "uniform_each_epoch", "zeros")

struct EditorOptions {
  EditorLaw law = EditorLaw::as_published;
  EditorInit init = EditorInit::uniform_once;
  int64_t views = 3;  // K
  int64_t edits = 1;  // s
  double lr = 0.005;
  int64_t memory_mib = 512;  // above it the parameters are kept implicitly
};

/// Whether the editors of a graph of n nodes are kept implicitly.
bool kept_implicitly(const EditorOptions& options, double nodes);

/// Where the editors of one training graph draw their numbers; `place` tells the graphs of a run
/// apart.
struct EditorStreams {
  Rng rng;
  uint64_t place;
  int64_t views;
  Stream initial(int64_t view, int64_t epoch) const;
  Stream trial(int64_t view, int64_t number) const;
};

/// Trial numbers and rewards of the steps of editors. Draws are a function of these, so a restored
/// editor repeats the steps; that takes seconds where the parameters would take hundreds of
/// megabytes.
struct EditorLog {
  std::vector<int64_t> numbers;
  std::vector<double> rewards;
  void note(int64_t number, double reward);
  void clear() { *this = {}; }
  std::map<std::string, torch::Tensor> state() const;
  /// Error(data) for a state that is not one.
  static EditorLog from(const std::map<std::string, torch::Tensor>& state);
};

/// Bytes of the editors of a graph of n nodes after some number of steps.
double editor_bytes(const EditorOptions& options, double nodes, double steps);

/// EERM's K graph editors of one graph. Editor k has a parameter B[j, i] for every pair j -> i, and
/// pi_i(j) = exp(B[j, i]) / sum_j' exp(B[j', i]).
///   as_published  S_i holds s distinct sources drawn one after the other from pi_i;
///                 log p = sum_i sum_{j in S_i} log pi_i(j), so c = s below.
///   as_coded      S_i is drawn in the same way with the weights pi_j(i) over j, the transpose, and
///                 the log-probability has one normaliser per target, so c = 1.
/// A step adds -R (1[j in S_i] - c pi_i(j)) to every gradient of every editor, R the reward, and
/// goes along it by AdamW (weight decay 0.01).
///
/// Parameters and moments of all pairs are kept only if they fit the budget. Otherwise what an
/// unchosen pair would be is computed when asked for: its gradient depends on its own B and on its
/// column alone, so all sources of a column that no step has chosen yet follow one map from their
/// initial value, which a few of them (at Chebyshev nodes) trace out. Initial values come from a
/// counter and are never stored; a source becomes an entry of its own when a step chooses it.
/// Memory: about 450 bytes a column, 16 bytes a chosen source.
class GraphEditors {
 public:
  /// `place` tells the training graphs of one run apart.
  GraphEditors(const EditorOptions& options, int64_t nodes, const Rng& rng, uint64_t place);
  ~GraphEditors();

  /// To be called before the draws of an epoch: uniform_each_epoch forgets what was learnt.
  void begin_epoch(int64_t epoch);
  /// Draws flips [n, s] of one view from the current law.
  torch::Tensor draw(int64_t view, const Stream& draws);
  /// Draws all views from the streams of this number; what a step learns from must come from here.
  std::vector<torch::Tensor> trial(int64_t number);
  /// One REINFORCE step on the flips of trial(number).
  void step(int64_t number, const std::vector<torch::Tensor>& flips, double reward);

  /// B[., target] and pi_target(.) of one view, [n] double.
  torch::Tensor parameters(int64_t view, int64_t target);
  torch::Tensor probabilities(int64_t view, int64_t target);
  bool implicit() const { return implicit_; }

  /// The steps so far; restore() repeats them.
  std::map<std::string, torch::Tensor> state() const;
  void restore(const std::map<std::string, torch::Tensor>& state);

 private:
  struct View;
  void prepare();
  void each_column(const std::function<void(View& view, int64_t target)>& body);
  void draw_coded(const View& view, int64_t target, Stream& draws, int32_t* chosen) const;

  EditorOptions options_;
  int64_t nodes_;
  EditorStreams streams_;
  bool implicit_;
  int64_t epoch_ = 0;
  std::vector<View> views_;  // empty until something is drawn
  EditorLog log_;
};

}  // namespace grm
