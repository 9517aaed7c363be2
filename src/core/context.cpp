#include "grm/core/context.h"

namespace grm {
namespace {
thread_local Context* t_context = nullptr;
}

Context& context() {
  static Context process;
  return t_context ? *t_context : process;
}

ContextScope::ContextScope(Context& of_this_thread) : outer_(t_context) {
  t_context = &of_this_thread;
}

ContextScope::~ContextScope() {
  t_context = outer_;
}

}  // namespace grm
