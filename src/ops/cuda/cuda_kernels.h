#pragma once

#include <cstddef>
#include <cstdint>

#include "../generated_kernels.h"
#include "../kernels.h"

// The kernels of ops/kernels.h on a GPU: all pointers are device pointers, `stream` is a
// cudaStream_t. Calls return at once, allocate nothing and throw std::runtime_error if a launch
// fails. The same inputs give the same bits in every run. float and double. Output arrays are
// written whole; they must not overlap inputs.
namespace grm::cuda {

using kernels::GeneratorBatch;
using kernels::Pattern;

/// Rows with more entries than this are cut into pieces that are summed apart.
constexpr int64_t kLongRow = 64;

/// Scratch memory for the pieces of long rows, aligned to 16 bytes. Without it (null) a row is
/// summed by one warp whatever its length: right as well, and one launch less, where all rows are
/// short.
struct RowWorkspace {
  int64_t entries = 0;  // of the pattern: offset[rows]
  void* data = nullptr;
};
template <class T>
size_t row_workspace_bytes(int64_t entries, int64_t d);

template <class T>
void spmm(const Pattern& a, const T* w, const T* x, int64_t d, T* y, const RowWorkspace& work,
          void* stream);

/// `entries`: offset[rows] of the pattern.
template <class T>
void sddmm(const Pattern& a, int64_t entries, const T* p, const T* q, int64_t d, T* s,
           void* stream);

/// `entries` as above, for any `work`.
template <class T>
void spmm_sddmm(const Pattern& a, int64_t entries, const T* w, const T* p, const T* x, int64_t d,
                T* y, T* s, const RowWorkspace& work, void* stream);

template <class T>
void row_sum(const Pattern& a, const T* w, T* s, void* stream);
template <class T>
void row_spread(const Pattern& a, const T* s, T* w, void* stream);

template <class T>
void normalise(const Pattern& in, const T* w, T* scale, T* y, void* stream);
template <class T>
void normalise_backward(const Pattern& in, const Pattern& out, const T* w, const T* scale,
                        const T* dy, T* dw, void* stream);

template <class T>
void row_softmax(const Pattern& a, const T* s, int64_t heads, T* y, void* stream);
template <class T>
void row_softmax_backward(const Pattern& a, const T* y, const T* dy, int64_t heads, T* ds,
                          void* stream);

template <class T>
void segment_reduce(const int64_t* offset, int64_t segments, const T* x, int64_t d, bool mean, T* y,
                    const RowWorkspace& work, void* stream);
/// `rows`: those of dx, at least offset[segments]; the rows behind that get zeros.
template <class T>
void segment_reduce_backward(const int64_t* offset, int64_t segments, int64_t rows, const T* dy,
                             int64_t d, bool mean, T* dx, void* stream);

template <class T>
void gather_rows(const T* x, const int64_t* index, int64_t count, int64_t d, T* y, void* stream);

/// At most 2^31 - 1 positions and values.
size_t positions_workspace_bytes(int64_t count, int64_t values);
void positions_by_value(const int64_t* index, int64_t count, int64_t values, int64_t* offset,
                        int32_t* position, void* work, void* stream);

template <class T>
void bernoulli_forward(const T* s, int64_t n, double theta, T* e, T* kl, void* stream);
template <class T>
void bernoulli_backward(const T* s, const T* de, const T* dkl, int64_t n, double theta, T* ds,
                        void* stream);
template <class T>
void gaussian_forward(const T* mu, const T* log_sigma, int64_t rows, int64_t d, T* kl,
                      void* stream);
template <class T>
void gaussian_backward(const T* mu, const T* log_sigma, const T* dkl, int64_t rows, int64_t d,
                       T* dmu, T* dlog_sigma, void* stream);

/// The kernels of ops/message_kernels.h. Without columns (d = 0) nothing is written.
template <class T>
void relu_messages(const Pattern& in, const T* w, const T* x, const T* e, int64_t d, T* y,
                   void* stream);
template <class T>
void relu_messages_backward(const Pattern& out, const T* w, const T* x, const T* e, const T* dy,
                            int64_t d, T* dx, T* de, T* dw, void* stream);
template <class T>
void pair_scores(const Pattern& in, const T* own, const T* other, const T* v, int64_t d, T* s,
                 void* stream);
template <class T>
void pair_scores_backward(const Pattern& a, const T* own, const T* other, const T* v, const T* ds,
                          int64_t d, T* down, T* dv, void* stream);
template <class T>
void segment_max(const int64_t* offset, int64_t segments, const T* x, int64_t d, T* y, int64_t* row,
                 void* stream);

/// Most nodes of a graph for the fused generator: the largest max_nodes of a batch. A graph of more
/// than max_nodes gets results that are NaN.
constexpr int64_t kMaxGeneratedNodes = 64;

/// e_ij = sigmoid(<f_i, f_j>) for all ordered pairs of a graph, i = j included; y as above; kl[g] =
/// sum or mean of KL(Bernoulli(e) || Bernoulli(theta)). Equal to sddmm, bernoulli_forward,
/// normalise, spmm and segment_reduce over all pairs, which are never written to memory. x and y
/// may both be null, and kl. Where `e` is not null it receives the weights in the order of
/// grm::all_pairs: graph g starts at pair_offset[g].
template <class T>
void generate_forward(const GeneratorBatch& batch, const T* f, const T* x, T* y, T* kl,
                      const int64_t* pair_offset, T* e, void* stream);

/// Gradients for dy (null: y is not used; x and dx are then ignored) and dkl (null likewise). df is
/// added to where `add_to_df`: two propagations over the same edges share it. dx may be null.
template <class T>
void generate_backward(const GeneratorBatch& batch, const T* f, const T* x, const T* dy,
                       const T* dkl, T* df, bool add_to_df, T* dx, void* stream);

}  // namespace grm::cuda
