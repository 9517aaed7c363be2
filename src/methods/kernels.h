#pragma once

#include <cstdint>

#include "core/kernels.h"

// The kernels of this station, for float and double; core/kernel.h says how they are called.
namespace grm::kernels {

// --- the contrast, on one tile of cosines c [rows, cols] ---
// Exponents are (c - 1) / tau, at most 0 up to rounding. A tile row with wanted[i] >= 0 also looks at
// the columns of that cluster, at temperature 1; both cluster arrays are null where there is no such
// term.

struct TileClusters {
  const int32_t* wanted = nullptr;  // [rows]: the cluster a row looks for, -1: none
  const int32_t* column = nullptr;  // [cols]: the cluster of a column
};

/// row_sum[i] += sum_j e_ij, col_sum[j] += sum_i e_ij with e = exp((c - 1) / tau); a null col_sum
/// is left out. cluster_sum[i] += sum of exp(c - 1) over the columns of the wanted cluster.
template <class T>
struct tile_sums
    : Kernel<void(const T* c, int64_t rows, int64_t cols, double inverse_tau, double* row_sum,
                  double* col_sum, const TileClusters& clusters, double* cluster_sum)> {};

/// Replaces c_ij by e_ij (row_scale[i] + col_scale[j]), less cluster_scale[i] exp(c_ij - 1) for the
/// columns of the wanted cluster.
template <class T>
struct tile_weights
    : Kernel<void(T* c, int64_t rows, int64_t cols, double inverse_tau, const T* row_scale,
                  const T* col_scale, const TileClusters& clusters, const T* cluster_scale)> {};

/// q = n diag(a) E diag(b), E = exp((s - max s) / epsilon), after `iterations` of
///   b_k = 1 / (k sum_i a_i E_ik),  a_i = 1 / (n sum_k E_ik b_k),  from a = 1 and b = 1.
template <class T>
struct sinkhorn
    : Kernel<void(const T* s, int64_t n, int64_t k, double epsilon, int64_t iterations, T* q)> {};

// --- group DRO ---

/// log_q_g += eta l_g, less log sum_h exp(log_q_h + eta l_h), in the order of the groups, and q = exp(log_q).
struct group_weights
    : CudaKernel<void(const double* losses, int64_t groups, double eta, double* log_q, double* q)> {
};

// --- the best entries of each graph ---

/// keep[e]: whether entry e is among the k highest scores of its graph, whose entries are offset[g] ..
/// offset[g + 1); ties go to the lower e, and what is not a number comes last. k = share times the
/// entries of the graph, rounded up or down, but at least `least` where there are as many. Entries
/// behind the last graph are not kept.
template <class T>
struct top_entries
    : CudaKernel<void(const T* score, const int64_t* offset, int64_t graphs, int64_t entries,
                      double share, bool round_up, int64_t least, bool* keep)> {};

// --- instance normalisation ---

/// y = (x - mean) / sqrt(variance + eps) per column over the rows offset[g] .. offset[g + 1) of graph
/// g, and scale = 1 / sqrt(...), [graphs, cols]. The variance is biased; sums are kept in double.
template <class T>
struct instance_norm : Kernel<void(const int64_t* offset, int64_t graphs, const T* x, int64_t cols,
                                   double eps, T* y, T* scale)> {};
/// dx = scale (dy - mean(dy) - y mean(dy y)) per column.
template <class T>
struct instance_norm_gradient : Kernel<void(const int64_t* offset, int64_t graphs, const T* y,
                                            const T* dy, const T* scale, int64_t cols, T* dx)> {};

// --- a graph whose pairs are flipped: methods/edited_graph.h ---

/// The pairs of the graph, with all self-pairs where `loops`.
struct UneditedPairs {
  int64_t nodes, entries;
  const int64_t *in_offset, *out_offset, *out_edge;
  const int32_t *in_index, *out_index;  // ascending inside a row
  const int32_t *in_row, *out_row;      // the row of each entry
  bool loops;
};

/// The flips of a view, [nodes, edits], ascending inside a row, and their positions by source, as
/// positions_by_value gives them.
struct FlippedPairs {
  int64_t edits;
  const int32_t* source;
  const int64_t* offset;
  const int32_t* position;
};

/// The graph's pairs and behind those of each row one for each of its flips: its weight is 1 where
/// the flip makes a pair and 0 where it takes one away, whose own weight is then 0, too. A self-pair
/// stays as it is where `loops`.
template <class T>
struct EditedPairs {
  int32_t* in_index;  // row i begins at in_offset[i] + i edits
  T* weight;
  int64_t *out_offset, *out_edge;
  int32_t* out_index;
};
template <class T>
struct edited_pairs : Kernel<void(const UneditedPairs& pairs, const FlippedPairs& flips,
                                  const EditedPairs<T>& to)> {};

// --- graph editors ---
namespace editor {

constexpr int kNodes = 8;  // Chebyshev nodes and polynomials

/// The numbers of one AdamW step that do not depend on the entry.
struct Step {
  double keep;          // 1 - lr * decay
  double step_size;     // lr / (1 - beta1^t)
  double second_scale;  // 1 / sqrt(1 - beta2^t)
};
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

// The columns of an editor on the host, one by one.

/// One AdamW step of every entry along the gradient pull * exp(value).
struct step_entries : CpuKernel<void(float* value, float* first, float* second, int64_t n,
                                     double pull, const Step& step)> {};

/// out = exp(value); relative error below 2e-7, values are cut to [-87, 88].
struct exponentials : CpuKernel<void(const float* value, int64_t n, float* out)> {};

/// Sum and largest of exp(value), as exponentials() gives them.
struct Mass {
  double sum = 0.0;
  float top = 0.0f;
};
struct mass : CpuKernel<Mass(const float* value, int64_t n)> {};

/// sum[k] = sum over i of T_k(2 x[i] - 1).
struct chebyshev_sums : CpuKernel<void(const float* x, int64_t n, double* sum)> {};

/// Position of `wanted`, or -1.
struct find : CpuKernel<int64_t(const int32_t* values, int64_t n, int32_t wanted)> {};

// All columns of an editor on a GPU; methods/editor_columns.h says what is done with them.

/// Chebyshev nodes in [0, 1], and the matrix from values at the nodes to coefficients.
struct Grid {
  double node[kNodes];
  double transform[kNodes][kNodes];
};

/// What methods/editor_column.h keeps of a column beside its entries.
struct ColumnState {
  double value[kNodes], first[kNodes], second[kNodes];
  double coefficient[kNodes], moment[kNodes];
  double entry_mass;
  int64_t entries;
};

/// The columns of all targets. Entry e of column i stands at i capacity + e.
struct Columns {
  int64_t nodes, capacity;
  bool implicit, zeros;  // zeros: initial values are 0
  StreamKey initial;     // of the initial values
  ColumnState* state;    // [nodes]
  int32_t* source;       // of the entries; not used if entry j is source j
  float *value, *first, *second;
};

struct start_columns : CudaKernel<void(const Columns& columns, const Grid& grid)> {};

/// flips [nodes, edits], ascending inside a row: `edits` distinct sources for every target.
struct draw_columns
    : CudaKernel<void(const Columns& columns, StreamKey draws, int64_t edits, int32_t* flips)> {};

/// A step along -reward (1[j in flips] - count pi(j)). Reward and the numbers of the step that
/// change are read on the device; nothing happens where the reward is not finite. There must be room
/// for `edits` more entries in every column.
struct StepPlaces {
  const double *reward, *step_size, *second_scale;
};
struct step_columns
    : CudaKernel<void(const Columns& columns, const Grid& grid, const int32_t* flips, int64_t edits,
                      const StepPlaces& places, double count, double keep)> {};

}  // namespace editor
}  // namespace grm::kernels
