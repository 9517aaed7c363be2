#pragma once

#include <functional>
#include <string>

#include "data/good/laws.h"
#include "grm/data/dataset.h"

// What all datasets of GOOD have in common: which shift, which subset chooses the epoch, and which
// are scored as tests.
namespace grm::good {

/// The subset that chooses the epoch: GOOD's two rules.
enum class Chooser { val, id_val };
GRM_WORDS(Chooser, "val", "id_val")
/// The subsets that are scored as test domains.
enum class Report { test, all };
GRM_WORDS(Report, "test", "all")

/// "train", "id_val", "id_test", "val", "test", as GOOD calls them.
const char* name_of(Subset subset);

/// Labels as the law of concepts reads them: classes, or the mean of the answers that are known.
std::vector<double> numbers_of(const torch::Tensor& labels);

class Protocol {
 public:
  Shift shift = Shift::covariate;
  Chooser choose_by = Chooser::val;
  Report report = Report::test;

  void declare(OptionList& list, Level level);
  /// The same without the shift, for data whose publisher made one split.
  void declare_subsets(OptionList& list, Level level);
  /// For sets of graphs: `make` builds the domain of the given items in their order. The training
  /// domain tells the environment of each of its graphs.
  using Make = std::function<Domain(const torch::Tensor& ids, const std::string& name)>;
  void add_sets(Task& task, const Split& split, const Make& make) const;
  /// For the nodes of one graph, all of whose edges and features are seen by all subsets: a training
  /// domain for each environment, called by `environments` where it names them.
  void add_nodes(Task& task, const Split& split, const Domain& all,
                 const std::vector<std::string>& environments = {}) const;

 private:
  // Hands each subset that takes part, but training, to the role it has.
  void add_others(Task& task, const Split& split, const Make& make) const;

  double part_ = 1.0;           // sets of graphs
  bool join_training_ = false;  // nodes
};

}  // namespace grm::good
