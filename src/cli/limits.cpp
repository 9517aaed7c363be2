// Room for threads under limits of memory.
#include <torch/types.h>

#include "cli/cli.h"
#include "core/start.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm::cli {

void check_room_for_threads(int count) {
  const Room room = room_left();
  if (room.limit.empty() || room.bytes >= static_cast<uint64_t>(count) * kThreadSpace) return;
  const uint64_t fitting = room.bytes / kThreadSpace;
  fail(ErrorKind::memory, "{} thread{} need{} {} MiB of memory, but {} MiB are left under {}; {}",
       count, count == 1 ? "" : "s", count == 1 ? "s" : "",
       static_cast<uint64_t>(count) * (kThreadSpace >> 20), room.bytes >> 20, room.limit,
       fitting == 0 ? "raise the limit"
                    : fmt::format("--threads {} fits, or raise the limit", fitting));
}

void take_room_for_threads() {
  if (room_left().limit.empty()) return;
  parallel_chunks(4 * threads(), 1, [](int64_t, int64_t) {});
  const torch::Tensor a = torch::zeros({512, 128});
  torch::mm(a, a.t());
}

}  // namespace grm::cli
