// A torch.nn.Module of Python as a network of the engine. Its parameters are those of the module
// itself, so optimisers, checkpoints and model files work on them; the GIL is taken for its forward
// pass, and autograd takes it by itself where the backward pass needs it.
#include "network.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <deque>

#include "grm/core/error.h"
#include "nn/backbones.h"

namespace grm::python {
namespace {

class PythonNetwork final : public nn::Backbone {
 public:
  PythonNetwork(std::shared_ptr<Held> adapter, nn::ParameterSet& set, const std::string& prefix,
                int64_t outputs)
      : adapter_(std::move(adapter)), device_(set.device()), outputs_(outputs) {
    const py::gil_scoped_acquire gil;
    const auto named = adapter_->get().attr("tensors")(device_.str());
    for (const py::handle& each : named) {
      const auto [name, tensor, trained] =
          each.cast<std::tuple<std::string, torch::Tensor, bool>>();
      set.adopt(prefix + "." + name, tensor, trained);
    }
  }

  nn::BackboneOutput forward(const nn::BackboneInput& input, nn::Pass& pass) override {
    const torch::Tensor x = features_.get(input.x, device_);
    const torch::Tensor pairs = pairs_of(input.edges);
    const bool featured = input.edge_x.sparse || input.edge_x.dense.defined();
    const torch::Tensor edge_x =
        featured ? edge_features_.get(input.edge_x, device_) : torch::Tensor();
    torch::Tensor graphs = input.graph_of_node;
    if (graphs.defined()) graphs = on_device(graphs, device_);
    const nn::InputWeights weights{input.data_weights, input.edge_weights, true};
    const torch::Tensor weight = weights.inner_on(device_, torch::kFloat32);
    // The module draws from torch's generator; a key of the pass makes its draws repeatable.
    const auto key = static_cast<int64_t>(pass.training() ? pass.next_key(0.0) >> 1 : 0);
    const py::gil_scoped_acquire gil;
    const py::object out =
        adapter_->get()(x, pairs, none_or_tensor(weight), input.edge_weights.defined(),
                        none_or_tensor(edge_x), none_or_tensor(graphs), pass.training(), key);
    nn::BackboneOutput result;
    if (py::isinstance<py::tuple>(out)) {
      const auto both = out.cast<py::tuple>();
      if (both.size() != 2) {
        fail(ErrorKind::shape, "the network gave a tuple of {}, expected (hidden, logits)",
             both.size());
      }
      result.hidden = both[0].cast<torch::Tensor>();
      result.logits = both[1].cast<torch::Tensor>();
    } else {
      result.logits = out.cast<torch::Tensor>();
    }
    check(result.logits, x.size(0));
    return result;
  }

 private:
  void check(const torch::Tensor& rows, int64_t nodes) const {
    if (rows.dim() == 2 && rows.size(0) == nodes && rows.size(1) == outputs_) return;
    fail(ErrorKind::shape, "the network gave [{}] numbers, expected [{}, {}]: a row for each node",
         fmt::join(rows.sizes(), ", "), nodes, outputs_);
  }

  torch::Tensor pairs_of(const AdjacencyPtr& edges) {
    for (const auto& [known, value] : pairs_) {
      if (!known.owner_before(edges) && !edges.owner_before(known)) return value;
    }
    pairs_.erase(std::remove_if(pairs_.begin(), pairs_.end(),
                                [](const auto& kept) { return kept.first.expired(); }),
                 pairs_.end());
    if (pairs_.size() >= kKept) pairs_.pop_front();
    const auto [source, target] = edge_list(*edges);
    pairs_.emplace_back(edges, on_device(torch::stack({source, target}), device_));
    return pairs_.back().second;
  }

  static constexpr size_t kKept = 16;  // graphs in use; edited copies come and go
  std::shared_ptr<Held> adapter_;
  torch::Device device_;
  int64_t outputs_;
  nn::DenseFeatures features_, edge_features_;
  std::deque<std::pair<std::weak_ptr<const Adjacency>, torch::Tensor>> pairs_;
};

}  // namespace

nn::OwnNetworkMaker network_maker(const py::object& networks) {
  if (networks.is_none()) return {};
  const auto held = std::make_shared<Held>(networks);
  return [held](nn::ParameterSet& set, const std::string& prefix, int64_t features,
                int64_t outputs) -> std::unique_ptr<nn::Backbone> {
    std::shared_ptr<Held> network;
    {
      const py::gil_scoped_acquire gil;
      network = std::make_shared<Held>(held->get().attr("at")(prefix));
      network->get().attr("prepare")(features, outputs);
    }
    return std::make_unique<PythonNetwork>(network, set, prefix, outputs);
  };
}

}  // namespace grm::python
