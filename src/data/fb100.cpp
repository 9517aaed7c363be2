// Facebook-100: one graph per university, gender from the other six columns of the user table.
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "io/mat.h"

namespace grm {
namespace {

constexpr int kFb100Parser = 1;  // raise when the parsed form changes
constexpr int64_t kGender = 1;
constexpr int64_t kColumns = 7;
constexpr std::array<int64_t, 6> kFeatureColumns = {0, 2, 3, 4, 5, 6};

using Names = std::vector<std::string>;
const std::array<Names, 3>& combinations() {
  static const std::array<Names, 3> all = {Names{"JohnsHopkins55", "Caltech36", "Amherst41"},
                                           Names{"Bingham82", "Duke14", "Princeton12"},
                                           Names{"WashU32", "Brandeis99", "Carnegie49"}};
  return all;
}
const Names& validation_names() {
  static const Names all = {"Cornell5", "Yale4"};
  return all;
}
const Names& test_names() {
  static const Names all = {"Penn94", "Brown11", "Texas80"};
  return all;
}

Source university(const std::string& name, Use use) {
  SourceFile file{"facebook100/" + name + ".mat"};
  // Its publisher writes this one name with a space.
  if (name == "JohnsHopkins55") file.other = "facebook100/Johns Hopkins55.mat";
  return {name, use, {file}};
}

io::TensorFile parse_university(const std::string& path) {
  const io::MatSparse a = io::read_mat_sparse(path, "A");
  const torch::Tensor info = io::read_mat_integers(path, "local_info");
  if (a.rows != a.cols || info.size(0) != a.rows || info.size(1) != kColumns) {
    fail(ErrorKind::data, "{}: A is {} x {} and local_info {} x {}, expected n x n and n x {}",
         path, a.rows, a.cols, info.size(0), info.size(1), kColumns);
  }
  const torch::Tensor stored = a.value.ne(0);
  io::TensorFile file;
  put_pattern(file, "edges",
              adjacency_of_file(path, a.rows, a.rows, a.row.masked_select(stored),
                                a.col.masked_select(stored))
                  ->in);
  file.tensors["info"] = info.contiguous();
  return file;
}

// The values of each feature column over all pooled universities; 0, which means missing, is a
// value like any other.
class Vocabulary {
 public:
  void add(const torch::Tensor& info) {
    const auto value = info.accessor<int64_t, 2>();
    for (size_t k = 0; k < kFeatureColumns.size(); ++k) {
      for (int64_t i = 0; i < info.size(0); ++i) values_[k].insert(value[i][kFeatureColumns[k]]);
    }
  }

  int64_t width() const {
    int64_t total = 0;
    for (const std::set<int64_t>& column : values_) total += static_cast<int64_t>(column.size());
    return total;
  }

  // One-hot blocks in column order: six ones in every row.
  AdjacencyPtr encode(const torch::Tensor& info) const {
    constexpr auto kOnes = static_cast<int64_t>(kFeatureColumns.size());
    Csr rows;
    rows.rows = info.size(0);
    rows.cols = width();
    rows.offsets = torch::arange(rows.rows + 1, torch::kInt64) * kOnes;
    rows.indices = torch::empty({rows.rows * kOnes}, torch::kInt32);
    int32_t* index = rows.indices.data_ptr<int32_t>();
    const auto value = info.accessor<int64_t, 2>();
    int32_t begin = 0;
    for (int64_t k = 0; k < kOnes; ++k) {
      std::map<int64_t, int32_t> position;
      for (const int64_t v : values_[k]) position[v] = begin++;
      for (int64_t i = 0; i < rows.rows; ++i) {
        index[i * kOnes + k] = position.at(value[i][kFeatureColumns[k]]);
      }
    }
    return with_transpose(std::move(rows));
  }

 private:
  std::array<std::set<int64_t>, kFeatureColumns.size()> values_;
};

enum class FbLabels { as_coded, labelled };
GRM_WORDS(FbLabels, "as_coded", "labelled")

class Facebook final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.add("combination", combination_, {1, 3},
             "training universities: 1 Johns Hopkins, Caltech, Amherst; 2 Bingham, Duke, "
             "Princeton; 3 WashU, Brandeis, Carnegie");
    list.choice("labels", labels_,
                "nodes of unknown gender: class 0 as in the published code, or left out of loss "
                "and metric");
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> all;
    for (const Source& source : sources()) all.push_back(source.files.front().path);
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "fb100";
    task.classes = 2;
    task.loss = LossKind::binary_pair;
    task.metric = MetricKind::accuracy;
    const std::vector<Source> present = require_sources(context, sources(), task);
    Vocabulary vocabulary;
    std::vector<std::pair<Use, Domain>> domains;
    std::vector<torch::Tensor> infos;
    for (const Source& source : present) {
      const io::TensorFile file =
          cached(context, "fb100-" + source.domain, hashes_of(source, task.hashes), kFb100Parser,
                 [&] { return parse_university(full_path(context, source.files.front().path)); });
      const torch::Tensor& info = file.tensors.at("info");
      vocabulary.add(info);
      if (source.use == Use::vocabulary) continue;
      Graph graph;
      graph.name = source.domain;
      graph.edges = get_pattern(file, "edges");
      domains.emplace_back(source.use, labelled_domain(std::move(graph), info.select(1, kGender)));
      infos.push_back(info);
    }
    for (size_t k = 0; k < domains.size(); ++k) {
      auto& [use, domain] = domains[k];
      domain.graph.x.sparse = vocabulary.encode(infos[k]);
      add_domain(task, use, std::move(domain));
    }
    if (present.size() < sources().size()) {
      task.notes.push_back(
          fmt::format("the feature vocabulary ({} columns) pools {} of the {} universities",
                      vocabulary.width(), present.size(), sources().size()));
    }
    return task;
  }

 private:
  // All fourteen: the vocabulary also pools the universities of the other combinations.
  std::vector<Source> sources() const {
    std::vector<Source> all;
    for (const std::string& name : combinations()[combination_ - 1]) {
      all.push_back(university(name, Use::training));
    }
    for (const std::string& name : validation_names()) {
      all.push_back(university(name, Use::validation));
    }
    for (const std::string& name : test_names()) all.push_back(university(name, Use::test));
    for (int64_t c = 0; c < 3; ++c) {
      if (c == combination_ - 1) continue;
      for (const std::string& name : combinations()[c]) {
        all.push_back(university(name, Use::vocabulary));
      }
    }
    return all;
  }

  Domain labelled_domain(Graph graph, const torch::Tensor& gender) const {
    torch::Tensor y = gender.eq(2).to(torch::kInt64);
    if (labels_ == FbLabels::as_coded) return make_domain(std::move(graph), y);
    const torch::Tensor unknown = gender.eq(0);
    Domain domain = make_domain(std::move(graph), y.masked_fill(unknown, -1));
    const torch::Tensor known = torch::nonzero(~unknown).reshape({-1});
    domain.labels.loss = domain.labels.evaluate = known;
    return domain;
  }

  int64_t combination_ = 1;
  FbLabels labels_ = FbLabels::as_coded;
};

}  // namespace

std::unique_ptr<Dataset> make_fb100() {
  return std::make_unique<Facebook>();
}

}  // namespace grm
