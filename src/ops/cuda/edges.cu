// Reductions of per-edge numbers over the rows of a pattern, and what normalises by them.
#include "ops/cuda/team.cuh"

namespace grm::cuda {
namespace {

// Loads are gathered kUnroll at a time before any of them is used: rows are long where it matters,
// and stores might overlap them as far as the compiler knows.
constexpr int kUnroll = 4;

template <class T, int kSize, class Value>
__device__ inline T sum_entries(int64_t first, int64_t end, const Value& value) {
  T sum = T{0};
  int64_t k = first;
  for (; k + (kUnroll - 1) * kSize < end; k += kUnroll * kSize) {
    T part[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) part[u] = value(k + u * kSize);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) sum += part[u];
  }
  for (; k < end; k += kSize) sum += value(k);
  return sum;
}

template <class T, int kSize, class Value>
__device__ inline void write_entries(int64_t first, int64_t end, T* to, const Value& value) {
  int64_t k = first;
  for (; k + (kUnroll - 1) * kSize < end; k += kUnroll * kSize) {
    T part[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) part[u] = value(k + u * kSize);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) to[k + u * kSize] = part[u];
  }
  for (; k < end; k += kSize) to[k] = value(k);
}

template <class T>
struct RowSum {
  const T* w;
  bool inverse_root;
  T* s;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t row, int64_t begin, int64_t end) const {
    T sum = static_cast<T>(end - begin);
    if (w) {
      sum = team.sum(
          sum_entries<T, Team::kSize>(begin + team.place(), end, [&](int64_t k) { return w[k]; }));
    }
    if (inverse_root) sum = sum > T{0} ? T{1} / sqrt(sum) : T{0};
    if (team.place() == 0) s[row] = sum;
  }
};

template <class T>
struct RowSpread {
  const T* s;
  T* w;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t row, int64_t begin, int64_t end) const {
    const T value = s[row];
    for (int64_t k = begin + team.place(); k < end; k += Team::kSize) w[k] = value;
  }
};

template <class T>
struct ScaleEdges {
  const int32_t* index;
  const T *w, *scale;
  T* y;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t row, int64_t begin, int64_t end) const {
    const T own = scale[row];
    write_entries<T, Team::kSize>(begin + team.place(), end, y, [&](int64_t k) {
      const T factor = own * scale[index[k]];
      return w ? w[k] * factor : factor;
    });
  }
};

// As in cpu/edges.cpp: dw_ji = dy_ji r_i r_j - (r_i^2 / 2) t_i.
template <class T>
struct NormaliseBackward {
  const int32_t* index;
  Pattern out;
  const T *w, *scale, *dy;
  T* dw;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t row, int64_t begin, int64_t end) const {
    const T into = sum_entries<T, Team::kSize>(begin + team.place(), end, [&](int64_t k) {
      return dy[k] * (w ? w[k] : T{1}) * scale[index[k]];
    });
    const int64_t first = out.offset[row] + team.place(), last = out.offset[row + 1];
    const T from = sum_entries<T, Team::kSize>(first, last, [&](int64_t k) {
      const int64_t e = out.edge ? out.edge[k] : k;
      return dy[e] * (w ? w[e] : T{1}) * scale[out.index[k]];
    });
    const T r = scale[row];
    const T through_degree = T(0.5) * r * r * (r * (team.sum(into) + team.sum(from)));
    write_entries<T, Team::kSize>(begin + team.place(), end, dw, [&](int64_t k) {
      return dy[k] * (r * scale[index[k]]) - through_degree;
    });
  }
};

// Heads that divide the warp are taken together: a member meets one of them only, and those that
// share it are `heads` apart. Others are taken one by one.
__device__ inline bool together(int64_t heads) {
  return heads <= kWarp && kWarp % heads == 0;
}

struct Walk {
  int64_t first, last, step;
};

template <class Team>
__device__ inline Walk walk_head(const Team& team, int64_t begin, int64_t end, int64_t heads,
                                 int64_t head) {
  if (together(heads)) return {begin * heads + team.place(), end * heads, Team::kSize};
  return {(begin + team.place()) * heads + head, end * heads, Team::kSize * heads};
}

template <class T>
struct Softmax {
  const T* s;
  int64_t heads;
  T* y;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t, int64_t begin, int64_t end) const {
    const int stride = together(heads) ? static_cast<int>(heads) : 1;
    for (int64_t head = 0; head < (together(heads) ? 1 : heads); ++head) {
      const Walk at = walk_head(team, begin, end, heads, head);
      T top = static_cast<T>(-INFINITY), sum = T{0};
#pragma unroll 4
      for (int64_t k = at.first; k < at.last; k += at.step) top = s[k] > top ? s[k] : top;
      top = team.largest(top, stride);
#pragma unroll 4
      for (int64_t k = at.first; k < at.last; k += at.step) sum += exp(s[k] - top);
      const T inverse = T{1} / team.sum(sum, stride);
      for (int64_t k = at.first; k < at.last; k += at.step) y[k] = exp(s[k] - top) * inverse;
    }
  }
};

template <class T>
struct SoftmaxBackward {
  const T *y, *dy;
  int64_t heads;
  T* ds;

  template <class Team>
  __device__ void operator()(const Team& team, int64_t, int64_t begin, int64_t end) const {
    const int stride = together(heads) ? static_cast<int>(heads) : 1;
    for (int64_t head = 0; head < (together(heads) ? 1 : heads); ++head) {
      const Walk at = walk_head(team, begin, end, heads, head);
      T inner = T{0};
#pragma unroll 4
      for (int64_t k = at.first; k < at.last; k += at.step) inner += y[k] * dy[k];
      inner = team.sum(inner, stride);
      for (int64_t k = at.first; k < at.last; k += at.step) ds[k] = y[k] * (dy[k] - inner);
    }
  }
};

}  // namespace

template <class T>
void row_sum(const Queue& queue, const Pattern& a, const T* w, T* s) {
  launch_teams<T>(a, RowSum<T>{w, false, s}, "row_sum", queue);
}

template <class T>
void row_spread(const Queue& queue, const Pattern& a, const T* s, T* w) {
  launch_teams<T>(a, RowSpread<T>{s, w}, "row_spread", queue);
}

template <class T>
void normalise(const Queue& queue, const Pattern& in, const T* w, T* scale, T* y) {
  launch_teams<T>(in, RowSum<T>{w, true, scale}, "normalise, degrees", queue);
  launch_teams<T>(in, ScaleEdges<T>{in.index, w, scale, y}, "normalise", queue);
}

template <class T>
void normalise_backward(const Queue& queue, const Pattern& in, const Pattern& out, const T* w,
                        const T* scale, const T* dy, T* dw) {
  launch_teams<T>(in, NormaliseBackward<T>{in.index, out, w, scale, dy, dw}, "normalise_backward",
                  queue);
}

template <class T>
void row_softmax(const Queue& queue, const Pattern& a, const T* s, int64_t heads, T* y) {
  if (heads == 0) return;
  launch_teams<T>(a, Softmax<T>{s, heads, y}, "row_softmax", queue);
}

template <class T>
void row_softmax_backward(const Queue& queue, const Pattern& a, const T* y, const T* dy,
                          int64_t heads, T* ds) {
  if (heads == 0) return;
  launch_teams<T>(a, SoftmaxBackward<T>{y, dy, heads, ds}, "row_softmax_backward", queue);
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(row_sum)
GRM_CUDA_KERNEL(row_spread)
GRM_CUDA_KERNEL(normalise)
GRM_CUDA_KERNEL(normalise_backward)
GRM_CUDA_KERNEL(row_softmax)
GRM_CUDA_KERNEL(row_softmax_backward)
