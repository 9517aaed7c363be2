// DrugOOD's core set of ligands with a measured EC50 (Ji et al., AAAI 2023; ChEMBL 29): is the
// concentration at which half of the effect is seen below 10 micromolar. Three splits of the same
// molecules, by assay, scaffold and size; every domain of its training molecules is an environment.
#include <torch/types.h>

#include <map>
#include <optional>

#include "data/binary_notes.h"
#include "data/good/protocol.h"
#include "data/makers.h"
#include "data/molecules.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {
namespace {

enum class LigandDomain { assay, scaffold, size };
GRM_WORDS(LigandDomain, "assay", "scaffold", "size")

constexpr char kLigands[] = "molecules/drugood-ec50";

// A published split: subsets in the order of the file, a label and a domain for each molecule.
struct LigandSplit {
  good::Split split;
  torch::Tensor label;  // [molecules] int64, -1: in no subset
};

std::optional<good::Subset> subset_named(std::string_view name) {
  for (size_t s = 0; s < good::kSubsets; ++s) {
    const auto subset = static_cast<good::Subset>(s);
    if (name == good::name_of(subset)) return subset;
  }
  return std::nullopt;
}

LigandSplit read_ligand_split(const std::string& path, int64_t molecules) {
  LigandSplit read;
  read.label = torch::full({molecules}, -1, torch::kInt64);
  int64_t* label = read.label.data_ptr<int64_t>();
  std::vector<int64_t> domain(static_cast<size_t>(molecules), -1);
  io::read_csv(path, [&](const io::CsvRow& row) {
    if (row.line == 1) {
      return row.expect({"molecule", "subset", "label", "domain", "pEC50", "assay"});
    }
    row.expect_size(6);
    const int64_t molecule = row.parse_int(0), answer = row.parse_int(2);
    const auto subset = subset_named(row.text(1));
    if (molecule < 0 || molecule >= molecules || !subset || (answer != 0 && answer != 1)) {
      fail(ErrorKind::data,
           "{}:{}: molecule {}, subset '{}', label {}; expected a molecule in 0..{}, one of train, "
           "id_val, id_test, val, test, and 0 or 1",
           path, row.line, molecule, row.text(1), answer, molecules - 1);
    }
    if (label[molecule] >= 0) {
      fail(ErrorKind::data, "{}:{}: molecule {} came before", path, row.line, molecule);
    }
    label[molecule] = answer;
    domain[static_cast<size_t>(molecule)] = row.parse_int(3);
    read.split[*subset].push_back(molecule);
  });
  std::map<int64_t, int64_t> environment;  // domains of training molecules, renumbered
  for (const int64_t i : read.split[good::Subset::train]) {
    environment.emplace(domain[static_cast<size_t>(i)], 0);
  }
  int64_t next = 0;
  for (auto& [id, number] : environment) number = next++;
  read.split.environment.assign(domain.size(), -1);
  for (const int64_t i : read.split[good::Subset::train]) {
    const auto k = static_cast<size_t>(i);
    read.split.environment[k] = environment.at(domain[k]);
  }
  return read;
}

class DrugoodEc50 final : public MoleculeDataset {
 public:
  DrugoodEc50() : MoleculeDataset("drugood-ec50", {kLigands, 0}) {}

  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what shifts: the assay, the scaffold or the number of atoms");
    protocol_.declare_subsets(list, Level::graph);
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> all = tables_.files();
    all.push_back(split_file());
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task = empty_task();
    task.label_names = {"inactive", "active"};
    const Molecules molecules = read(context, task);
    const LigandSplit read = read_ligand_split(full_path(context, split_file()), molecules.items());
    protocol_.add_sets(task, read.split, [&](const torch::Tensor& ids, const std::string& name) {
      return make_domain(molecules.set(ids, name), read.label.index_select(0, ids));
    });
    add_binary_notes(task);
    task.notes.push_back(
        "features are OGB's, not DrugOOD's, and molecules those of ChEMBL 29: published numbers "
        "are "
        "near, not equal, comparisons");
    return task;
  }

 private:
  std::string split_file() const {
    return std::string(kLigands) + "/split_" + to_string(domain_) + ".csv.gz";
  }

  LigandDomain domain_ = LigandDomain::assay;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_drugood_ec50() {
  return std::make_unique<DrugoodEc50>();
}

}  // namespace grm
