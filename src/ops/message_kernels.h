#pragma once

#include <cstdint>

#include "kernels.h"

// Kernels of ops/messages.h. The same rules as in kernels.h.
namespace grm::kernels {

/// y_i = sum over entries k of row i of w[k] relu(x[index k] + e[k]).   w null: all ones. The
/// pattern is in edge order.
template <class T>
void relu_messages(const Pattern& in, const T* w, const T* x, const T* e, int64_t d, T* y);

/// dx, and where they are not null de and dw, in one pass over the transpose.
template <class T>
void relu_messages_backward(const Pattern& out, const T* w, const T* x, const T* e, const T* dy,
                            int64_t d, T* dx, T* de, T* dw);

/// s[k] = <v, relu(other[index k] + own_i)> for every entry k of row i.
template <class T>
void pair_scores(const Pattern& in, const T* own, const T* other, const T* v, int64_t d, T* s);

/// For the rows of a pattern or of its transpose, with g = ds[edge k] and m = other[index k] +
/// own_i:  down_i = sum of g v 1[m > 0],  and where not null  dv_i = sum of g relu(m).
template <class T>
void pair_scores_backward(const Pattern& a, const T* own, const T* other, const T* v, const T* ds,
                          int64_t d, T* down, T* dv);

/// y[i, c] and the row that holds it (-1 where the segment is empty), the first of equal ones.
template <class T>
void segment_max(const int64_t* offset, int64_t segments, const T* x, int64_t d, T* y,
                 int64_t* row);

}  // namespace grm::kernels
