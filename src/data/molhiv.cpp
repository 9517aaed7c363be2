// ogbg-molhiv: molecules, and whether they inhibit the replication of HIV. Files as OGB hands them
// out, with OGB's own split by scaffold.
#include <torch/types.h>

#include <array>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/molecules.h"
#include "data/sources.h"

namespace grm {
namespace {

constexpr std::array<SplitFile, 3> kSplits = {
    {{Role::train, Use::training, "molhiv/split/scaffold/train.csv.gz"},
     {Role::validation, Use::validation, "molhiv/split/scaffold/valid.csv.gz"},
     {Role::test, Use::test, "molhiv/split/scaffold/test.csv.gz"}}};

class Molhiv final : public MoleculeDataset {
 public:
  Molhiv() : MoleculeDataset("molhiv", {"molhiv"}) {}

  std::vector<std::string> files() const override {
    std::vector<std::string> all = tables_.files();
    for (const SplitFile& split : kSplits) all.push_back(split.path);
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task = empty_task();
    const Molecules molecules = read(context, task);
    std::vector<bool> taken(static_cast<size_t>(molecules.items()), false);
    for (const SplitFile& split : kSplits) {
      const torch::Tensor ids = read_split(full_path(context, split.path), taken);
      add_domain(task, split.use, molecules.domain(ids, to_string(split.role)));
    }
    return task;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_molhiv() {
  return std::make_unique<Molhiv>();
}

}  // namespace grm
