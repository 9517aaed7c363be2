// Facebook-100: one graph per university, gender from the other six columns of the user table.
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/mat.h"

namespace grm {
namespace {

constexpr int kFb100Parser = 1;  // raise when the parsed form changes
constexpr int64_t kGender = 1;
constexpr int64_t kColumns = 7;
constexpr std::array<int64_t, 6> kFeatureColumns = {0, 2, 3, 4, 5, 6};
const std::array<std::string, 6> kColumnNames = {"status", "major", "second_major",
                                                 "dorm",   "year",  "school"};
const std::string kMat = ".mat";

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
// value like any other. Its columns are named "dorm=203"; so a model that holds the names of its
// features holds the vocabulary.
class Vocabulary {
 public:
  void add(const torch::Tensor& info) {
    const auto value = info.accessor<int64_t, 2>();
    for (size_t k = 0; k < kFeatureColumns.size(); ++k) {
      for (int64_t i = 0; i < info.size(0); ++i) values_[k].insert(value[i][kFeatureColumns[k]]);
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (size_t k = 0; k < values_.size(); ++k) {
      for (const int64_t v : values_[k]) all.push_back(fmt::format("{}={}", kColumnNames[k], v));
    }
    return all;
  }

  // Error(data) unless the names are those that names() gives.
  static Vocabulary of(const std::vector<std::string>& names) {
    Vocabulary vocabulary;
    for (const std::string& name : names) {
      const size_t equals = name.find('=');
      const auto column =
          std::find(kColumnNames.begin(), kColumnNames.end(), name.substr(0, equals));
      int64_t value = 0;
      const char* end = name.data() + name.size();
      if (equals == std::string::npos || column == kColumnNames.end() ||
          std::from_chars(name.data() + equals + 1, end, value).ptr != end) {
        fail(ErrorKind::data, "the model's feature '{}' is not one of fb100", name);
      }
      vocabulary.values_[column - kColumnNames.begin()].insert(value);
    }
    if (vocabulary.names() != names) {
      fail(ErrorKind::data, "the model's features are not in the order that fb100 has");
    }
    return vocabulary;
  }

  int64_t width() const {
    int64_t total = 0;
    for (const std::set<int64_t>& column : values_) total += static_cast<int64_t>(column.size());
    return total;
  }

  // One-hot blocks in column order: six ones in every row, fewer where a value is not known.
  // `unknown` receives those in words.
  AdjacencyPtr encode(const torch::Tensor& info, std::string* unknown = nullptr) const {
    std::array<std::map<int64_t, int32_t>, kFeatureColumns.size()> position;
    int32_t next = 0;
    for (size_t k = 0; k < kFeatureColumns.size(); ++k) {
      for (const int64_t v : values_[k]) position[k][v] = next++;
    }
    std::array<int64_t, kFeatureColumns.size()> missed{}, first{};
    const auto value = info.accessor<int64_t, 2>();
    std::vector<int64_t> offsets = {0};
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < info.size(0); ++i) {
      for (size_t k = 0; k < kFeatureColumns.size(); ++k) {
        const int64_t v = value[i][kFeatureColumns[k]];
        if (const auto found = position[k].find(v); found != position[k].end()) {
          indices.push_back(found->second);
        } else if (missed[k]++ == 0) {
          first[k] = v;
        }
      }
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
    for (size_t k = 0; k < missed.size() && unknown; ++k) {
      if (missed[k] == 0) continue;
      *unknown += fmt::format("{}{} of {} (the first is {})", unknown->empty() ? "" : ", ",
                              missed[k], kColumnNames[k], first[k]);
    }
    Csr rows;
    rows.rows = info.size(0);
    rows.cols = width();
    rows.offsets = torch::tensor(offsets, torch::kInt64);
    rows.indices = torch::tensor(indices, torch::kInt32);
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

  std::vector<std::string> files() const override { return paths_of(sources()); }

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
    task.feature_names = vocabulary.names();
    if (present.size() < sources().size()) {
      task.notes.push_back(
          fmt::format("the feature vocabulary ({} columns) pools {} of the {} universities",
                      vocabulary.width(), present.size(), sources().size()));
    }
    return task;
  }

  std::string unseen_form() const override {
    return "a .mat file of a university, or a folder of them";
  }
  bool is_unseen_form(const std::string& path) const override {
    return std::filesystem::path(path).extension() == kMat || !files_in(path, kMat).empty();
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& feature_names) const override {
    if (feature_names.empty()) {
      fail(ErrorKind::data,
           "{}: the model does not hold the vocabulary of fb100, because it was written before "
           "models did; train it again",
           path);
    }
    const Vocabulary vocabulary = Vocabulary::of(feature_names);
    std::vector<std::string> paths = files_in(path, kMat);
    if (paths.empty()) paths = {path};
    std::vector<Domain> domains;
    for (const std::string& each : paths) {
      const io::TensorFile file = parse_university(each);
      const torch::Tensor& info = file.tensors.at("info");
      Graph graph;
      graph.name = std::filesystem::path(each).stem().string();
      graph.edges = get_pattern(file, "edges");
      std::string unknown;
      graph.x.sparse = vocabulary.encode(info, &unknown);
      if (!unknown.empty()) {
        log_warning("{}: values that the model does not know are zero in all columns: {}", each,
                    unknown);
      }
      domains.push_back(labelled_domain(std::move(graph), info.select(1, kGender)));
    }
    return domains;
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
