#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

// Vectors of 64 bytes in the compiler's own notation: one register with AVX-512, two with AVX2.
template <class Count>
struct Vector;
template <>
struct Vector<float> {
  typedef float Type __attribute__((vector_size(64)));
  typedef int32_t Mask __attribute__((vector_size(64)));
  typedef int8_t Bytes __attribute__((vector_size(16)));
  static constexpr Mask kLaneBit = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                    1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                    1 << 12, 1 << 13, 1 << 14, 1 << 15};
};
template <>
struct Vector<double> {
  typedef double Type __attribute__((vector_size(64)));
  typedef int64_t Mask __attribute__((vector_size(64)));
  typedef int8_t Bytes __attribute__((vector_size(8)));
  static constexpr Mask kLaneBit = {1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7};
};

typedef uint8_t Bytes32 __attribute__((vector_size(32)));
typedef uint16_t Words32 __attribute__((vector_size(64)));
typedef uint16_t Words16 __attribute__((vector_size(32)));
typedef uint32_t Ints16 __attribute__((vector_size(64)));

// The largest sum of `count` lengths whose mean, rounded to double, is at most `limit`.
uint64_t largest_sum(double limit, int64_t count) {
  const double n = static_cast<double>(count);
  double sum = std::floor(limit * n) + 1.0;
  while (sum > 0.0 && sum / n > limit) sum -= 1.0;
  return static_cast<uint64_t>(sum);
}

template <class T>
void clear(std::vector<T>& values) {
  std::memset(static_cast<void*>(values.data()), 0, values.size() * sizeof(T));
}

// Path counts of the sources `reached` that arrive at `node` in this step; returns the largest.
template <class Count>
Count step(PathBlock<Count>& block, int64_t node, uint64_t reached, int length) {
  using V = Vector<Count>;
  using Type = typename V::Type;
  using Mask = typename V::Mask;
  constexpr int kWidth = 64 / sizeof(Count);
  constexpr int kParts = kPathLanes / kWidth;
  Type sum[kParts] = {};
  for (int64_t e = block.graph.offset[node]; e < block.graph.offset[node + 1]; ++e) {
    const int32_t from = block.graph.index[e];
    if ((block.front[from] & reached) == 0) continue;
    const Type* wave = reinterpret_cast<const Type*>(block.wave[from].at);
    for (int p = 0; p < kParts; ++p) sum[p] += wave[p];
  }
  Type* wave = reinterpret_cast<Type*>(block.next_wave[node].at);
  Type* total = reinterpret_cast<Type*>(block.count[node].at);
  auto* lengths = reinterpret_cast<typename V::Bytes*>(block.length[node].at);
  Type largest = {};
  for (int p = 0; p < kParts; ++p) {
    const Mask bits = Mask{} + static_cast<int32_t>((reached >> (p * kWidth)) & 0xFFFFu);
    const Mask chosen = (bits & V::kLaneBit) != 0;
    const Type counts = (Type)((Mask)sum[p] & chosen);
    largest = counts > largest ? counts : largest;
    wave[p] = counts;
    total[p] += counts;  // the lanes reached now were zero before
    lengths[p] |= __builtin_convertvector(chosen, typename V::Bytes) & static_cast<int8_t>(length);
  }
  const Count* counts = block.next_wave[node].at;
  uint16_t* log = block.log[node].at;
  const uint16_t* table = block.log_table.data();
  for (int k = 0; k < kPathLanes; ++k) {
    log[k] += table[static_cast<int>(std::min(counts[k], Count(kPathTable - 1)))];
  }
  Count most = 0;
  for (int k = 0; k < kWidth; ++k) most = std::max(most, largest[k]);
  if (most >= kPathTable) {
    for (int k = 0; k < kPathLanes; ++k) {
      if (counts[k] >= kPathTable) log[k] = PathBlock<Count>::fixed_log2(counts[k]);
    }
  }
  return most;
}

}  // namespace

template <class Count>
bool search_paths(PathBlock<Count>& block, int64_t first, int sources, int depth) {
  const uint64_t all = sources == kPathLanes ? ~uint64_t{0} : (uint64_t{1} << sources) - 1;
  clear(block.seen);
  clear(block.front);
  clear(block.count);
  clear(block.length);
  clear(block.log);
  for (int k = 0; k < sources; ++k) {
    block.seen[first + k] = block.front[first + k] = uint64_t{1} << k;
    block.wave[first + k] = {};
    block.wave[first + k].at[k] = block.count[first + k].at[k] = 1;
  }
  constexpr Count kExact = sizeof(Count) == 4 ? Count(1 << 24) : Count(0);
  bool any = true;
  for (int length = 1; any && length <= depth; ++length) {
    any = false;
    for (int64_t v = 0; v < block.graph.nodes; ++v) {
      const uint64_t open = all & ~block.seen[v];
      uint64_t reached = 0;
      for (int64_t e = block.graph.offset[v]; e < block.graph.offset[v + 1] && reached != open;
           ++e) {
        reached |= block.front[block.graph.index[e]] & open;
      }
      block.next_front[v] = reached;
      if (reached == 0) continue;
      any = true;
      const Count largest = step(block, v, reached, length);
      if (kExact > 0 && largest >= kExact) return false;
      block.seen[v] |= reached;
    }
    std::swap(block.front, block.next_front);
    std::swap(block.wave, block.next_wave);
  }
  return true;
}

template <class Count>
Verdict judge_paths(const PathBlock<Count>& block, const int32_t* members, int64_t count,
                    const PathLimits& limits) {
  uint64_t reach = ~uint64_t{0};
  for (int64_t m = 0; m < count && reach != 0; ++m) reach &= block.seen[members[m]];
  if (reach == 0) return {0, 0};

  // Sums of 256 bytes fit 16 bits and sums of 256 words fit 32; longer lists add such pieces up.
  Lanes<uint64_t> length_sum = {}, log_sum = {};
  for (int64_t begin = 0; begin < count; begin += 256) {
    const int64_t end = std::min(count, begin + 256);
    Words32 lengths[2] = {};
    Ints16 logs[4] = {};
    for (int64_t m = begin; m < end; ++m) {
      const auto* length = reinterpret_cast<const Bytes32*>(block.length[members[m]].at);
      const auto* log = reinterpret_cast<const Words16*>(block.log[members[m]].at);
      for (int p = 0; p < 2; ++p) lengths[p] += __builtin_convertvector(length[p], Words32);
      for (int p = 0; p < 4; ++p) logs[p] += __builtin_convertvector(log[p], Ints16);
    }
    for (int k = 0; k < kPathLanes; ++k) length_sum.at[k] += lengths[k / 32][k % 32];
    for (int k = 0; k < kPathLanes; ++k) log_sum.at[k] += logs[k / 16][k % 16];
  }

  // Each logarithm is off by at most half a unit (and a trifle from log2 itself), so is the mean.
  const double n = static_cast<double>(count);
  const double target = std::ldexp(limits.min_log2_paths, kPathFractionBits<Count>) * n;
  const bool always = limits.min_log2_paths <= 0.0;  // every count is at least one
  const double upper = always ? 0.0 : std::ceil(std::min(target + 0.501 * n, 1e18));
  const double lower = always ? 0.0 : std::floor(std::max(std::min(target - 0.501 * n, 1e18), 0.0));
  const auto certain = static_cast<uint64_t>(upper), possible = static_cast<uint64_t>(lower);
  const uint64_t longest = largest_sum(limits.max_length, count);
  uint64_t sure = 0, maybe = 0;
  for (int k = 0; k < kPathLanes; ++k) {
    const uint64_t near = length_sum.at[k] <= longest;
    sure |= (near & uint64_t{log_sum.at[k] >= certain}) << k;
    maybe |= (near & uint64_t{log_sum.at[k] >= possible}) << k;
  }
  return {sure & reach, maybe & ~sure & reach};
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(search_paths)
GRM_CPU_KERNEL(judge_paths)
