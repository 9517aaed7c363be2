#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "grm/train/memory.h"
#include "grm/train/shapes.h"

// The pieces that estimates of all methods are put together from. Sizes are bytes.
namespace grm::memory {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kFloat = 4.0;
/// Resident size of the program with libtorch loaded and its threads started, before any data.
constexpr double kProgram = 210 * kMiB;

/// Collects the parts; numbers go to where the run computes.
class Parts {
 public:
  explicit Parts(bool cuda) : cuda_(cuda) {}
  void numbers(const std::string& what, double bytes) {
    add(what, cuda_ ? 0 : bytes, cuda_ ? bytes : 0);
  }
  void host(const std::string& what, double bytes) { add(what, bytes, 0); }
  /// Topology: on the host, and a copy beside the numbers.
  void topology(const std::string& what, double bytes) { add(what, bytes, cuda_ ? bytes : 0); }
  bool cuda() const { return cuda_; }
  MemoryEstimate estimate;

 private:
  void add(const std::string& what, double on_host, double on_device) {
    if (on_host + on_device > 0) estimate.parts.push_back({what, on_host, on_device});
  }
  bool cuda_;
};

/// A pattern with its transpose: 4 + 4 bytes of indices and 8 of edge ids for every pair.
inline double adjacency(double pairs, double rows, double cols) {
  return 16.0 * pairs + 8.0 * (rows + cols + 2);
}

/// The operator of a convolution on a graph: kipf copies the pattern with self-pairs and weighs it.
inline double convolution(nn::Conv conv, double nodes, double edges) {
  if (conv != nn::Conv::kipf) return 0.0;
  return adjacency(edges + nodes, nodes, nodes) + kFloat * (edges + nodes);
}

/// Parameters, gradients, two moments, the best epoch's copy and one in passing.
inline double model(double parameters) {
  return 6.0 * kFloat * parameters;
}

/// Activations of one training pass over a graph: what waits for the backward pass, and what comes
/// and goes besides.
struct Pass {
  double kept = 0.0;
  double passing = 0.0;
  double parameters = 0.0;
};
Pass backbone_pass(const OptionValues& options, const GraphShape& graph, double classes);

/// Sizes that have to be looked up in the graphs. Kept, since one configuration after the other is
/// estimated when options that fit are looked for.
class Measures {
 public:
  /// Ego-nets of one target, on average; `evaluated`: of the nodes that the metric sees.
  const BatchShape& ego(const Domain& domain, const std::vector<int64_t>& fanout, bool evaluated);
  /// Size of V_i^D on average, from a few nodes: of the whole set, and of what is found of it
  /// around the node.
  double members(const Adjacency& edges, const GrmOptions& options);
  double local_members(const Adjacency& edges, const GrmOptions& options);

 private:
  std::map<std::tuple<const Domain*, std::vector<int64_t>, bool>, BatchShape> ego_;
  std::map<std::tuple<const Adjacency*, double, double>, double> members_;
  std::map<std::tuple<const Adjacency*, int64_t, int64_t>, double> local_;
};

/// The estimate with what was measured before.
MemoryEstimate estimate(const RunConfig& config, const Task& task, const torch::Device& device,
                        Measures& measures);

/// The parts of one method beside program and data.
void grm_parts(Parts& parts, const GrmOptions& options, const Task& task, Measures& measures);
void backbone_parts(Parts& parts, const std::string& method, const OptionValues& options,
                    const Task& task, int64_t epochs);
void graph_level_parts(Parts& parts, const std::string& method, const OptionValues& options,
                       const Task& task);

/// Shapes of the domains of a role.
std::vector<GraphShape> shapes(const std::vector<Domain>& domains);
/// Sum over the distinct topologies of all domains, or of the training ones, of what `of` says.
template <class Of>
double over_topologies(const Task& task, bool evaluated, const Of& of) {
  std::vector<const Adjacency*> seen;
  double sum = 0;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    if (role != Role::train && !evaluated) continue;
    for (const Domain& domain : task.domains(role)) {
      const Adjacency* edges = domain.graph.edges.get();
      if (std::find(seen.begin(), seen.end(), edges) != seen.end()) continue;
      seen.push_back(edges);
      sum += of(domain);
    }
  }
  return sum;
}

}  // namespace grm::memory
