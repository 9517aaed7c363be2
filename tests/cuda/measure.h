#pragma once

#include <algorithm>
#include <memory>

#include "patterns.h"

// Launches are captured in a graph and replayed, so that what the host does stays out of the
// figures; medians of replays.
namespace test {

// Microseconds of one call of `launch`.
inline double time_of(const std::function<void()>& launch, int calls = 20) {
  launch();
  must(cudaStreamSynchronize(stream()), "warm up");
  cudaGraph_t graph;
  cudaGraphExec_t program;
  must(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "capture");
  for (int k = 0; k < calls; ++k) launch();
  must(cudaStreamEndCapture(stream(), &graph), "capture");
  must(cudaGraphInstantiate(&program, graph, 0), "instantiate");
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int k = 0; k < 12; ++k) {
    cudaEventRecord(begin, stream());
    must(cudaGraphLaunch(program, stream()), "replay");
    cudaEventRecord(end, stream());
    must(cudaEventSynchronize(end), "replay");
    float ms = 0.0f;
    cudaEventElapsedTime(&ms, begin, end);
    if (k >= 2) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  cudaGraphExecDestroy(program);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[times.size() / 2] * 1000.0 / calls;
}

inline void line(const char* what, double us, double bytes, double flops, const char* note) {
  std::printf("| %-44s | %9.2f | %8.0f | %8.2f | %s |\n", what, us, bytes / us * 1e-3,
              flops / us * 1e-6, note);
}

void measure_sparse(Random& random);
void measure_dense(Random& random);

}  // namespace test
