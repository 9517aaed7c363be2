// Web pages of three computer science departments in 1997, from the files of Geom-GCN (Pei et al.,
// ICLR 2020): good-webkb is one graph with GOOD's splits, webkb has a graph for each university.
//
// The files number the classes of each university differently and do not name them. good-webkb keeps
// the numbers, as the benchmark does: what is learned at one university is wrong at another. webkb
// matches them. The names rest on the counts of each class in the release of LINQS, and agree with
// the relabelling under which naive Bayes on words carries over best between universities.
#include <torch/types.h>

#include <array>
#include <charconv>
#include <map>
#include <numeric>

#include "data/good/protocol.h"
#include "data/joined_graph.h"
#include "data/makers.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "io/csv.h"

namespace grm {
namespace {

constexpr int64_t kWords = 1703, kWebkbClasses = 5;
constexpr double kGoodInside = 0.1, kNodesThatValidate = 0.2;

enum class University { cornell, texas, wisconsin };
GRM_WORDS(University, "cornell", "texas", "wisconsin")
enum class WebkbValidation { nodes, university };
GRM_WORDS(WebkbValidation, "nodes", "university")

const std::vector<std::string> kPageKinds = {"course", "staff", "faculty", "student", "project"};
// Of each university's classes, the place in kPageKinds.
constexpr std::array<std::array<int64_t, kWebkbClasses>, 3> kKindOfClass = {
    {{0, 1, 2, 3, 4}, {0, 1, 4, 3, 2}, {1, 0, 3, 2, 4}}};

std::string webkb_file(University university, const std::string& part) {
  return "webkb/" + to_string(university) + "/out1_" + part + ".txt";
}

std::vector<std::string> webkb_files() {
  std::vector<std::string> all;
  for (const University u : all_values<University>()) {
    for (const char* part : {"node_feature_label", "graph_edges"}) {
      all.push_back(webkb_file(u, part));
    }
  }
  return all;
}

// "0,1,1": the columns that are 1.
void append_words(const io::CsvRow& row, std::vector<int64_t>& columns) {
  const std::string_view text = row.text(1);
  for (int64_t k = 0; k < kWords; ++k) {
    const auto at = static_cast<size_t>(2 * k);
    const bool ends = at + 1 == text.size();
    if (at >= text.size() || (text[at] != '0' && text[at] != '1') || ends != (k + 1 == kWords) ||
        (!ends && text[at + 1] != ',')) {
      fail(ErrorKind::data, "{}:{} column 2: word {} of {}: 0 or 1 and a comma are expected",
           row.path, row.line, k + 1, kWords);
    }
    if (text[at] == '1') columns.push_back(k);
  }
}

Domain read_university(const DataContext& context, University university) {
  const std::string path = full_path(context, webkb_file(university, "node_feature_label"));
  std::map<int64_t, std::pair<std::vector<int64_t>, int64_t>> page;  // words and class by id
  io::read_csv(
      path,
      [&](const io::CsvRow& row) {
        if (row.line == 1) return row.expect({"node_id", "feature", "label"});
        row.expect_size(3);
        const int64_t label = row.parse_int(2);
        if (label < 0 || label >= kWebkbClasses) {
          fail(ErrorKind::data, "{}:{}: class {}, expected 0..{}", path, row.line, label,
               kWebkbClasses - 1);
        }
        auto [place, fresh] = page.try_emplace(row.parse_int(0));
        if (!fresh)
          fail(ErrorKind::data, "{}:{}: page {} came before", path, row.line, place->first);
        append_words(row, place->second.first);
        place->second.second = label;
      },
      '\t');
  const auto n = static_cast<int64_t>(page.size());
  if (n == 0 || page.begin()->first != 0 || page.rbegin()->first != n - 1) {
    fail(ErrorKind::data, "{}: the ids of the {} pages are not 0..{}", path, n, n - 1);
  }
  std::vector<int64_t> node, word, labels;
  for (const auto& [id, known] : page) {
    node.insert(node.end(), known.first.size(), id);
    word.insert(word.end(), known.first.begin(), known.first.end());
    labels.push_back(known.second);
  }
  Graph graph;
  graph.name = to_string(university);
  graph.edges = read_edge_csv(full_path(context, webkb_file(university, "graph_edges")), n,
                              {"node_id", "node_id"}, '\t');
  graph.x.sparse = make_adjacency(n, kWords, torch::tensor(word, torch::kInt64),
                                  torch::tensor(node, torch::kInt64));
  return make_domain(std::move(graph), torch::tensor(labels, torch::kInt64));
}

Source webkb_source() {
  Source source;
  for (const std::string& file : webkb_files()) source.files.push_back({file});
  return source;
}

// Cornell and Texas train, the first half of Wisconsin's pages validates, the second tests.
good::Split split_covariate(const std::vector<int64_t>& university, good::PythonStream& python) {
  good::Split split;
  split.environment.assign(university.size(), -1);
  std::vector<int64_t> last;
  for (const int64_t u : {0, 1, 2}) {
    for (size_t i = 0; i < university.size(); ++i) {
      if (university[i] != u) continue;
      if (u < 2) split.environment[i] = u;
      (u < 2 ? split[good::Subset::train] : last).push_back(static_cast<int64_t>(i));
    }
  }
  const auto half = last.begin() + static_cast<int64_t>(last.size()) / 2;
  split[good::Subset::validation].assign(last.begin(), half);
  split[good::Subset::test].assign(half, last.end());
  const double inside = kGoodInside * static_cast<double>(university.size());
  good::cut_inside(split, static_cast<int64_t>(inside), python);
  return split;
}

class GoodWebkb final : public Dataset {
 public:
  void declare(OptionList& list) override { protocol_.declare(list, Level::node); }
  std::vector<std::string> files() const override { return webkb_files(); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "good-webkb";
    task.classes = kWebkbClasses;
    require_sources(context, {webkb_source()}, task);
    std::vector<Domain> parts;
    std::vector<int64_t> university;
    for (const University u : {University::wisconsin, University::cornell, University::texas}) {
      parts.push_back(read_university(context, u));
      university.insert(university.end(), static_cast<size_t>(parts.back().graph.nodes()),
                        static_cast<int64_t>(u));
    }
    const Domain all = joined(parts, task.name);
    const bool named = protocol_.shift == good::Shift::covariate;
    protocol_.add_nodes(task, split(university, all.labels.y), all,
                        named ? words_of(University{}) : std::vector<std::string>{});
    task.notes.push_back(
        "class numbers mean different things at the three universities (class 3 is student at "
        "Cornell "
        "and Texas and faculty at Wisconsin): scores measure that; the dataset webkb matches them");
    return task;
  }

 private:
  good::Split split(const std::vector<int64_t>& university, const torch::Tensor& y) const {
    good::Streams streams;
    if (protocol_.shift == good::Shift::none) {
      return good::no_shift_of_nodes(y.numel(), {}, streams.torch);
    }
    good::Split split = split_covariate(university, streams.python);
    if (protocol_.shift == good::Shift::by_concept) {
      split = good::concept_shift(university, good::numbers_of(y), good::kConceptOfWebkb,
                                  streams.python);
    }
    return split;
  }

  good::Protocol protocol_;
};

class Webkb final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("test", test_, "the university that tests");
    list.choice(
        "validation", validation_,
        "nodes: both other universities train, a fifth of their pages validates; university: "
        "the first of the others by name trains, the second validates");
    list.add("dataset_seed", dataset_seed_, {0}, "seed of the choice of pages that validate");
  }
  std::vector<std::string> files() const override { return webkb_files(); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "webkb";
    task.classes = kWebkbClasses;
    task.label_names = kPageKinds;
    require_sources(context, {webkb_source()}, task);
    for (const University u : all_values<University>()) {
      Domain domain = read_university(context, u);
      const auto& kinds = kKindOfClass[static_cast<size_t>(u)];
      const torch::Tensor kind_of = torch::tensor(std::vector<int64_t>(kinds.begin(), kinds.end()));
      domain.labels.y = kind_of.index_select(0, domain.labels.y);
      if (u == test_) {
        task.test.push_back(std::move(domain));
      } else if (validation_ == WebkbValidation::nodes) {
        add_with_validation(task, std::move(domain));
      } else {
        (task.training.empty() ? task.training : task.validation).push_back(std::move(domain));
      }
    }
    task.notes.push_back(
        "the publisher does not name the classes; their names are those of the counts in LINQS's "
        "release, see docs/good.md");
    return task;
  }

 private:
  // The same graph twice: most pages train, the others validate.
  void add_with_validation(Task& task, Domain domain) const {
    const int64_t n = domain.graph.nodes();
    const auto share = static_cast<int64_t>(kNodesThatValidate * static_cast<double>(n));
    const torch::Tensor drawn = torch::tensor(
        Rng(static_cast<uint64_t>(dataset_seed_)).stream("split").choose(n, share), torch::kInt64);
    torch::Tensor validates = torch::zeros({n}, torch::kBool);
    validates.index_fill_(0, drawn, true);
    Domain held = domain;
    held.name = held.group = held.graph.name = domain.name + "-val";
    held.labels.loss = held.labels.evaluate = torch::nonzero(validates).reshape({-1});
    domain.labels.loss = domain.labels.evaluate =
        torch::nonzero(validates.logical_not()).reshape({-1});
    task.training.push_back(std::move(domain));
    task.validation.push_back(std::move(held));
  }

  University test_ = University::wisconsin;
  WebkbValidation validation_ = WebkbValidation::nodes;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_good_webkb() {
  return std::make_unique<GoodWebkb>();
}

std::unique_ptr<Dataset> make_webkb() {
  return std::make_unique<Webkb>();
}

}  // namespace grm
