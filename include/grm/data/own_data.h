#pragma once

#include <string>
#include <vector>

#include "grm/data/task.h"

namespace grm {

/// One thing that is wrong with a folder of own data, and what to do about it.
struct Problem {
  std::string file;
  int64_t line = 0;    // from 1; 0: the file as a whole
  int64_t column = 0;  // from 1; 0: the line as a whole
  std::string what;
  std::string fix;

  /// "data/nodes.csv:7:3: 'abc' is not a number; fix: ..."
  std::string text() const;
};

/// True if a dataset's name is meant as a path to own data: it is no built-in dataset, and it holds
/// a '/', ends in .toml or .npz, or names a folder or a table that exists.
bool is_own_data(const std::string& name);

/// The Task that dataset.toml of a folder describes; `path` is the folder or the file. Columns are
/// turned into features by rules fitted on the training domains, kept in Task::preprocessing.
/// Error(data) is the first Problem.
Task load_own(const std::string& path);

/// Every problem that load_own would have met one by one, in the order of reading, up to a hundred
/// for each file (the last one of those says how many more there are). Under `allow_missing` test
/// domains without files are none. `warnings` receives what may be meant so and often is not:
/// arrays and columns that are not used, classes that differ in case alone, domains without edges.
std::vector<Problem> check_own(const std::string& path, bool allow_missing = false,
                               std::vector<Problem>* warnings = nullptr);

/// What can be said of a folder without reading its tables. Error(data) as load_own.
struct OwnHead {
  std::string name;
  Level level = Level::node;
};
OwnHead read_own_head(const std::string& path);

/// New, possibly unlabelled graphs for a trained model whose Task had this `preprocessing` (empty:
/// built-in data). `path` is a folder of own data (the domains of all roles of its dataset.toml;
/// without that file every *.npz and every folder with tables of nodes), or one .npz file. Labels
/// that are there are kept, others are -1; Error(data) names columns that the model needs and the
/// files do not have, or that came and the model does not know.
std::vector<Domain> load_for_prediction(const std::string& path, const std::string& preprocessing,
                                        Level level, int64_t features, int64_t edge_features);

/// A commented dataset.toml with domains first, second and third, to be changed.
std::string own_data_template(Level level, const std::string& name);

}  // namespace grm
