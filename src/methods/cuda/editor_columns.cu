// Graph editors: a warp for each column.
#include "methods/editor_columns.h"

#include "core/cuda/philox.cuh"

namespace grm::cuda {
namespace {

using namespace kernels::editor;

struct WarpLanes {
  static constexpr int kSize = kWarp;
  __device__ int lane() const { return threadIdx.x % kWarp; }
  __device__ double sum(double value) const { return warp_sum(value); }
  __device__ double through(double value) const {
    for (int offset = 1; offset < kWarp; offset *= 2) {
      const double other = __shfl_up_sync(kAllLanes, value, offset);
      if (lane() >= offset) value += other;
    }
    return value;
  }
  __device__ int first(bool hit) const { return __ffs(__ballot_sync(kAllLanes, hit)) - 1; }
  __device__ int last(bool hit) const { return 31 - __clz(__ballot_sync(kAllLanes, hit)); }
  __device__ double from(double value, int lane) const {
    return __shfl_sync(kAllLanes, value, lane);
  }
  __device__ void sync() const { __syncwarp(); }
};

struct InitialValue {
  uint64_t key;
  bool zeros;
  __device__ float at(int64_t source) const {
    if (zeros) return 0.0f;
    uint32_t word[4];
    philox(key, static_cast<uint64_t>(source / 4), word);
    const int which = static_cast<int>(source % 4);
    return unit_float(which < 2 ? (which == 0 ? word[0] : word[1])
                                : (which == 2 ? word[2] : word[3]));
  }
};

using Work = ColumnWork<WarpLanes, InitialValue>;

__device__ inline Work work_on(const Columns& columns, int64_t column) {
  const uint64_t key = mix(read_key(columns.initial), static_cast<uint64_t>(column));
  return Work(WarpLanes{}, columns, column, InitialValue{key, columns.zeros});
}

__global__ void __launch_bounds__(kBlock) start_kernel(const Columns columns, const Grid grid) {
  const int64_t column = global_warp();
  if (column < columns.nodes) work_on(columns, column).start(grid);
}

__global__ void __launch_bounds__(kBlock)
    draw_kernel(const Columns columns, StreamKey key, int64_t edits, int32_t* flips) {
  const int64_t column = global_warp();
  if (column >= columns.nodes) return;
  Draws draws{mix(read_key(key), static_cast<uint64_t>(column))};
  work_on(columns, column).draw(edits, draws, flips + column * edits);
}

__global__ void __launch_bounds__(kBlock)
    step_kernel(const Columns columns, const Grid grid, const int32_t* flips, int64_t edits,
                StepPlaces places, double count, double keep) {
  const int64_t column = global_warp();
  const double reward = *places.reward;
  if (column >= columns.nodes || !isfinite(reward)) return;
  work_on(columns, column)
      .step(flips + column * edits, edits, reward, count,
            Step{keep, *places.step_size, *places.second_scale}, grid);
}

unsigned blocks_of(const Columns& columns) {
  return blocks_for(columns.nodes, kBlock / kWarp);
}

}  // namespace

void start_columns(const Queue& queue, const Columns& columns, const Grid& grid) {
  if (columns.nodes == 0) return;
  start_kernel<<<blocks_of(columns), kBlock, 0, stream_of(queue)>>>(columns, grid);
  check_launch("start_columns");
}

void draw_columns(const Queue& queue, const Columns& columns, StreamKey draws, int64_t edits,
                  int32_t* flips) {
  if (columns.nodes == 0) return;
  draw_kernel<<<blocks_of(columns), kBlock, 0, stream_of(queue)>>>(columns, draws, edits, flips);
  check_launch("draw_columns");
}

void step_columns(const Queue& queue, const Columns& columns, const Grid& grid,
                  const int32_t* flips, int64_t edits, const StepPlaces& places, double count,
                  double keep) {
  if (columns.nodes == 0) return;
  step_kernel<<<blocks_of(columns), kBlock, 0, stream_of(queue)>>>(columns, grid, flips, edits,
                                                                   places, count, keep);
  check_launch("step_columns");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::editor::start_columns, start_columns)
GRM_CUDA_KERNEL_OF(kernels::editor::draw_columns, draw_columns)
GRM_CUDA_KERNEL_OF(kernels::editor::step_columns, step_columns)
