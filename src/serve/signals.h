#pragma once

#include <functional>

namespace grm::serve {

/// Waits until SIGINT or SIGTERM comes; a second one ends the program at once. `reload` is called after
/// each SIGHUP, `tick` every half second.
void wait_for_end(const std::function<void()>& reload, const std::function<void()>& tick);

/// From now on the signals above are kept for wait_for_end.
void watch_signals();

}  // namespace grm::serve
