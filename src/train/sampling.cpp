#include "train/sampling.h"

#include "dist/group.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "grm/graph/shapes.h"

namespace grm {
namespace {

std::string methods_that_sample() {
  std::string names;
  for (const MethodEntry& entry : methods()) {
    if (entry.make()->takes_batches()) names += (names.empty() ? "" : ", ") + entry.name;
  }
  return names;
}

}  // namespace

Sampling sampling_of(const RunConfig& config) {
  const Sampling sampling = {config.train.batch, config.train.fanout};
  if (!sampling.on()) {
    if (sampling.fanout.empty()) return sampling;
    fail(ErrorKind::config,
         "train.fanout says how many neighbours a sample has, but nothing is sampled: set "
         "train.batch as well, as in train.batch=1024");
  }
  if (config.method.entry().level == Level::graph) {
    fail(ErrorKind::config,
         "train.batch is for the nodes of large graphs; sets of graphs are cut into batches by "
         "method.batch");
  }
  if (!config.method.recipe().takes_batches()) {
    fail(
        ErrorKind::config,
        "{} with these options trains on whole graphs, so train.batch means nothing to it; methods "
        "that train on samples are {}; erm, drnn and mmd with method.backbone = gcn, sage, gat, "
        "gatv2, gin or mlp",
        config.method_name(), methods_that_sample());
  }
  return sampling;
}

void check_parts(const RunConfig& config, const Task& task,
                 const std::shared_ptr<dist::Group>& group) {
  if (!task.training.front().graph.parted) return;
  const MethodRecipe& method = config.method.recipe();
  if (!method.reads_parts()) {
    fail(ErrorKind::config,
         "{} with these options does not read a graph in parts (docs/cluster.md says which methods "
         "do); give the folder that was cut",
         config.method_name());
  }
  if (compute_device().is_cuda() && dist::group_or_alone(group).world() > 1) {
    fail(ErrorKind::config,
         "several processes read a graph in parts on the CPU alone: --device cpu");
  }
}

void check_both_ways(const Task& task, const Sampling& sampling) {
  if (sampling.on()) return;
  for (const Domain& domain : task.training) {
    const AdjacencyPtr& words = domain.graph.x.sparse;
    if (domain.graph.edges->out_edge.defined() && (!words || words->out_edge.defined())) continue;
    fail(ErrorKind::config,
         "the graph of {} has {} nodes and {:.0f} edges, is mapped from its file and too large to "
         "train on as a whole; train on samples: --set train.batch=1024 --set train.fanout=15,10",
         domain.name, domain.graph.nodes(), shape_of(domain.graph).edges);
  }
}

}  // namespace grm
