// GOOD-Cora and GOOD-Arxiv (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): papers by degree, words or year. The
// files were not to be had here, so the laws have met small files of the same form alone.
#include <torch/types.h>

#include <algorithm>

#include "data/arxiv_papers.h"
#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/npz_graph.h"
#include "data/parsed_cache.h"

namespace grm {
namespace {

enum class CoraDomain { degree, word };
GRM_WORDS(CoraDomain, "degree", "word")
enum class ArxivDomain { degree, time };
GRM_WORDS(ArxivDomain, "degree", "time")

constexpr int kCoraFullParser = 1;  // raise when the parsed form changes
constexpr char kCoraFull[] = "cora-full/cora.npz";
constexpr double kTrains = 0.6, kTrainsByTime = 0.5, kValidates = 0.2;

std::vector<int64_t> row_lengths(const Csr& rows) {
  const torch::Tensor lengths = rows.offsets.diff().contiguous();
  return {lengths.data_ptr<int64_t>(), lengths.data_ptr<int64_t>() + lengths.numel()};
}

good::CovariateLaw law_of(double train, bool descending) {
  good::CovariateLaw law;
  law.train = train;
  law.validation = kValidates;
  law.descending = descending;
  return law;
}

class GoodCora final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what shifts: the degree, or the number of different words");
    protocol_.declare(list, Level::node);
  }
  std::vector<std::string> files() const override { return {kCoraFull}; }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "good-cora";
    require_sources(context, {{"", Use::all, {{kCoraFull}}}}, task);
    const io::TensorFile file = cached(context, "cora-full", task.hashes, kCoraFullParser, [&] {
      return parse_npz_graph(full_path(context, kCoraFull), true);
    });
    Graph graph;
    graph.name = task.name;
    graph.edges = get_pattern(file, "edges");
    graph.x.sparse = get_pattern(file, "x");
    const Domain all = make_domain(std::move(graph), file.tensors.at("y"));
    task.classes = all.labels.y.max().item<int64_t>() + 1;
    const bool by_word = domain_ == CoraDomain::word;
    const std::vector<int64_t> keys =
        row_lengths(by_word ? all.graph.x.sparse->in : all.graph.edges->out);
    protocol_.add_nodes(task,
                        good::split_of_nodes(protocol_.shift, keys, good::numbers_of(all.labels.y),
                                             {}, law_of(kTrains, true), good::kConceptOfCitations),
                        all);
    return task;
  }

 private:
  CoraDomain domain_ = CoraDomain::degree;
  good::Protocol protocol_;
};

class GoodArxiv final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what shifts: the degree, or the year");
    protocol_.declare(list, Level::node);
  }
  std::vector<std::string> files() const override { return paths_of({arxiv_source()}); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "good-arxiv";
    require_sources(context, {arxiv_source()}, task);
    const io::TensorFile file = cached_arxiv(context, task);
    Graph graph;
    graph.name = task.name;
    graph.edges = symmetrised(*get_pattern(file, "edges"));
    graph.x.dense = file.tensors.at("x");
    const Domain all = make_domain(std::move(graph), file.tensors.at("y"));
    task.classes = all.labels.y.max().item<int64_t>() + 1;
    const torch::Tensor year = file.tensors.at("year").contiguous();
    const bool by_time = domain_ == ArxivDomain::time;
    const std::vector<int64_t> keys =
        by_time ? std::vector<int64_t>(year.data_ptr<int64_t>(),
                                       year.data_ptr<int64_t>() + year.numel())
                : row_lengths(all.graph.edges->out);
    protocol_.add_nodes(
        task,
        good::split_of_nodes(protocol_.shift, keys, good::numbers_of(all.labels.y), {},
                             law_of(by_time ? kTrainsByTime : kTrains, !by_time),
                             good::kConceptOfCitations),
        all);
    task.notes.push_back(
        "OGB's files have changed since the benchmark was made: subsets follow its law, members "
        "may "
        "differ");
    return task;
  }

 private:
  ArxivDomain domain_ = ArxivDomain::degree;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_cora() {
  return std::make_unique<GoodCora>();
}

std::unique_ptr<Dataset> make_good_arxiv() {
  return std::make_unique<GoodArxiv>();
}

}  // namespace grm
