#include <torch/types.h>

#include "core/start.h"
#include "core/system/memory.h"
#include "grm/core/context.h"
#include "grm/graph/device.h"
#include "train/memory.h"

namespace grm {

MemoryLimit memory_limit(const torch::Device& device) {
  if (context().memory_limit > 0) return {context().memory_limit, "--memory-limit"};
  if (device.is_cuda()) {
    const DeviceMemory memory = device_memory(device);
    return {static_cast<double>(memory.free + memory.used), "free on " + device.str()};
  }
  const SystemMemory memory = system_memory();
  const Room room = room_left();
  MemoryLimit limit = {memory.free,
                       memory.container ? "left to this container" : "free on this machine"};
  if (static_cast<double>(room.bytes) < limit.bytes) {
    limit = {static_cast<double>(room.bytes), "left under " + room.limit};
  }
  limit.bytes += own_memory();
  return limit;
}

}  // namespace grm
