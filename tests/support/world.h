#pragma once

#include <functional>
#include <memory>

#include "dist/group.h"

namespace grm::test {

/// Runs `body` once for every rank of a world whose members are threads of this process, connected by
/// real Gloo over loopback; a world of one without it. What a member throws ends the others, and the
/// first error of the lowest rank is thrown on. A test asks dist::can_join() before.
void as_world(int world, const std::function<void(const std::shared_ptr<dist::Group>&)>& body,
              double timeout = 20.0);

}  // namespace grm::test
