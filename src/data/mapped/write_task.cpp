#include <torch/types.h>

#include <algorithm>

#include "data/mapped/write.h"
#include "grm/core/error.h"

namespace grm::mapped {
namespace {

// Domains on one graph, with one set of features and labels, share what is written.
bool same_graph(const Domain& a, const Domain& b) {
  const Features &x = a.graph.x, &z = b.graph.x;
  return a.graph.edges == b.graph.edges && x.sparse == z.sparse && x.dense.is_same(z.dense) &&
         x.shift.is_same(z.shift) && x.sparse_values.is_same(z.sparse_values) &&
         a.graph.edge_weights.is_same(b.graph.edge_weights) && a.labels.y.is_same(b.labels.y);
}

class TaskWriter {
 public:
  TaskWriter(const Task& task, const std::string& folder, bool force)
      : task_(task), files_(folder, force) {}

  void operator()(const std::string& origin) {
    Head head;
    head.name = task_.name;
    head.origin = origin;
    head.classes = task_.classes;
    head.loss = task_.loss;
    head.metric = task_.metric;
    head.label_names = task_.label_names;
    head.feature_names = task_.feature_names;
    head.notes = task_.notes;
    std::vector<const Domain*> written;
    for (const Role role : all_values<Role>()) {
      for (const Domain& domain : task_.domains(role)) {
        const auto known = std::find_if(written.begin(), written.end(), [&](const Domain* other) {
          return same_graph(*other, domain);
        });
        const auto graph = static_cast<int64_t>(known - written.begin());
        if (known == written.end()) {
          head.graphs.push_back(write_graph(domain, written.size()));
          written.push_back(&domain);
        }
        DomainHead d{role, domain.name, domain.group, graph, {}};
        const size_t place = head.domains.size();
        put(d.arrays, files_.domain_array(place, "loss", Number::i64), "loss", domain.labels.loss);
        put(d.arrays, files_.domain_array(place, "evaluate", Number::i64), "evaluate",
            domain.labels.evaluate);
        head.domains.push_back(std::move(d));
      }
    }
    files_.finish(head);
  }

 private:
  static void put(Arrays& arrays, ArrayWriter&& writer, const std::string& what,
                  const torch::Tensor& numbers) {
    writer.add(numbers);
    arrays[what] = writer.finish();
  }

  GraphHead write_graph(const Domain& domain, size_t place) const {
    const Graph& graph = domain.graph;
    const Csr &in = graph.edges->in, &out = graph.edges->out;
    GraphHead g;
    g.name = graph.name.empty() ? domain.name : graph.name;
    g.nodes = graph.nodes();
    g.edges = graph.edges->nnz();
    g.symmetric = torch::equal(in.offsets, out.offsets) && torch::equal(in.indices, out.indices);
    const auto add = [&](const char* what, Number type, const torch::Tensor& numbers) {
      if (!numbers.defined()) return;
      put(g.arrays, files_.graph_array(place, what, type), what, numbers);
    };
    add("in_offsets", Number::i64, in.offsets);
    add("in_indices", Number::i32, in.indices);
    add("y", Number::i64, domain.labels.y);
    if (graph.x.dense.defined()) g.dense = graph.x.dense.size(1);
    add("x", Number::f32, graph.x.dense);
    if (graph.x.sparse) {
      g.sparse = graph.x.sparse->cols();
      add("sparse_offsets", Number::i64, graph.x.sparse->in.offsets);
      add("sparse_indices", Number::i32, graph.x.sparse->in.indices);
      add("sparse_values", Number::f32, graph.x.sparse_values);
    }
    add("shift", Number::f32, graph.x.shift);
    add("edge_weights", Number::f32, graph.edge_weights);
    if (graph.edge_x.width() > 0) {
      g.edge_features = graph.edge_x.width();
      add("edge_x", Number::f32,
          graph.edge_x.sparse ? graph.edge_x.to_dense() : graph.edge_x.dense);
    }
    return g;
  }

  const Task& task_;
  FolderWriter files_;
};

}  // namespace

void write_task(const Task& task, const std::string& folder, const std::string& origin,
                bool force) {
  if (task.level != Level::node || target_of(task.loss) != Target::classes) {
    fail(ErrorKind::config,
         "{} has {} targets of {}s; mapped graphs hold classes of nodes, other data is written "
         "without --mapped",
         task.name, to_string(target_of(task.loss)), to_string(task.level));
  }
  TaskWriter(task, folder, force)(origin);
}

}  // namespace grm::mapped
