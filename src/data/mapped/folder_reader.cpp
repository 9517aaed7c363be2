#include "data/mapped/folder_reader.h"

#include "grm/core/error.h"

namespace grm::mapped {

Task FolderReader::task() const {
  Task task;
  task.name = head_.name;
  task.classes = head_.classes;
  task.loss = head_.loss;
  task.metric = head_.metric;
  task.label_names = head_.label_names;
  task.feature_names = head_.feature_names;
  task.notes = head_.notes;
  std::vector<Domain> graphs;
  for (size_t k = 0; k < head_.graphs.size(); ++k) graphs.push_back(read_graph(k));
  for (size_t k = 0; k < head_.domains.size(); ++k) {
    const DomainHead& d = head_.domains[k];
    Domain domain = graphs[d.graph];
    domain.name = d.name;
    domain.group = d.group;
    domain.labels.loss = list_of(k, "loss", domain.labels.y);
    domain.labels.evaluate = list_of(k, "evaluate", domain.labels.y);
    std::vector<Domain>* const of_role[] = {&task.training, &task.validation, &task.test};
    of_role[static_cast<size_t>(d.role)]->push_back(std::move(domain));
  }
  if (task.training.empty()) {
    fail(ErrorKind::data, "{}/{}: no domain is for training", folder_, kHeadFile);
  }
  return task;
}

MappedArray FolderReader::array(size_t graph, const std::string& what) const {
  const Array& about = head_.graphs[graph].arrays.at(what);
  return MappedArray(path_of("graph", graph, what, about), about);
}

torch::Tensor FolderReader::numbers(size_t graph, const std::string& what, int64_t columns) const {
  if (head_.graphs[graph].arrays.count(what) == 0) return {};
  const MappedArray mapped = array(graph, what);
  mapped.rest();
  return columns > 0 ? mapped.tensor.view({-1, columns}) : mapped.tensor;
}

torch::Tensor FolderReader::labels(size_t graph) const {
  const MappedArray y = array(graph, "y");
  const auto* label = y.tensor.data_ptr<int64_t>();
  y.check(head_.graphs[graph].nodes, "is no class",
          [&](int64_t k) { return label[k] >= -1 && label[k] < head_.classes; });
  return y.tensor;  // read in order once more, beside the lists of nodes
}

torch::Tensor FolderReader::list_of(size_t domain, const char* what, const torch::Tensor& y) const {
  const Array& about = head_.domains[domain].arrays.at(what);
  const MappedArray list(path_of("domain", domain, what, about), about);
  if (about.count == 0) return list.tensor;
  const auto *node = list.tensor.data_ptr<int64_t>(), *label = y.data_ptr<int64_t>();
  list.check(about.count, "is no node with a label, or out of order", [&](int64_t k) {
    return node[k] >= 0 && node[k] < y.numel() && (k == 0 || node[k] > node[k - 1]) &&
           label[node[k]] >= 0;
  });
  list.rest();
  return list.tensor;
}

void FolderReader::verify_array(const std::string& path, const Array& about) {
  const std::string found = MappedArray(path, about).checksum();
  if (found == about.checksum) return;
  fail(ErrorKind::data,
       "{}: its checksum is {}, expected {}: the file is damaged; write the "
       "data again",
       path, found, about.checksum);
}

}  // namespace grm::mapped
