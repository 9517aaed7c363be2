// GOOD-SST2 and GOOD-Twitter (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): sentences by length. The files of
// Graph-SST2 and Graph-Twitter were not to be had; the law gives the specification's counts on the
// substitute trees of the same 70,042 sentences.
#include <torch/types.h>

#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/sentences.h"

namespace grm {
namespace {

class GoodSentences final : public Dataset {
 public:
  GoodSentences(std::string name, std::string files, int64_t classes)
      : name_(std::move(name)), files_(std::move(files)), classes_(classes) {}

  void declare(OptionList& list) override { protocol_.declare(list, Level::graph); }
  std::vector<std::string> files() const override { return paths_of({sentence_source(files_)}); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = name_;
    task.level = Level::graph;
    task.classes = classes_;
    task.loss = classes_ == 2 ? LossKind::binary_pair : LossKind::softmax;
    const Source source = require_sources(context, {sentence_source(files_)}, task).front();
    const Sentences sentences = read_sentences(context, source);
    good::Streams streams;
    const good::Split split =
        good::split_of_set(protocol_.shift, sentences.nodes, good::numbers_of(sentences.y),
                           good::kCovariateOfLength, good::kConceptOfSets, streams.python);
    protocol_.add_sets(task, split, [&](const torch::Tensor& ids, const std::string& name) {
      return pick_sentences(sentences, ids, name);
    });
    return task;
  }

 private:
  std::string name_, files_;
  int64_t classes_;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_sst2() {
  return std::make_unique<GoodSentences>("good-sst2", "SST2", 2);
}

std::unique_ptr<Dataset> make_good_twitter() {
  return std::make_unique<GoodSentences>("good-twitter", "Twitter", 3);
}

}  // namespace grm
