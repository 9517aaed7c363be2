#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/own/problems.h"

namespace grm::own {

struct Place {
  int64_t line = 0;
  int64_t column = 0;
};

/// A word of dataset.toml and where it stands.
struct Word {
  std::string text;
  Place place;
};

struct DomainName {
  std::string name;
  Role role = Role::test;
  Place place;
  std::string group;
};

/// What [columns] or [edge_columns] say.
struct ColumnWords {
  std::vector<Word> numeric, categorical, ignore;
  bool lists_numeric = false;  // `numeric` is there: columns that are not named are left out
  Word weight;                 // edges only
};

/// How the tables and their columns are called.
struct CsvNames {
  std::string nodes = "nodes.csv", edges = "edges.csv", graphs = "graphs.csv";
  std::string features;  // a table id,feature,value; empty: there is none
  std::string id = "id", label = "label", source = "source", target = "target", graph = "graph";
  std::string domain;  // one set of tables for all domains: the column that names the domain
  std::string split = "split", time = "time";  // what splits a domain, where it is split
  std::vector<std::string> targets;  // columns of targets that are not classes; none: `label`
  std::string separator = ",";
};

/// What becomes of edges between domains.
enum class EdgesBetween { error, drop };
GRM_WORDS(EdgesBetween, "error", "drop")

/// Whether the items of a training domain are divided among training, validation and test: not at
/// all, by masks of theirs (a column of words in tables), or by time.
enum class Split { none, masks, time };
GRM_WORDS(Split, "none", "masks", "time")

/// dataset.toml, as it stands.
struct Description {
  std::string folder;
  std::string file;  // dataset.toml, or the file that was given
  std::string name;
  Level level = Level::node;
  MetricKind metric = MetricKind::accuracy;
  LossKind loss = LossKind::softmax;
  Target target = Target::classes;
  Place metric_place, loss_place, classes_place, target_place;
  Split split = Split::none;
  std::vector<Word> until;  // the last moments of training and of validation, with split = "time"
  int64_t classes = 0;      // 0: as the training labels say
  std::vector<std::string> labels;
  bool undirected = false;
  std::string missing = "error";
  std::string scale;  // empty: standard for tables, none for npz
  EdgesBetween between = EdgesBetween::error;
  CsvNames csv;
  ColumnWords columns, edge_columns;
  std::vector<DomainName> domains;

  Problem problem(Place place, std::string what, std::string fix) const {
    return {file, place.line, place.column, std::move(what), std::move(fix)};
  }
};

/// What a description must have.
enum class Purpose { training, prediction };

/// Whether a file of this name is a table rather than a description.
bool is_table(const std::string& name);
/// Whether a file of this name would lie outside the folder it is looked for in.
bool leaves_folder(const std::string& name);

/// `path`: a folder with dataset.toml, or that file.
Description read_description(const std::string& path, Purpose purpose, Problems& problems);

}  // namespace grm::own
