#pragma once

#include <torch/types.h>

#include "grm/core/log.h"

namespace grm {

/// What a run uses and its caller owns. Two runs in one process may have one each: a thread uses the
/// context of its innermost ContextScope, and one of the process where there is none, so that a
/// program with one run at a time need not know of this.
///
/// The number of threads is not in here: OpenMP, libtorch and OpenBLAS count theirs once a process
/// (core/threads.h). Stages are recorded by thread as they are (core/stages.h).
struct Context {
  torch::Device device{torch::kCPU};  // set it through set_compute_device(), which checks it
  double memory_limit = 0;            // bytes that a run may use; 0: what is free
  LogSink log;                        // without one, messages are dropped
};

/// The context of this thread. What parallel_chunks() starts has that of its caller.
Context& context();

/// Makes a context that of this thread while the scope lives. The context must live longer.
class ContextScope {
 public:
  explicit ContextScope(Context& of_this_thread);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  Context* outer_;
};

}  // namespace grm
