#pragma once

#include <functional>

#include "methods/editors.h"
#include "methods/kernels.h"

namespace grm {

/// The editors of a graph on a GPU, with the law, the draws and the saved state of GraphEditors. The
/// host never waits: rewards stay on the device until somebody notes them.
class DeviceEditors {
 public:
  DeviceEditors(const EditorOptions& options, int64_t nodes, const Rng& rng, uint64_t place,
                const torch::Device& device);
  /// Whether editors of these options can live there.
  static bool fit(const EditorOptions& options);

  const EditorStreams& streams() const { return streams_; }
  /// Makes room for so many steps in all, and starts the editors where nothing was drawn yet.
  /// Returns what stays the same while arrays stay where they are.
  int64_t prepare(int64_t steps);
  /// Starts again from the initial values of these streams, one for each view.
  void start(const std::function<Stream(int64_t view)>& initial);
  /// Flips [n, s] of one view, on the device.
  torch::Tensor draw(int64_t view, const Stream& draws) const;
  /// One step on the flips of all views. All three are double scalars on the device; the numbers are
  /// those of editor_step().
  void step(const std::vector<torch::Tensor>& flips, const torch::Tensor& reward,
            const torch::Tensor& step_size, const torch::Tensor& second_scale);
  /// Keeps what state() tells of a step that was taken.
  void note(int64_t number, double reward);

  std::map<std::string, torch::Tensor> state() const { return log_.state(); }
  void restore(const std::map<std::string, torch::Tensor>& state);

 private:
  kernels::editor::Columns columns(int64_t view) const;
  void grow(int64_t capacity);

  EditorOptions options_;
  int64_t nodes_;
  EditorStreams streams_;
  torch::Device device_;
  bool implicit_;
  int64_t capacity_ = 0;  // entries of a column; 0: nothing was made yet
  std::vector<Stream> initial_;
  torch::Tensor state_;                            // [views, nodes, bytes of a ColumnState]
  torch::Tensor source_, value_, first_, second_;  // [views, nodes, capacity]
  EditorLog log_;
};

}  // namespace grm
