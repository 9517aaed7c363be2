#pragma once

#include <array>
#include <string>
#include <vector>

#include "data/good/streams.h"
#include "grm/core/rng.h"
#include "grm/core/words.h"

// The laws by which GOOD cuts a list of items into subsets (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022,
// in the version GOODv1).
namespace grm::good {

enum class Shift { none, covariate, by_concept };
GRM_WORDS(Shift, "none", "covariate", "concept")

/// The subsets, in GOOD's order.
enum class Subset { train, id_validation, id_test, validation, test };
constexpr size_t kSubsets = 5;

/// Members of each subset in GOOD's order, and the environment of every item, -1 where it has none.
struct Split {
  std::array<std::vector<int64_t>, kSubsets> members;
  std::vector<int64_t> environment;

  std::vector<int64_t>& operator[](Subset subset) { return members[static_cast<size_t>(subset)]; }
  const std::vector<int64_t>& operator[](Subset subset) const {
    return members[static_cast<size_t>(subset)];
  }
};

/// The first share of a shuffled list trains, the next up to `upto` validates, the rest tests.
struct PlainLaw {
  double train = 0.6, upto = 0.8;
};
/// Items shuffled and environments 0..9 drawn by CPython's stream.
Split no_shift(int64_t items, PythonStream& python);
/// The same for nodes: torch's stream, environments 0..8.
Split no_shift_of_nodes(int64_t nodes, const PlainLaw& law, TorchStream& torch);

/// Subsets are ranges of the sorted domains; equal keys are one domain.
struct CovariateLaw {
  double train = 0.8, validation = 0.1;
  int64_t environments = 10;
  double inside = 0.1;  // share of all items that id_validation and id_test have each
  bool descending = false;
  bool inside_of_train = false;  // `inside` is a share of the training items instead
};
constexpr CovariateLaw kCovariateOfLength = {0.5, 0.25, 10, 0.15, false, true};
Split covariate(const std::vector<int64_t>& keys, const CovariateLaw& law, PythonStream& python);

/// Domain and label go together in training and against each other in the test.
struct ConceptLaw {
  std::array<double, 4> bias, share;
};
constexpr ConceptLaw kConceptOfSets = {{.95, .95, .90, .85}, {.3, .5, .6, 1}};
constexpr ConceptLaw kConceptOfCitations = {{.95, .95, .90, .85}, {.4, .6, .5, 1}};
constexpr ConceptLaw kConceptOfTwitch = {{.80, .70, .80, .70}, {.4, .6, .5, 1}};
constexpr ConceptLaw kConceptOfWebkb = {{.85, .75, .85, .80}, {.4, .6, .5, 1}};
Split concept_shift(const std::vector<int64_t>& keys, const std::vector<double>& labels,
                    const ConceptLaw& law, PythonStream& python);

/// The split of a set of graphs. GOOD draws without a shift first, then covariate, then concept, from
/// one stream.
Split split_of_set(Shift shift, const std::vector<int64_t>& keys, const std::vector<double>& labels,
                   const CovariateLaw& covariate_law, const ConceptLaw& concept_law,
                   PythonStream& python);

/// The split of the nodes of one graph, of which torch's stream draws that without a shift.
Split split_of_nodes(Shift shift, const std::vector<int64_t>& keys,
                     const std::vector<double>& labels, const PlainLaw& plain_law,
                     const CovariateLaw& covariate_law, const ConceptLaw& concept_law);

/// Environments of training items in the order of their keys: an equal share each, but items of one
/// key stay together.
void cut_environments(Split& split, std::vector<int64_t> train, const std::vector<int64_t>& keys,
                      int64_t environments);

/// Blocks of a list, in order: a training environment each, then `rest` items to validate, then the
/// test.
Split cut_blocks(const std::vector<int64_t>& order, int64_t environments, int64_t block,
                 int64_t rest);

/// Shuffles train; its last `k` become id_test, the `k` before id_validation.
void cut_inside(Split& split, int64_t k, PythonStream& python);

/// For splits that are not GOOD's: id_validation and id_test are shares of the training items `train`
/// (ascending), drawn from the stream "split"; train is what is left.
void take_inside(Split& split, const std::vector<int64_t>& train, double validation, double test,
                 const Rng& rng);

}  // namespace grm::good
