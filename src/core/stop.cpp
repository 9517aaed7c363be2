#include "core/stop.h"

#include <utility>

namespace grm {
namespace {
thread_local StopScope* t_scope = nullptr;
}

StopScope::StopScope(std::function<bool()> wanted)
    : wanted_(std::move(wanted)), outer_(std::exchange(t_scope, this)) {}

StopScope::~StopScope() {
  t_scope = outer_;
}

void check_stop() {
  for (const StopScope* scope = t_scope; scope != nullptr; scope = scope->outer_) {
    if (scope->wanted_()) throw Stopped();
  }
}

}  // namespace grm
