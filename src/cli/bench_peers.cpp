// grm bench --peers: the training data goes to a file, python3 runs bench/peers.py on it.
#include "cli/bench_peers.h"

#include <torch/types.h>

#include <map>

#include "core/embedded.h"
#include "core/files.h"
#include "core/system/process.h"
#include "core/system/temporary_folder.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "io/npz_write.h"

namespace grm {
const std::vector<EmbeddedFile>& peer_files();
}

namespace grm::cli {
namespace {

using nlohmann::ordered_json;
using Arrays = std::map<std::string, torch::Tensor>;

constexpr double kSeconds = 1800.0;  // for the peer, data loading included

void add_features(Arrays& arrays, const std::string& prefix, const Features& x) {
  arrays[prefix + "width"] = torch::full({}, x.width(), torch::kInt64);
  if (x.sparse) {
    const auto [column, row] = edge_list(*x.sparse);
    arrays[prefix + "row"] = row;
    arrays[prefix + "column"] = column;
    arrays[prefix + "value"] = x.sparse_values.defined()
                                   ? x.sparse_values.to(torch::kFloat32)
                                   : torch::ones({row.numel()}, torch::kFloat32);
  }
  if (x.dense.defined()) arrays[prefix + "dense"] = x.dense.to(torch::kFloat32).contiguous();
}

torch::Tensor edges_of(const Graph& graph) {
  const auto [source, target] = edge_list(*graph.edges);
  return torch::stack({source, target});
}

Arrays arrays_of(const Task& task) {
  Arrays arrays;
  arrays["classes"] = torch::full({}, task.classes, torch::kInt64);
  arrays["domains"] = torch::full({}, static_cast<int64_t>(task.training.size()), torch::kInt64);
  for (size_t d = 0; d < task.training.size(); ++d) {
    const Domain& domain = task.training[d];
    const bool set = domain.graph.level() == Level::graph;
    const std::string prefix = set ? "" : "d" + std::to_string(d) + ".";
    arrays[prefix + "y"] = domain.labels.y;
    arrays[prefix + "loss"] = domain.labels.loss;
    arrays[prefix + "edges"] = edges_of(domain.graph);
    add_features(arrays, prefix + "x.", domain.graph.x);
    if (!set) continue;
    arrays["parts"] = domain.graph.parts;
    if (domain.graph.edge_x.sparse || domain.graph.edge_x.dense.defined()) {
      add_features(arrays, "edge_x.", domain.graph.edge_x);
    }
  }
  return arrays;
}

// The options that the script understands, by the names that methods give them.
std::string options_of(const RunConfig& config) {
  ordered_json options;
  for (const Option& option : config.method.options().options()) {
    for (const char* known : {"hidden", "layers", "dropout", "batch"}) {
      if (option.key == known) options[known] = try_json<ordered_json>(option.get());
    }
  }
  return json_text(options);
}

}  // namespace

ordered_json run_peers(const RunConfig& config, const Task& task, int64_t epochs) {
  if (config.method_name() != "erm") {
    fail(ErrorKind::config,
         "--peers compares with PyTorch Geometric, which has no '{}'; use --method erm",
         config.method_name());
  }
  const TemporaryFolder folder("grm-peers");
  io::write_npz(folder.file("data.npz"), arrays_of(task));
  write_file_atomic(folder.file("peers.py"), peer_files().front().text);
  const std::string device = compute_device().is_cuda() ? "cuda" : "cpu";
  const std::string problem = run_program(
      {"/usr/bin/env", "python3", folder.file("peers.py"), folder.file("data.npz"), "--options",
       options_of(config), "--device", device, "--epochs", std::to_string(epochs), "--threads",
       std::to_string(grm::threads()), "--out", folder.file("peers.json")},
      kSeconds);
  if (!problem.empty()) {
    fail(ErrorKind::config,
         "the comparison with PyTorch Geometric did not run: {}; it needs python3 with torch and "
         "torch_geometric",
         problem);
  }
  const std::string path = folder.file("peers.json");
  return parse_json<ordered_json>(read_file(path), path);
}

}  // namespace grm::cli
