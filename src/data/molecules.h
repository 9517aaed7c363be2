#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grm/data/dataset.h"
#include "grm/data/task.h"
#include "io/safetensors.h"

namespace grm {

/// Molecules as OGB hands them out: FOLDER/raw/node-feat.csv.gz and five other tables without
/// headers. Graphs are cut from the long tables by num-node-list and num-edge-list.
struct MoleculeTables {
  std::string folder;
  /// Columns of graph-label: one is a class 0 or 1, several are tasks, empty or "nan" where not
  /// known. 0: there is no such table, labels come from elsewhere.
  int64_t tasks = 1;

  std::vector<std::string> files() const;  // relative to the data root
};

/// Tables read once, from which sets of graphs are picked. Every column of k categories becomes k
/// columns of 0/1: a linear map of them is OGB's sum of embedding tables.
class Molecules {
 public:
  /// Of the data root, through the cache; task.hashes has the files.
  Molecules(const DataContext& context, const MoleculeTables& tables, const Task& task);
  /// Of another folder of the same form; labels may be missing there.
  Molecules(const MoleculeTables& tables, const std::string& folder);

  int64_t items() const { return all_.items(); }
  std::vector<int64_t> atoms() const;  // of each molecule
  /// [items] int64, -1: unknown; of several tasks [items, tasks] float, NaN: unknown.
  const torch::Tensor& labels() const { return labels_; }
  /// The molecules `ids` (int64) in this order.
  Graph set(const torch::Tensor& ids, const std::string& name) const;
  /// The same with labels; rows of which nothing is known do not count.
  Domain domain(const torch::Tensor& ids, const std::string& name) const;
  Domain domain(const std::string& name) const;  // all of them

 private:
  explicit Molecules(const io::TensorFile& file);

  Graph all_;  // without features
  torch::Tensor labels_, atom_codes_, bond_codes_;
};

/// What datasets of molecules have in common: one class of two or several yes-or-no tasks, ROC-AUC
/// (of several tasks its mean), other molecules in folders of the same form.
class MoleculeDataset : public Dataset {
 public:
  std::string unseen_form() const override;
  bool is_unseen_form(const std::string& path) const override;
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& names) const override;

 protected:
  MoleculeDataset(std::string name, MoleculeTables tables)
      : name_(std::move(name)), tables_(std::move(tables)) {}
  Task empty_task() const;
  /// The tables, after all of files() were found and their hashes noted.
  Molecules read(const DataContext& context, Task& task) const;

  const std::string name_;
  const MoleculeTables tables_;
};

}  // namespace grm
