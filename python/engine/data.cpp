// Graphs and tasks: tensors of Python become domains without a copy where type and layout allow it.
#include <fmt/ranges.h>
#include <torch/types.h>

#include "core/files.h"
#include "data/describe.h"
#include "data/graph_sets.h"
#include "data/own/targets.h"
#include "data/shift.h"
#include "engine.h"
#include "grm/core/error.h"
#include "grm/data/dataset.h"
#include "grm/data/own_data.h"

namespace grm::python {
namespace {

bool whole_numbers(const torch::Tensor& t) {
  return torch::isIntegralType(t.scalar_type(), /*includeBool=*/false);
}

torch::Tensor host(const torch::Tensor& t, torch::Dtype dtype) {
  return t.detach().to(torch::kCPU, dtype).contiguous();
}

// Numbers of features: the tensor itself if it is float32 and contiguous. One on a GPU is read by the
// host as well, so it has a copy there, but the GPU goes on with the caller's.
torch::Tensor numbers(const torch::Tensor& given, const Features& features) {
  const torch::Tensor t = given.detach().to(torch::kFloat32).contiguous();
  if (!t.is_cuda()) return t;
  const torch::Tensor copy = t.cpu();
  features.has_copy(copy, t);
  return copy;
}

struct SparseArrays {
  torch::Tensor offsets, indices, values;
  int64_t cols = 0;
};

void set_features(Features& features, const torch::Tensor& x, const py::object& sparse) {
  if (x.defined()) {
    if (x.dim() != 2 || x.size(0) == 0) {
      fail(ErrorKind::shape, "x must be [n, d], a row of features for each node; it has shape {}",
           fmt::format("[{}]", fmt::join(x.sizes(), ", ")));
    }
    features.dense = numbers(x, features);
  }
  if (sparse.is_none()) return;
  const auto arrays = sparse.cast<py::tuple>();  // offsets, indices, values or None, columns
  Csr csr;
  csr.offsets = host(arrays[0].cast<torch::Tensor>(), torch::kInt64);
  csr.indices = host(arrays[1].cast<torch::Tensor>(), torch::kInt32);
  csr.rows = csr.offsets.numel() - 1;
  csr.cols = arrays[3].cast<int64_t>();
  features.sparse = with_transpose(csr);
  const torch::Tensor values = tensor_or_none(arrays[2]);
  if (values.defined()) features.sparse_values = numbers(values, features);
}

torch::Tensor items_of(const py::object& given, const torch::Tensor& y, const char* what) {
  const torch::Tensor known = y.dim() == 2 ? y.isnan().all(1).logical_not() : y.ge(0);
  if (given.is_none()) return torch::nonzero(known).reshape({-1});
  torch::Tensor mask = given.cast<torch::Tensor>().detach().cpu();
  if (mask.dim() != 1 || mask.scalar_type() != torch::kBool || mask.numel() != y.size(0)) {
    fail(ErrorKind::shape, "{} must be [{}] booleans, one for each item", what, y.size(0));
  }
  return torch::nonzero(mask.logical_and(known)).reshape({-1});
}

Domain make(const std::string& name, const torch::Tensor& edge_index, const py::object& x,
            const py::object& sparse, const py::object& y, const py::object& loss,
            const py::object& evaluate, const py::object& graph, const py::object& edge_attr,
            const py::object& edge_weight, std::vector<std::string> item_names) {
  if (edge_index.dim() != 2 || edge_index.size(0) != 2 || !whole_numbers(edge_index)) {
    fail(ErrorKind::shape,
         "edge_index must be [2, m] whole numbers, sources and targets; it has shape [{}] and type "
         "{}",
         fmt::join(edge_index.sizes(), ", "), c10::toString(edge_index.scalar_type()));
  }
  Domain domain;
  domain.name = domain.group = name;
  domain.graph.name = name;
  set_features(domain.graph.x, tensor_or_none(x), sparse);
  const bool has_rows = domain.graph.x.dense.defined() || domain.graph.x.sparse;
  if (!has_rows) fail(ErrorKind::shape, "{}: a graph needs x, features of its nodes", name);
  const int64_t nodes = domain.graph.x.rows();
  torch::Tensor parts = torch::tensor({int64_t{0}, nodes}, torch::kInt64);
  if (!graph.is_none()) {  // first node of each graph
    parts = host(graph.cast<torch::Tensor>(), torch::kInt64);
    domain.graph.parts = parts;
  }
  const torch::Tensor pairs = edge_index.detach().to(torch::kCPU, torch::kInt64);
  torch::Tensor own_y =
      torch::full({domain.graph.parts.defined() ? parts.numel() - 1 : nodes}, -1, torch::kInt64);
  const torch::Tensor given_y = tensor_or_none(y);
  if (given_y.defined()) {
    const bool many = given_y.dim() == 2 && given_y.is_floating_point();
    if ((given_y.dim() != 1 && !many) || given_y.size(0) != own_y.numel()) {
      fail(ErrorKind::shape, "{}: y must be [{}], a label for each {}; it has shape [{}]", name,
           own_y.numel(), domain.graph.parts.defined() ? "graph" : "node",
           fmt::join(given_y.sizes(), ", "));
    }
    own_y = host(given_y, many ? torch::kFloat32 : torch::kInt64);
  }
  domain.labels.y = own_y;
  domain.labels.loss = items_of(loss, own_y, "train_mask");
  domain.labels.evaluate = items_of(evaluate, own_y, "the mask");
  const torch::Tensor attributes = tensor_or_none(edge_attr), weights = tensor_or_none(edge_weight);
  domain.item_names = std::move(item_names);
  const py::gil_scoped_release release;
  const PackedEdges packed = pack_edges(parts, pairs[0].contiguous(), pairs[1].contiguous());
  domain.graph.edges = packed.edges;
  if (attributes.defined()) {
    if (attributes.dim() != 2 || attributes.size(0) != pairs.size(1)) {
      fail(ErrorKind::shape, "{}: edge_attr must be [{}, k], a row for each pair", name,
           pairs.size(1));
    }
    domain.graph.edge_x.dense = host(attributes, torch::kFloat32).index_select(0, packed.pair);
  }
  if (weights.defined()) {
    if (weights.dim() != 1 || weights.size(0) != pairs.size(1)) {
      fail(ErrorKind::shape, "{}: edge_weight must be [{}], a number for each pair", name,
           pairs.size(1));
    }
    domain.graph.edge_weights = host(weights, torch::kFloat32).index_select(0, packed.pair);
  }
  return domain;
}

Task make_task(std::vector<Domain> training, std::vector<Domain> validation,
               std::vector<Domain> test, int64_t classes, const std::string& metric,
               std::vector<std::string> label_names, std::vector<std::string> feature_names,
               const std::string& target) {
  Task task;
  const auto wanted = grm::value_of<Target>(target);
  if (!wanted) {
    fail(ErrorKind::config, "'{}' is not a kind of target{}; known: {}", target,
         did_you_mean(target, words_of(Target{})), fmt::join(words_of(Target{}), ", "));
  }
  if (*wanted == Target::multi_label) task.loss = LossKind::multi_label;
  if (*wanted == Target::regression) task.loss = LossKind::squared;
  task.metric = metrics_of(*wanted).front();
  task.name = "in memory";
  if (training.empty()) fail(ErrorKind::data, "there is no training graph");
  task.level = training.front().graph.level();
  task.training = std::move(training);
  task.validation = std::move(validation);
  task.test = std::move(test);
  task.classes = classes;
  if (const auto kind = grm::value_of<MetricKind>(metric)) {
    task.metric = *kind;
  } else if (!metric.empty()) {
    fail(ErrorKind::config, "'{}' is not a metric{}; known: {}", metric,
         did_you_mean(metric, words_of(MetricKind{})), fmt::join(words_of(MetricKind{}), ", "));
  }
  if (*wanted == Target::regression) task.target_scale = own::fit_scale(task.training);
  task.label_names = std::move(label_names);
  task.feature_names = std::move(feature_names);
  return task;
}

py::dict law(const DomainLaw& of, bool sets) {
  py::dict d;
  d["items"] = of.items;
  d["mean_degree"] = of.mean_degree;
  if (sets) d["mean_nodes"] = of.mean_nodes;
  if (of.homophily) {
    d["edge_homophily"] = of.homophily->edge;
    d["adjusted_homophily"] = of.homophily->adjusted;
  }
  d["label_shares"] = of.label_shares;
  return d;
}

py::list columns(const std::vector<ColumnShift>& all) {
  py::list list;
  for (const ColumnShift& c : all) list.append(py::make_tuple(c.column, c.name, c.difference));
  return list;
}

py::dict shift(const Task& task, uint64_t seed) {
  const ShiftReport report = in_engine("cpu", [&] { return measure_shift(task, seed); });
  const bool sets = task.level == Level::graph;
  py::list domains;
  for (const DomainShift& each : report.domains) {
    py::dict d = law(each.law, sets);
    d["domain"] = each.law.name;
    d["role"] = to_string(each.role);
    d["verdict"] = to_string(each.level);
    d["most"] = each.most;
    d["text"] = each.text;
    py::dict measures;
    for (const ShiftMeasure& m : each.measures) {
      measures[m.what.c_str()] = py::make_tuple(m.value, m.chance, to_string(m.level));
    }
    d["measures"] = measures;
    d["columns"] = columns(each.columns);
    d["spreads"] = columns(each.spreads);
    domains.append(d);
  }
  py::dict all;
  all["training"] = law(report.training, sets);
  all["domains"] = domains;
  all["verdict"] = to_string(report.level);
  all["text"] = report.text;
  all["advice"] = report.advice;
  return all;
}

py::list table_of_datasets() {
  py::list rows;
  for (const DatasetEntry& entry : datasets()) {
    rows.append(
        py::make_tuple(entry.name, to_string(entry.level), entry.summary, entry.published_at));
  }
  return rows;
}

}  // namespace

void bind_data(py::module_& module) {
  py::class_<Domain>(module, "Graph",
                     "A graph with its labels, or a set of graphs, as the engine reads it.")
      .def_property_readonly("name", [](const Domain& d) { return d.name; })
      .def_property_readonly("level", [](const Domain& d) { return to_string(d.graph.level()); })
      .def_property_readonly("num_nodes", [](const Domain& d) { return d.graph.nodes(); })
      .def_property_readonly("num_items", [](const Domain& d) { return d.graph.items(); })
      .def_property_readonly("num_edges", [](const Domain& d) { return d.graph.edges->nnz(); })
      .def_property_readonly("num_features", [](const Domain& d) { return d.graph.x.width(); })
      .def_property_readonly(
          "x", [](const Domain& d) { return none_or_tensor(d.graph.x.dense); },
          "The dense columns of the features: the caller's own tensor where it fitted.")
      .def_property_readonly(
          "x_sparse",
          [](const Domain& d) -> py::object {
            const Features& x = d.graph.x;
            if (!x.sparse) return py::none();
            return py::make_tuple(x.sparse->in.offsets, x.sparse->in.indices,
                                  none_or_tensor(x.sparse_values), x.sparse->cols());
          },
          "The sparse columns: (offsets, indices, values or None, number of columns), or None.")
      .def(
          "x_on",
          [](const Domain& d, const std::string& device) {
            return none_or_tensor(d.graph.x.on(torch::Device(device)).dense);
          },
          py::arg("device"), "The dense columns on a device.")
      .def(
          "features", [](const Domain& d) { return d.graph.x.to_dense(); },
          "All features as one dense matrix [n, d]; for looking at, not for training.")
      .def_property_readonly(
          "edge_index",
          [](const Domain& d) {
            const auto [source, target] = edge_list(*d.graph.edges);
            return torch::stack({source, target});
          },
          "The pairs as they are stored: sorted by target, equal pairs once. [2, m]")
      .def_property_readonly("parts", [](const Domain& d) { return none_or_tensor(d.graph.parts); })
      .def_property_readonly("y", [](const Domain& d) { return d.labels.y; })
      .def_property_readonly("loss_items", [](const Domain& d) { return d.labels.loss; })
      .def_property_readonly("counted_items", [](const Domain& d) { return d.labels.evaluate; })
      .def_property_readonly("item_names", [](const Domain& d) { return d.item_names; })
      .def(
          "renamed",
          [](const Domain& d, const std::string& name) {
            Domain copy = d;
            copy.name = copy.group = copy.graph.name = name;
            return copy;
          },
          py::arg("name"), "The same graph under another name.")
      .def(
          "counting",
          [](const Domain& d, const py::object& loss, const py::object& evaluate) {
            Domain copy = d;
            if (!loss.is_none()) copy.labels.loss = items_of(loss, d.labels.y, "train_mask");
            if (!evaluate.is_none()) {
              copy.labels.evaluate = items_of(evaluate, d.labels.y, "the mask");
            }
            return copy;
          },
          py::arg("loss") = py::none(), py::arg("evaluate") = py::none(),
          "The same graph with other items that count for loss and metric: masks [items].")
      .def("__repr__", [](const Domain& d) {
        const std::string items =
            d.graph.level() == Level::graph ? fmt::format("{} graphs, ", d.graph.items()) : "";
        return fmt::format("<grm.Graph {}: {}{} nodes, {} edges, {} features>", d.name, items,
                           d.graph.nodes(), d.graph.edges->nnz(), d.graph.x.width());
      });
  module.def("make_graph", &make, py::arg("name"), py::arg("edge_index"), py::arg("x"),
             py::arg("sparse"), py::arg("y"), py::arg("loss"), py::arg("evaluate"),
             py::arg("parts"), py::arg("edge_attr"), py::arg("edge_weight"), py::arg("item_names"));

  py::class_<Task>(module, "Task", "Graphs by role, number of classes, loss and metric.")
      .def_property_readonly("name", [](const Task& t) { return t.name; })
      .def_property_readonly("level", [](const Task& t) { return to_string(t.level); })
      .def_property_readonly("train", [](const Task& t) { return t.training; })
      .def_property_readonly("validation", [](const Task& t) { return t.validation; })
      .def_property_readonly("test", [](const Task& t) { return t.test; })
      .def_property_readonly("classes", [](const Task& t) { return t.classes; })
      .def_property_readonly("metric", [](const Task& t) { return to_string(t.metric); })
      .def_property_readonly("notes", [](const Task& t) { return t.notes; })
      .def_property_readonly("missing", [](const Task& t) { return t.missing; })
      .def_property_readonly("label_names", [](const Task& t) { return t.label_names; })
      .def_property_readonly("feature_names", [](const Task& t) { return t.feature_names; })
      .def(
          "sign", [](Task& t) { t.hashes["in memory"] = fingerprint(t); },
          py::call_guard<py::gil_scoped_release>(),
          "Notes a digest of the data, so that a run is not resumed with other data.");
  module.def("make_task", &make_task, py::arg("train"), py::arg("validation"), py::arg("test"),
             py::arg("classes"), py::arg("metric"), py::arg("label_names"),
             py::arg("feature_names"), py::arg("target") = "class");
  module.def("shift", &shift, py::arg("task"), py::arg("seed"));
  module.def("dataset_table", &table_of_datasets);
  module.def("is_own_data", &is_own_data, py::arg("name"));
  module.def("cache_folder", &cache_folder);
}

}  // namespace grm::python
