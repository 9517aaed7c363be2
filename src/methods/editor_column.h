#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grm/core/rng.h"
#include "methods/kernels.h"

namespace grm {

/// The numbers of step number t = 1, 2, ... of an editor.
kernels::editor::Step editor_step(double lr, int64_t t);
/// The Chebyshev nodes and their matrix, for kernels.
kernels::editor::Grid editor_grid();

/// The initial values of one column, U(0, 1) or zero: a function of a key, never stored.
struct InitialValues {
  uint64_t key = 0;
  bool zeros = false;
  float at(int64_t source) const;
  void fill(float* out, int64_t n) const;
};

/// One column of an editor: the parameters B[., i] of all n sources of target i.
/// Entries are kept one by one, with their moments. The rest, if the column is implicit, are the
/// sources that no step has chosen yet: B, m and v of such a source are smooth functions of its
/// initial value b0, known at kNodes values of b0, and exp(B) = sum_k c_k T_k(2 b0 - 1).
class EditorColumn {
 public:
  void start(int64_t nodes, const InitialValues& initial, bool implicit);

  /// Sum of exp(B) over all sources, and a bound that no exp(B) exceeds.
  double mass() const { return entries_.sum + rest_mass(); }
  double bound() const;
  /// B and exp(B) of one source.
  double parameter(int64_t source, const InitialValues& initial) const;
  double weight(int64_t source, const InitialValues& initial) const;

  /// AdamW along -reward (1[j chosen] - count pi(j)).
  void step(const int32_t* chosen, int64_t edits, double reward, double count,
            const kernels::editor::Step& step, const InitialValues& initial);
  /// `edits` distinct sources, one after the other in proportion to exp(B).
  void draw(int64_t edits, const InitialValues& initial, Stream& draws, int32_t* chosen) const;

 private:
  using Node = std::array<double, kernels::editor::kNodes>;
  int64_t slot(int64_t source) const;  // entry of a source, or -1
  double rest_mass() const;
  double rest_weight(double b0) const;
  void make_entry(int64_t source, const InitialValues& initial);
  void update_sums();
  int32_t draw_entry(double u, std::vector<float>& weights, double& sum) const;
  int32_t draw_rest(const InitialValues& initial, const int32_t* chosen, int64_t count,
                    Stream& draws) const;

  int64_t nodes_ = 0;
  bool implicit_ = false;
  int64_t rest_ = 0;              // sources that are not entries
  std::vector<int32_t> sources_;  // of the entries; empty if entry j is source j
  std::vector<float> value_, first_, second_;
  kernels::editor::Mass entries_;
  Node node_value_{}, node_first_{}, node_second_{};
  Node coefficient_{};  // c_k
  Node moment_{};       // sum over the rest of T_k(2 b0 - 1)
};

}  // namespace grm
