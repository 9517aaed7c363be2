// GOOD-HIV and GOOD-PCBA (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): the molecules of ogbg-molhiv and
// ogbg-molpcba under GOOD's own splits by scaffold and by size. The splits are drawn with the
// benchmark's random streams, so their members and environments are its own.
#include <torch/types.h>

#include "data/binary_notes.h"
#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/molecules.h"
#include "data/scaffolds.h"
#include "data/sources.h"

namespace grm {
namespace {

enum class MoleculeDomain { scaffold, size };
GRM_WORDS(MoleculeDomain, "scaffold", "size")

class GoodMolecules final : public MoleculeDataset {
 public:
  GoodMolecules(const std::string& name, const std::string& folder, int64_t tasks)
      : MoleculeDataset(name, {folder, tasks}) {}

  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what shifts: the scaffold, or the number of atoms");
    protocol_.declare(list, Level::graph);
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> all = tables_.files();
    if (domain_ == MoleculeDomain::scaffold) all.push_back(scaffold_file());
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task = empty_task();
    if (tables_.tasks > 1) task.metric = MetricKind::average_precision;
    const Molecules molecules = read(context, task);
    const bool by_size = domain_ == MoleculeDomain::size;
    const std::vector<int64_t> atoms = molecules.atoms();
    good::CovariateLaw law;
    law.descending = by_size;
    good::Streams streams;
    const good::Split split = good::split_of_set(
        protocol_.shift,
        by_size ? atoms : ranks_of(read_scaffolds(full_path(context, scaffold_file()), atoms)),
        good::numbers_of(molecules.labels()), law, good::kConceptOfSets, streams.python);
    protocol_.add_sets(task, split, [&](const torch::Tensor& ids, const std::string& name) {
      return molecules.domain(ids, name);
    });
    if (tables_.tasks == 1) add_binary_notes(task);
    return task;
  }

 private:
  std::string scaffold_file() const { return "good/" + name_.substr(5) + "/domains.csv.gz"; }

  MoleculeDomain domain_ = MoleculeDomain::scaffold;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_hiv() {
  return std::make_unique<GoodMolecules>("good-hiv", "molhiv", 1);
}

std::unique_ptr<Dataset> make_good_pcba() {
  return std::make_unique<GoodMolecules>("good-pcba", "pcba", 128);
}

}  // namespace grm
