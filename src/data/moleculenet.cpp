// Sets of MoleculeNet (Wu et al., Chemical Science 2018) by scaffold, one of them with one answer for
// each molecule, the others with several, some of which are not known.
#include <torch/types.h>

#include "data/binary_notes.h"
#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/molecules.h"
#include "data/scaffolds.h"
#include "data/sources.h"
#include "grm/core/rng.h"

namespace grm {
namespace {

using good::Subset;

constexpr int64_t kScaffoldEnvironments = 10;

class MoleculeNet final : public MoleculeDataset {
 public:
  MoleculeNet(const std::string& name, int64_t tasks, std::vector<std::string> task_names = {})
      : MoleculeDataset(name, {"molecules/" + name, tasks}), task_names_(std::move(task_names)) {}

  void declare(OptionList& list) override {
    protocol_.declare_subsets(list, Level::graph);
    list.add("inside", inside_, {0, 0.4},
             "share of the training molecules that id_val and id_test have each; 0: as published, "
             "there are none");
    list.add("dataset_seed", dataset_seed_, {0}, "seed of the choice of id_val and id_test");
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> all = tables_.files();
    all.push_back(scaffold_file());
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task = empty_task();
    task.label_names = task_names_;
    const Molecules molecules = read(context, task);
    const std::vector<int64_t> ranks =
        ranks_of(read_scaffolds(full_path(context, scaffold_file()), molecules.atoms()));
    auto [train, validation, test] = split_by_scaffold(ranks);
    good::Split split;
    split.environment.assign(ranks.size(), -1);
    split[Subset::validation] = std::move(validation);
    split[Subset::test] = std::move(test);
    good::cut_environments(split, train, ranks, kScaffoldEnvironments);
    good::take_inside(split, train, inside_, inside_, Rng(static_cast<uint64_t>(dataset_seed_)));
    protocol_.add_sets(task, split, [&](const torch::Tensor& ids, const std::string& name) {
      return molecules.domain(ids, name);
    });
    if (tables_.tasks == 1) add_binary_notes(task);
    return task;
  }

 private:
  std::string scaffold_file() const { return tables_.folder + "/domains.csv.gz"; }

  std::vector<std::string> task_names_;
  good::Protocol protocol_;
  double inside_ = 0;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_bace() {
  return std::make_unique<MoleculeNet>("bace", 1);
}

std::unique_ptr<Dataset> make_bbbp() {
  return std::make_unique<MoleculeNet>("bbbp", 1);
}

std::unique_ptr<Dataset> make_clintox() {
  return std::make_unique<MoleculeNet>("clintox", 2,
                                       std::vector<std::string>{"FDA_APPROVED", "CT_TOX"});
}

std::unique_ptr<Dataset> make_sider() {
  return std::make_unique<MoleculeNet>("sider", 27);
}

std::unique_ptr<Dataset> make_tox21() {
  return std::make_unique<MoleculeNet>(
      "tox21", 12,
      std::vector<std::string>{"NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD",
                               "NR-PPAR-gamma", "SR-ARE", "SR-ATAD5", "SR-HSE", "SR-MMP",
                               "SR-p53"});
}

}  // namespace grm
