#include <torch/types.h>

#include <map>

#include "core/files.h"
#include "data/describe.h"
#include "data/digest.h"

namespace grm {

std::string tensor_digest(const torch::Tensor& tensor) {
  if (!tensor.defined()) return "-";
  const torch::Tensor plain = tensor.contiguous();
  std::string shape = fmt::format("{}", c10::toString(plain.scalar_type()));
  for (const int64_t size : plain.sizes()) shape += fmt::format(" {}", size);
  const std::string bytes = sha256({static_cast<const char*>(plain.data_ptr()), plain.nbytes()});
  return sha256(shape + " " + bytes);
}

namespace {

// Domains of one task share most of their tensors, so each is hashed once.
class Hasher {
 public:
  void add(const std::string& text) { all_ += text + "\n"; }
  void add(const torch::Tensor& tensor) {
    if (!tensor.defined()) return add(std::string("-"));
    std::string& known = known_[tensor.unsafeGetTensorImpl()];
    if (known.empty()) known = tensor_digest(tensor);
    add(known);
  }
  void add(const AdjacencyPtr& pattern) {
    if (!pattern) return add(std::string("-"));
    add(fmt::format("{} x {}", pattern->rows(), pattern->cols()));
    add(pattern->in.offsets);
    add(pattern->in.indices);
  }
  void add(const Features& x) {
    add(x.sparse);
    add(x.sparse_values);
    add(x.dense);
    add(x.shift);
  }
  std::string finish() const { return sha256(all_); }

 private:
  std::string all_;
  std::map<const void*, std::string> known_;
};

}  // namespace

std::string fingerprint(const Task& task) {
  Hasher hasher;
  hasher.add(fmt::format("{} {} {}", task.classes, to_string(task.loss), to_string(task.metric)));
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      hasher.add(to_string(role) + " " + domain.name + " " + domain.group);
      hasher.add(domain.graph.edges);
      hasher.add(domain.graph.x);
      hasher.add(domain.labels.y);
      hasher.add(domain.labels.loss);
      hasher.add(domain.labels.evaluate);
      const Features& e = domain.graph.edge_x;
      const bool carry = e.sparse || e.dense.defined() || domain.graph.edge_weights.defined();
      if (domain.graph.level() == Level::node && !carry) continue;  // and none of what follows
      hasher.add(domain.graph.parts);
      hasher.add(domain.graph.edge_x);
      hasher.add(domain.graph.edge_weights);
      hasher.add(domain.labels.edge_truth);
    }
  }
  return hasher.finish();
}

}  // namespace grm
