// Configurations, runs and models: the same calls as the program's verbs train, predict and explain.
#include <torch/types.h>

#include <memory>

#include "core/files.h"
#include "data/memory.h"
#include "engine.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "grm/train/explain_item.h"
#include "grm/train/predict.h"
#include "network.h"
#include "train/memory_input.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace grm::python {
namespace {

py::list option_rows(const OptionList& list) {
  py::list rows;
  for (const Option& o : list.options()) {
    rows.append(py::make_tuple(o.key, o.type, o.get(), o.default_value, o.allowed, o.help));
  }
  return rows;
}

Task load_task(const RunConfig& config, const std::string& root, bool allow_missing) {
  DataContext data;
  data.root = root;
  data.allow_missing = allow_missing;
  const std::string cache = cache_folder();
  data.cache = cache.empty() ? "" : cache + "/data";
  return in_engine("cpu", [&] { return load_within_memory(config.dataset, data); });
}

Task take_task(const RunConfig& config, const Task& task) {
  return in_engine("cpu", [&] {
    const MemoryTask scope(task);
    return config.dataset.load({});
  });
}

py::dict report_of(const EpochReport& report) {
  py::dict d, loss;
  for (const LossTerm& term : report.terms) loss[term.name.c_str()] = term.value;
  d["epoch"] = report.epoch;
  d["epochs"] = report.epochs;
  d["loss"] = loss;
  d["evaluated"] = report.evaluated;
  d["validation"] = report.validation;
  d["best_validation"] = report.best_validation;
  return d;
}

// What Python threw while the engine ran. It is carried over the engine's own code and rethrown where
// the GIL is held.
struct PythonFailed : std::exception {};

/// Trains one seed in `folder`. `callback`(report) is called after each epoch and may answer True:
/// enough. `pressed`() tells of Ctrl-C, which ends the run with a checkpoint: the answer is (record,
/// "") or ("", folder).
py::tuple fit(const RunConfig& config, const Task& task, int64_t seed, const std::string& folder,
              const py::object& callback, const py::object& pressed, const py::object& network) {
  Messages messages;
  std::exception_ptr python_error;
  bool enough = false;
  RunHooks hooks;
  hooks.on_epoch = [&](const EpochReport& report) {
    const py::gil_scoped_acquire gil;
    try {
      messages.deliver();
      if (!callback.is_none()) enough = callback(report_of(report)).cast<bool>();
    } catch (...) {
      python_error = std::current_exception();
      throw PythonFailed();
    }
  };
  hooks.enough = [&] { return enough; };
  hooks.interrupted = [&] {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return pressed().cast<bool>();
    PyErr_Clear();
    return true;
  };
  const nn::OwnNetworkMaker maker = network_maker(network);
  std::string record, stopped;
  try {
    in_engine(config.train.device, messages, [&] {
      const NetworkScope networks(maker);
      try {
        record = to_json_text(train_run(config, task, seed, RunFolder(folder), hooks));
      } catch (const Interrupted& stop) {
        stopped = stop.what();
      }
    });
  } catch (const PythonFailed&) {
    // below
  }
  messages.deliver();
  if (python_error) std::rethrow_exception(python_error);
  return py::make_tuple(record, stopped);
}

py::dict to_dict(const ItemExplanation& e) {
  py::list nodes, edges;
  for (const ExplainedNode& n : e.nodes) {
    nodes.append(py::make_tuple(n.id, n.name, n.distance, n.self_weight));
  }
  for (const ExplainedEdge& edge : e.edges) {
    edges.append(py::make_tuple(edge.source, edge.target, edge.weight, edge.spread, edge.observed(),
                                to_string(edge.fate), edge.clear));
  }
  py::dict d;
  d["item"] = e.item;
  d["name"] = e.name;
  d["level"] = to_string(e.level);
  d["probabilities"] = e.probabilities;
  d["predicted"] = e.predicted;
  d["label"] = e.label;
  d["labels"] = e.labels;
  d["generated"] = e.generated;
  d["centre"] = e.centre;
  d["threshold"] = e.threshold;
  d["differ"] = e.differ;
  d["remark"] = no_difference(e);
  d["nodes"] = nodes;
  d["edges"] = edges;
  return d;
}

/// A model of one thread at a time, on a device.
class Predictor {
 public:
  Predictor(const std::string& path, std::string device, const py::object& network)
      : device_(std::move(device)) {
    const nn::OwnNetworkMaker maker = network_maker(network);
    in_engine(device_, [&] {
      const NetworkScope networks(maker);
      model_ = std::make_unique<Model>(load(path));
    });
  }

  py::tuple predict(const Domain& domain, const py::object& items) {
    const torch::Tensor some = tensor_or_none(items);
    const Prediction p = in_engine(device_, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return some.defined() ? model_->predict(domain.graph, some) : model_->predict(domain.graph);
    });
    return py::make_tuple(p.logits, none_or_tensor(p.classes), none_or_tensor(p.probabilities),
                          none_or_tensor(p.spread), none_or_tensor(p.entropy),
                          none_or_tensor(p.values));
  }

  py::dict explain(const Domain& domain, int64_t item) {
    return to_dict(in_engine(device_, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      Domain ready = domain;
      ready.graph = model_->prepared(domain.graph);
      ItemExplanation e = explain_item(model_->method(), model_->about().method, ready, item,
                                       model_->temperature());
      model_->forget_graphs();
      e.labels = model_->about().label_names;
      return e;
    }));
  }

  py::dict weights() {
    py::dict all;
    for (const auto& [name, tensor] : model_->method().parameters().snapshot()) {
      all[name.c_str()] = tensor;
    }
    return all;
  }

  py::dict about() const {
    const ModelAbout& a = model_->about();
    py::dict d;
    d["format"] = a.format;
    d["version"] = a.version;
    d["config"] = a.config;
    d["seed"] = a.seed;
    d["epoch"] = a.epoch;
    d["temperature"] = a.temperature;
    d["dataset"] = a.dataset;
    d["method"] = a.method;
    d["preset"] = a.preset;
    d["level"] = to_string(a.level);
    d["classes"] = a.classes;
    d["features"] = a.features;
    d["edge_features"] = a.edge_features;
    d["metric"] = to_string(a.metric);
    d["target"] = to_string(target_of(a.loss));
    d["label_names"] = a.label_names;
    d["feature_names"] = a.feature_names;
    d["preprocessing"] = a.preprocessing;
    return d;
  }

  std::vector<Domain> read(const std::string& data, const std::string& root) {
    DataContext context;
    context.root = root;
    std::vector<Domain> domains;
    in_engine("cpu", [&] {
      const ModelAbout& a = model_->about();
      if (is_own_data(data)) {  // predict() prepares them
        check_memory_to_read(data, own_input_files(data));
        domains = load_for_prediction(data, a.preprocessing, a.level, a.features, a.edge_features);
        return;
      }
      for (Asked& asked : data_to_predict(*model_, data, context)) {
        domains.push_back(std::move(asked.domain));
      }
    });
    return domains;
  }

  ~Predictor() {
    const py::gil_scoped_release release;
    model_.reset();
  }

 private:
  std::string device_;
  std::mutex mutex_;
  std::unique_ptr<Model> model_;
};

double score_of(const std::string& metric, const torch::Tensor& logits, const torch::Tensor& y) {
  const auto kind = grm::value_of<MetricKind>(metric);
  if (!kind) fail(ErrorKind::config, "'{}' is not a metric", metric);
  return score(*kind, logits, y);
}

py::list method_rows() {
  py::list rows;
  for (const MethodEntry& entry : methods()) {
    for (const Preset& preset : entry.presets) {
      rows.append(py::make_tuple(entry.name, preset.name, to_string(entry.level), entry.summary,
                                 preset.summary, &preset == &entry.presets.front()));
    }
  }
  return rows;
}

}  // namespace

void bind_train(py::module_& module) {
  py::class_<RunConfig>(module, "Config", "All that defines a run but its seed.")
      .def(py::init<const std::string&, const std::string&, const std::string&>(),
           py::arg("dataset"), py::arg("method"), py::arg("preset"))
      .def("set", &RunConfig::set, py::arg("key"), py::arg("value"))
      .def("to_toml", &RunConfig::to_toml, py::arg("seed"))
      .def_property_readonly("dataset", &RunConfig::dataset_name)
      .def_property_readonly("method", &RunConfig::method_name)
      .def_property_readonly("preset", [](const RunConfig& c) { return c.method.preset(); })
      .def_property_readonly("device", [](const RunConfig& c) { return c.train.device; })
      .def_property_readonly("selection",
                             [](const RunConfig& c) { return to_string(c.train.selection); })
      .def("method_options", [](const RunConfig& c) { return option_rows(c.method.options()); })
      .def("dataset_options", [](const RunConfig& c) { return option_rows(c.dataset.options()); })
      .def("train_options",
           [](const RunConfig& c) {
             TrainOptions copy = c.train;
             OptionList list;
             copy.declare(list);
             return option_rows(list);
           })
      .def("load", &load_task, py::arg("root"), py::arg("allow_missing"))
      .def("take", &take_task, py::arg("task"));
  module.def("memory_name", [](const std::string& level) {
    return memory_name(grm::value_of<Level>(level).value_or(Level::node));
  });
  module.def("fit", &fit, py::arg("config"), py::arg("task"), py::arg("seed"), py::arg("folder"),
             py::arg("callback"), py::arg("pressed"), py::arg("network"));
  module.def(
      "create_run_folder",
      [](const std::string& root, const RunConfig& config, int64_t seed) {
        return create_run_folder(root, config, seed).path();
      },
      py::arg("root"), py::arg("config"), py::arg("seed"));
  module.def(
      "find_run_folder",
      [](const std::string& root, const RunConfig& config, int64_t seed, const Task& task) {
        return find_run_folder(root, config, seed, &task.hashes).path();
      },
      py::arg("root"), py::arg("config"), py::arg("seed"), py::arg("task"));
  py::class_<Predictor>(module, "Model", "A trained model without its training data.")
      .def(py::init<const std::string&, std::string, const py::object&>(), py::arg("path"),
           py::arg("device"), py::arg("network"))
      .def("predict", &Predictor::predict, py::arg("graph"), py::arg("items"))
      .def("explain", &Predictor::explain, py::arg("graph"), py::arg("item"))
      .def("about", &Predictor::about)
      .def("weights", &Predictor::weights)
      .def("read", &Predictor::read, py::arg("data"), py::arg("root"));
  module.def(
      "config_sections", [](const std::string& text) { return config_sections(text, "the model"); },
      py::arg("text"));
  module.def("score", &score_of, py::arg("metric"), py::arg("logits"), py::arg("y"));
  module.def("method_table", &method_rows);
  module.def("resolve_device", [](const std::string& device) {
    const torch::Device place = parse_device(device);
    return place.is_cuda() ? (device == "auto" ? std::string("cuda") : device) : std::string("cpu");
  });
}

}  // namespace grm::python
