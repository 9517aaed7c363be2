// A torch.nn.Module of Python as a network of the engine. Its parameters are those of the module
// itself, so optimisers, checkpoints and model files work on them; the GIL is taken for its forward
// pass, and autograd takes it by itself where the backward pass needs it.
#include "network.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <deque>

#include "grm/core/error.h"

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
    const torch::Tensor x = dense(input.x);
    const torch::Tensor pairs = pairs_of(input.edges);
    // The module draws from torch's generator; a key of the pass makes its draws repeatable.
    const auto key = static_cast<int64_t>(pass.training() ? pass.next_key(0.0) >> 1 : 0);
    const py::gil_scoped_acquire gil;
    const py::object out =
        adapter_->get()(x, pairs, none_or_tensor(input.edge_weights), pass.training(), key);
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

  // Features as one matrix where the model lives, made once for features that stay.
  torch::Tensor dense(const Features& given) {
    if (!given.sparse && !given.shift.defined()) return given.on(device_).dense;
    for (const auto& [known, value] : dense_) {
      if (known.sparse == given.sparse && known.dense.is_same(given.dense) &&
          known.sparse_values.is_same(given.sparse_values) && known.shift.is_same(given.shift)) {
        return value;
      }
    }
    if (dense_.size() >= kKept) dense_.pop_front();
    dense_.emplace_back(given, on_device(given.to_dense(), device_));
    return dense_.back().second;
  }

  torch::Tensor pairs_of(const AdjacencyPtr& edges) {
    for (const auto& [known, value] : pairs_) {
      if (!known.owner_before(edges) && !edges.owner_before(known)) return value;
    }
    if (pairs_.size() >= kKept) pairs_.pop_front();
    const auto [source, target] = edge_list(*edges);
    pairs_.emplace_back(edges, on_device(torch::stack({source, target}), device_));
    return pairs_.back().second;
  }

  static constexpr size_t kKept = 16;  // graphs in use; edited copies come and go
  std::shared_ptr<Held> adapter_;
  torch::Device device_;
  int64_t outputs_;
  std::deque<std::pair<Features, torch::Tensor>> dense_;
  std::deque<std::pair<std::weak_ptr<const Adjacency>, torch::Tensor>> pairs_;
};

}  // namespace

nn::OwnNetworkMaker network_maker(const py::object& adapter) {
  if (adapter.is_none()) return {};
  const auto held = std::make_shared<Held>(adapter);
  return [held](nn::ParameterSet& set, const std::string& prefix, int64_t features,
                int64_t outputs) -> std::unique_ptr<nn::Backbone> {
    {
      const py::gil_scoped_acquire gil;
      held->get().attr("prepare")(features, outputs);
    }
    return std::make_unique<PythonNetwork>(held, set, prefix, outputs);
  };
}

}  // namespace grm::python
