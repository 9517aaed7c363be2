// The operators of the engine as functions of Python, and GRM as a module for other people's loops.
#include <torch/types.h>

#include <map>
#include <memory>

#include "data/graph_sets.h"
#include "engine.h"
#include "graph/influence.h"
#include "graph/random.h"
#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "grm/nn/layers.h"
#include "methods/grm/model.h"
#include "ops/generated.h"
#include "ops/latent.h"
#include "ops/propagate.h"
#include "ops/sparse.h"

namespace grm::python {
namespace {

/// Pairs as the engine stores them, and the operators made of them so far.
class Pattern {
 public:
  Pattern(const torch::Tensor& edge_index, int64_t nodes) {
    if (edge_index.dim() != 2 || edge_index.size(0) != 2) {
      fail(ErrorKind::shape, "edge_index must be [2, m], sources and targets");
    }
    const torch::Tensor pairs = edge_index.detach().to(torch::kCPU, torch::kInt64);
    const torch::Tensor whole = torch::tensor({int64_t{0}, nodes}, torch::kInt64);
    PackedEdges packed = pack_edges(whole, pairs[0].contiguous(), pairs[1].contiguous());
    edges_ = packed.edges;
    pair_ = packed.pair;
  }
  explicit Pattern(AdjacencyPtr edges) : edges_(std::move(edges)) {
    pair_ = torch::arange(edges_->nnz(), torch::kInt64);
  }

  const AdjacencyPtr& edges() const { return edges_; }
  torch::Tensor in_edge_order(const torch::Tensor& weights) const {
    return weights.index_select(0, to_place_of(pair_, weights));
  }
  torch::Tensor edge_index() const {
    const auto [source, target] = edge_list(*edges_);
    return torch::stack({source, target});
  }

  nn::Propagation unweighted(const std::string& conv, const torch::Tensor& x) {
    const std::string key = conv + x.device().str() + c10::toString(x.scalar_type());
    const std::lock_guard<std::mutex> lock(mutex_);
    auto known = made_.find(key);
    if (known == made_.end()) {
      known = made_.emplace(key, make(conv, {}, x)).first;
    }
    return known->second;
  }
  nn::Propagation weighted(const std::string& conv, const torch::Tensor& w,
                           const torch::Tensor& x) const {
    return make(conv, in_edge_order(w), x);
  }

 private:
  nn::Propagation make(const std::string& conv, const torch::Tensor& w,
                       const torch::Tensor& x) const {
    const torch::Dtype type = x.scalar_type();
    if (const auto kind = grm::value_of<nn::Conv>(conv)) {
      return nn::make_propagation(*kind, edges_, w, type, x.device());
    }
    static const std::string kMean = "mean";
    if (conv != kMean) {
      fail(ErrorKind::config, "'{}' is not a convolution; known: kipf, sum, mean", conv);
    }
    if (w.defined()) fail(ErrorKind::config, "conv = \"mean\" takes no edge weights");
    return nn::mean_propagation(edges_, type, x.device());
  }

  AdjacencyPtr edges_;
  torch::Tensor pair_;
  std::mutex mutex_;
  std::map<std::string, nn::Propagation> made_;
};
using PatternPtr = std::shared_ptr<Pattern>;

torch::Tensor propagate(const torch::Tensor& x, const PatternPtr& pattern,
                        const torch::Tensor& weight, const torch::Tensor& bias,
                        const std::string& conv, bool relu) {
  const nn::Propagation p =
      weight.defined() ? pattern->weighted(conv, weight, x) : pattern->unweighted(conv, x);
  if (!bias.defined()) {
    const torch::Tensor y = p.apply(x);
    return relu ? torch::relu(y) : y;
  }
  return ops::propagate(p.pattern, p.weights, x, bias,
                        relu ? ops::Activation::relu : ops::Activation::none);
}

std::pair<torch::Tensor, torch::Tensor> generate(const torch::Tensor& f, const torch::Tensor& x,
                                                 const torch::Tensor& offsets, bool normalised,
                                                 double theta, bool mean) {
  const torch::Tensor parts = offsets.defined()
                                  ? offsets.detach().to(torch::kCPU, torch::kInt64).contiguous()
                                  : torch::tensor({int64_t{0}, f.size(0)}, torch::kInt64);
  return ops::generated_product_and_kl(ops::generated_tiles(parts), f, x, normalised, theta, mean);
}

PatternPtr influence(const PatternPtr& pattern, double length, double paths, int64_t members,
                     uint64_t seed) {
  InfluenceRule rule;
  rule.max_length = length;
  rule.min_paths = paths;
  rule.seed = seed;
  if (members > 0) {
    rule.sampled = true;
    rule.members = members;
  }
  const InfluenceSets sets = influence_sets(*pattern->edges(), rule);
  return std::make_shared<Pattern>(sets.rows(torch::arange(sets.nodes, torch::kInt64)));
}

/// GrmModel with its parameters, for loops that are not ours.
class GrmNet {
 public:
  GrmNet(const std::string& preset, const std::map<std::string, std::string>& values,
         int64_t features, int64_t classes, uint64_t seed, const std::string& device)
      : rng_(seed) {
    const MethodChoice choice("grm", preset);
    options_.declare(list_);
    list_.take_values(choice.options());
    for (const auto& [key, value] : values) list_.set("method", key, value);
    options_.check();
    set_ = std::make_unique<nn::ParameterSet>(rng_, torch::kFloat32, parse_device(device));
    model_ = std::make_unique<GrmModel>(*set_, options_, features, classes);
  }

  nn::ParameterSet::Named parameters() const { return set_->parameters(); }
  nn::ParameterSet::Named buffers() const { return set_->buffers(); }

  /// Logits [k, classes] of the nodes; with gradients while training, where z is a fresh sample.
  torch::Tensor logits(const Graph& graph, const torch::Tensor& nodes, bool training,
                       uint64_t step) {
    nn::Pass pass = training ? nn::Pass::train(rng_.stream("dropout", step)) : nn::Pass::evaluate();
    const PreparedBatch g = prepare(graph, nodes, training, step);
    const DomainEncoding domain = model_->encode_domain(graph, pass);
    const Posterior q = model_->posterior(domain, g, pass);
    const int64_t samples =
        training || !options_.stochastic() ? 1 : std::max<int64_t>(options_.samples, 1);
    const bool drawn = options_.stochastic() && (training || options_.samples > 0);
    torch::Tensor sum;
    for (int64_t s = 0; s < samples; ++s) {
      const torch::Tensor z = GrmModel::sample(
          q, drawn ? noise(rng_.stream(training ? "latent" : "evaluate", training ? step : s),
                           g.batch.rows())
                   : torch::Tensor());
      torch::Tensor rows = model_->classify(g, z, false, pass).logits;
      if (options_.scope == Scope::whole) rows = select_rows(rows, nodes);
      if (samples == 1) return rows;
      const torch::Tensor p = torch::softmax(rows, 1);
      sum = sum.defined() ? sum + p : p;
    }
    return torch::log((sum / static_cast<double>(samples)).clamp_min(1e-30));
  }

  /// All terms of the objective for some labelled nodes.
  std::map<std::string, torch::Tensor> losses(const Graph& graph, const torch::Tensor& nodes,
                                              const torch::Tensor& y, uint64_t step) {
    nn::Pass pass = nn::Pass::train(rng_.stream("dropout", step));
    PreparedBatch g = prepare(graph, nodes, true, step);
    model_->choose_invariance_rows(graph, g, rng_.stream("invariance", step));
    torch::Tensor eps;
    if (options_.stochastic()) eps = noise(rng_.stream("latent", step), g.batch.rows());
    const bool whole = options_.scope == Scope::whole;
    const GrmTerms t =
        model_->losses(graph, g, eps, LossKind::softmax, whole ? nodes : torch::Tensor(), y, pass);
    std::map<std::string, torch::Tensor> terms = {
        {"total", t.total(options_, options_.gamma(static_cast<int64_t>(step)))},
        {"supervision", t.supervision},
        {"latent_kl", t.latent_kl},
        {"edge_kl", t.edge_kl},
        {"invariance", t.invariance}};
    if (t.presence_kl.defined()) terms["presence_kl"] = t.presence_kl;
    return terms;
  }

  void forget_graphs() { model_->forget_graphs(); }

 private:
  PreparedBatch prepare(const Graph& graph, const torch::Tensor& nodes, bool training,
                        uint64_t step) {
    if (options_.scope == Scope::whole) return model_->prepare(whole_batch(graph.edges));
    const Stream draws = training ? rng_.stream("neighbours", step) : rng_.stream("evaluate-ego");
    return model_->prepare(ego_batch(*graph.edges, nodes, options_.fanout, draws));
  }
  torch::Tensor noise(const Stream& stream, int64_t rows) const {
    torch::Tensor eps =
        torch::empty({rows, options_.latent}, torch::dtype(torch::kFloat32).device(set_->device()));
    fill_normal(stream, eps);
    return eps;
  }

  Rng rng_;
  GrmOptions options_;
  OptionList list_;
  std::unique_ptr<nn::ParameterSet> set_;
  std::unique_ptr<GrmModel> model_;
};

}  // namespace

void bind_ops(py::module_& module) {
  const auto free = py::call_guard<py::gil_scoped_release>();
  py::class_<Pattern, PatternPtr>(module, "Pattern",
                                  "Pairs of nodes as the engine stores them; build it once.")
      .def(py::init<const torch::Tensor&, int64_t>(), py::arg("edge_index"), py::arg("num_nodes"),
           free)
      .def_property_readonly("num_nodes", [](const Pattern& p) { return p.edges()->rows(); })
      .def_property_readonly("num_edges", [](const Pattern& p) { return p.edges()->nnz(); })
      .def_property_readonly("edge_index", &Pattern::edge_index,
                             "The pairs as they are stored: [2, m], sorted by target.");
  module.def(
      "propagate",
      [](const torch::Tensor& x, const PatternPtr& pattern, const py::object& weight,
         const py::object& bias, const std::string& conv, bool relu) {
        const torch::Tensor w = tensor_or_none(weight), b = tensor_or_none(bias);
        const py::gil_scoped_release release;
        return propagate(x, pattern, w, b, conv, relu);
      },
      py::arg("x"), py::arg("pattern"), py::arg("weight"), py::arg("bias"), py::arg("conv"),
      py::arg("relu"));
  module.def(
      "generate",
      [](const torch::Tensor& f, const torch::Tensor& x, const py::object& offsets, bool normalised,
         double theta, bool mean) {
        const torch::Tensor parts = tensor_or_none(offsets);
        const py::gil_scoped_release release;
        return generate(f, x, parts, normalised, theta, mean);
      },
      py::arg("f"), py::arg("x"), py::arg("offsets"), py::arg("normalised"), py::arg("theta"),
      py::arg("mean"));
  module.def("influence_sets", &influence, py::arg("pattern"), py::arg("length"), py::arg("paths"),
             py::arg("members"), py::arg("seed"), free);
  module.def(
      "latent_sample",
      [](const torch::Tensor& heads, const py::object& eps, double shift) {
        const torch::Tensor noise = tensor_or_none(eps);
        const py::gil_scoped_release release;
        const ops::LatentSample sample = ops::latent_sample(heads, shift, noise);
        return std::make_pair(sample.z, sample.kl);
      },
      py::arg("heads"), py::arg("eps"), py::arg("shift"));
  py::class_<GrmNet>(module, "GrmNet")
      .def(py::init<const std::string&, const std::map<std::string, std::string>&, int64_t, int64_t,
                    uint64_t, const std::string&>(),
           py::arg("preset"), py::arg("options"), py::arg("features"), py::arg("classes"),
           py::arg("seed"), py::arg("device"))
      .def("parameters", &GrmNet::parameters)
      .def("buffers", &GrmNet::buffers)
      .def(
          "logits",
          [](GrmNet& net, const Domain& d, const torch::Tensor& nodes, bool training,
             uint64_t step) {
            const py::gil_scoped_release release;
            return net.logits(d.graph, nodes, training, step);
          },
          py::arg("graph"), py::arg("nodes"), py::arg("training"), py::arg("step"))
      .def(
          "losses",
          [](GrmNet& net, const Domain& d, const torch::Tensor& nodes, const torch::Tensor& y,
             uint64_t step) {
            const py::gil_scoped_release release;
            return net.losses(d.graph, nodes, y, step);
          },
          py::arg("graph"), py::arg("nodes"), py::arg("y"), py::arg("step"))
      .def("forget_graphs", &GrmNet::forget_graphs);
}

}  // namespace grm::python
