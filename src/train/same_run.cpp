#include "train/same_run.h"

#include <torch/types.h>

#include "dist/sharded_sum.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "train/environment.h"
#include "train/run_folder.h"

namespace grm {
namespace {

// The bits of all parameters and running statistics in one number.
int64_t fingerprint(const nn::ParameterSet& model) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const nn::ParameterSet::Named* list : {&model.parameters(), &model.buffers()}) {
    for (const auto& [name, tensor] : *list) {
      const torch::Tensor host = tensor.detach().cpu().contiguous();
      const auto* bytes = static_cast<const unsigned char*>(host.data_ptr());
      for (size_t k = 0; k < host.nbytes(); k += 4) {
        hash = (hash ^ (bytes[k] | bytes[k + 1] << 8 | bytes[k + 2] << 16 |
                        static_cast<uint64_t>(bytes[k + 3]) << 24)) *
               0x100000001B3u;
      }
    }
  }
  return static_cast<int64_t>(hash);
}

}  // namespace

std::string undivided(const RunConfig& config) {
  const MethodRecipe& method = config.method.recipe();
  return config.train.batch > 0 && method.cuts_samples() ? "" : method.undivided();
}

void check_sharding(const RunConfig& config, const std::shared_ptr<dist::Group>& group,
                    const Task* task) {
  const int world = dist::group_or_alone(group).world();
  const int64_t shards = config.train.shards;
  if (shards == 1 && world == 1) return;
  const std::string why = undivided(config);
  // Each process takes the whole step, and all of them hold the graph together.
  if (!why.empty() && shards == 1 && task && task->training.front().graph.parted) return;
  if (!why.empty() && world > 1) {
    fail(ErrorKind::config,
         "{} gains nothing from {} processes: {}; start it as one process, with more threads",
         config.method_name(), world, why);
  }
  if (!why.empty()) {
    fail(ErrorKind::config, "train.shards = {}: {} cannot be cut into shards: {}", shards,
         config.method_name(), why);
  }
  if (compute_device().is_cuda()) {
    fail(ErrorKind::config,
         "train.shards = {}: steps are cut into shards on the CPU alone; use --device cpu, or one "
         "process without train.shards",
         shards);
  }
  dist::check_shards(shards, world);
}

void check_same_setting(dist::Group& group, const Task& task, bool resumes) {
  if (group.world() == 1) return;
  const std::string own = environment_json(task);
  const std::string of_first = group.text_of_first(own);
  const std::string origin = "the environment of rank 0";
  std::string list;
  // As a run that went on from its first epoch would see it.
  for (const std::string& each : other_arithmetic(of_first, 2, origin)) {
    list += (list.empty() ? "" : "; ") + each;
  }
  const std::vector<DataChange> changes =
      data_changes(recorded_hashes(of_first, origin), task.hashes);
  const torch::Tensor found = group.gather(
      torch::tensor({int64_t{list.empty()}, int64_t{changes.empty()}, int64_t{resumes}}));
  if (!list.empty()) {
    fail(ErrorKind::config,
         "rank {} computes with another arithmetic than rank 0 ({}), so their models would part; "
         "start all alike, as with --threads 1",
         group.rank(), list);
  }
  if (!changes.empty()) {
    fail(ErrorKind::data, "rank {} has other data than rank 0: {}", group.rank(),
         changes_text(changes));
  }
  if (found.select(1, 0).min().item<int64_t>() == 0 ||
      found.select(1, 1).min().item<int64_t>() == 0) {
    fail(ErrorKind::config,
         "a process computes with another arithmetic, or has other data, than "
         "rank 0: its message names it");
  }
  if (found.select(1, 2).min().item<int64_t>() != found.select(1, 2).max().item<int64_t>()) {
    fail(ErrorKind::io,
         "some processes find the run's checkpoint and others do not; --out must be "
         "a folder that all of them see");
  }
}

Agreed agree_after_epoch(dist::Group& group, const nn::ParameterSet& model, int64_t epoch,
                         const Agreed& wanted) {
  if (group.world() == 1) return wanted;
  const torch::Tensor all = group.gather(
      torch::tensor({int64_t{wanted.stop}, int64_t{wanted.enough}, fingerprint(model)}));
  for (int64_t r = 1; r < all.size(0); ++r) {
    if (all[r][2].item<int64_t>() == all[0][2].item<int64_t>()) continue;
    fail(
        ErrorKind::device,
        "epoch {}: the model of rank {} has other bits than that of rank 0: their machines compute "
        "differently; use machines of one kind",
        epoch, r);
  }
  return {all.select(1, 0).max().item<int64_t>() > 0, all.select(1, 1).max().item<int64_t>() > 0};
}

}  // namespace grm
