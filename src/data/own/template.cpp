#include <torch/types.h>

#include "grm/core/error.h"
#include "grm/data/own_data.h"

namespace grm {
namespace {

constexpr char kHead[] = R"(# Own data for grm: this file says what lies in the folder. Then:
#   grm data check DIR            every mistake, with file, line, column and what to do
#   grm data describe DIR         counts of every domain
#   grm train --dataset DIR       train, select on [validation], evaluate on [test]

name = "@name@"  # of runs and tables; letters, digits, '_', '.', '-'
level = "@level@"@pad@  # "node": classify nodes; "graph": classify whole graphs
metric = "accuracy"  # "accuracy", "macro_f1"; with two classes also "roc_auc"
# labels = ["no", "yes"]   # names of classes 0, 1, ...; default: as the training labels say
# undirected = true        # add the reverse of each stored edge
# missing = "mean"         # cells that are empty, NA, NaN or null: "error" (default), "mean",
#                          # "zero", "flag" (the mean, and one more column of 0/1)
# scale = "none"           # numeric columns: "standard" (default for tables; mean 0 and deviation
#                          # 1 in the training domains) or "none" (default for .npz)

)";

constexpr char kNodeFiles[] =
    R"(# Each domain is one environment: a month, a country, a network. Its files are either
#   first.npz    edge_index [2, m] (row 0 sources, row 1 targets, counted from 0), x [n, d], y [n]
#                and, if not all labelled nodes count, mask [n]; y < 0 or NaN: no label
# or a folder with two tables:
#   first/nodes.csv    id,label,age,...      an empty label: not known
#   first/edges.csv    source,target         ids of nodes.csv
# Or nodes.csv and edges.csv lie here, for all domains, and a column tells them apart:
# domain = "month"
)";

constexpr char kGraphFiles[] =
    R"(# Each domain is one environment: a scaffold, a size, a year. Its files are either
#   first.npz    edge_index [2, m] (row 0 sources, row 1 targets, rows of x), x [n, d],
#                graph [n] (0, 0, 0, 1, 1, ...: the graph of each node), y [graphs] and, if there
#                are any, edge_attr [m, k], edge_weight [m]; y < 0 or NaN: no label
# or a folder with three tables:
#   first/graphs.csv   id,label              an empty label: not known
#   first/nodes.csv    id,graph,charge,...   graph: an id of graphs.csv
#   first/edges.csv    source,target,...     ids of nodes.csv; with a column `graph` they need to
#                                            be unique inside their graph only
# Or the three tables lie here, for all domains, and a column of graphs.csv tells them apart:
# domain = "scaffold"
)";

constexpr char kTail[] =
    R"(# edges_between = "drop"   # with `domain`: skip edges that join two domains

[train]
domains = ["first"]

[validation]  # chooses the epoch; best a domain that differs from training as the tests will
domains = ["second"]

[test]
domains = ["third"]

# [groups]                 # domains that are scored together
# third = "late"

# [columns]                # of nodes.csv; default: all but id, label, graph and domain are numeric
# numeric = ["age"]
# categorical = ["colour"]
# ignore = ["comment"]
)";

constexpr char kEdgeColumns[] = R"(
# [edge_columns]           # of edges.csv; default: none is used
# numeric = ["length"]
# categorical = ["bond"]
# weight = "strength"
)";

constexpr char kCsv[] = R"(
# [csv]                    # names of tables and columns, where they differ from these
# nodes = "nodes.csv"
# edges = "edges.csv"
# graphs = "graphs.csv"
# features = "features.csv" # a table id,feature,value: numbers that are given one by one
# id = "id"
# label = "label"
# source = "source"
# target = "target"
# graph = "graph"
# separator = ","          # or ";", "|", "tab"
)";

void put(std::string& text, const std::string& mark, const std::string& value) {
  const size_t at = text.find(mark);
  ensure(at != std::string::npos, "own_data_template: a mark is missing");
  text.replace(at, mark.size(), value);
}

}  // namespace

std::string own_data_template(Level level, const std::string& name) {
  const bool graphs = level == Level::graph;
  std::string text = kHead;
  put(text, "@name@", name);
  put(text, "@level@", to_string(level));
  put(text, "@pad@", graphs ? "" : " ");
  text += graphs ? kGraphFiles : kNodeFiles;
  text += kTail;
  if (graphs) text += kEdgeColumns;
  return text + kCsv;
}

}  // namespace grm
