#include "methods/graph/environments.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/core/log.h"

namespace grm::graph_level {

void EnvironmentOptions::declare(OptionList& list) {
  list.choice("environments", environments,
              "the environments of graphs: those that the data names, or equal parts by number of "
              "nodes; auto: by size where none are named");
  list.add("environment_parts", environment_parts, {1, 1000}, "size: number of parts");
}

GraphEnvironments environments_of(const EnvironmentOptions& options, const Domain& training) {
  const torch::Tensor& ids = training.labels.loss;
  const torch::Tensor& named = training.labels.environment;
  if (options.environments != EnvironmentSource::size && named.defined()) {
    return {named, std::max<int64_t>(1, named.index_select(0, ids).max().item<int64_t>() + 1)};
  }
  if (options.environments == EnvironmentSource::named) {
    fail(ErrorKind::config,
         "the training set '{}' names no environments, which method.environments = named asks "
         "for; size makes them of the numbers of nodes",
         training.name);
  }
  const int64_t n = ids.numel(), parts = std::min(options.environment_parts, n);
  if (options.environments == EnvironmentSource::automatic) {
    log_info("{}: no environments are named; {} parts by number of nodes take their place",
             training.name, parts);
  }
  const torch::Tensor sizes = training.graph.parts.diff().index_select(0, ids);
  const torch::Tensor order = std::get<1>(sizes.sort(/*stable=*/true, 0, /*descending=*/false));
  torch::Tensor of_item = torch::full({training.graph.items()}, -1, torch::kInt64);
  of_item.index_put_({ids.index_select(0, order)},
                     (torch::arange(n, torch::kInt64) * parts).floor_divide(n));
  return {of_item, parts};
}

}  // namespace grm::graph_level
