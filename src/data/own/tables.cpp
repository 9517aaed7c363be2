// Tables of one folder: nodes.csv, edges.csv and, at graph level, graphs.csv.
#include "data/own/tables.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <optional>

#include "data/own/sparse_features.h"
#include "grm/core/options.h"

namespace grm::own {
namespace {

std::string path_of(const ReadContext& context, const std::string& folder, const std::string& name,
                    bool needed) {
  const std::string found = existing_table(folder, name);
  if (found.empty() && needed) {
    const std::string parquet =
        (std::filesystem::path(folder) / name).replace_extension(".parquet").string();
    std::error_code ignored;
    const bool there = std::filesystem::exists(parquet, ignored);
    context.problems.add(
        {folder + "/" + name, 0, 0,
         there ? fmt::format("there is no such file, but {}, and this program reads no Parquet",
                             parquet)
               : "there is no such file",
         there ? "'python3 -m grm.parquet " + context.d.folder +
                     "' writes CSV tables beside all of them; it needs pandas with pyarrow or "
                     "fastparquet"
               : "write it, or tell its name under [csv] in dataset.toml"});
  }
  return found;
}

// `nodes` is null where they are a libsvm file.
void make_plans(const ReadContext& context, const std::string& folder, const CsvFile* nodes,
                const CsvFile& edges, Plans& plans) {
  const Description& d = context.d;
  std::vector<std::string> of_nodes, of_edges;
  if (nodes) {
    plans.nodes =
        make_plan(d, d.columns, *nodes, special_of_nodes(d), true, context.problems, of_nodes);
  }
  if (!nodes || !d.csv.features.empty()) {
    Names known;
    for (const Plan::Entry& entry : plans.nodes.entries) known.add(entry.name);
    for (const std::string& name : sparse_names(context, folder)) {
      if (known.find(name) >= 0) {
        context.problems.add(
            {folder + "/" + d.csv.features, 0, 0,
             fmt::format("the feature '{}' is a column of {}, too", shown(name), d.csv.nodes),
             "give it in one of the two"});
      }
      plans.nodes.entries.push_back({name, true, "error", true});
    }
  }
  plans.edges =
      make_plan(d, d.edge_columns, edges, special_of_edges(d), false, context.problems, of_edges);
  plans.made = true;
  if (plans.nodes.entries.empty()) {
    context.problems.add({nodes ? nodes->path() : folder + "/" + d.csv.nodes, 1, 0,
                          "no column is left for features",
                          "add a column of numbers; where there are none, a constant one"});
  }
  const auto tell = [&](const CsvFile& file, const std::vector<std::string>& names,
                        const std::string& fix) {
    if (names.empty()) return;
    const bool one = names.size() == 1;
    context.problems.warn(
        {file.path(), 1, one ? file.find(names[0]) + 1 : 0,
         fmt::format("{}: {}", one ? "a column that is not used" : "columns that are not used",
                     shown(fmt::format("{}", fmt::join(names, ", ")))),
         fix});
  };
  if (nodes)
    tell(*nodes, of_nodes, "name them under [columns] as numeric or categorical, or under ignore");
  tell(edges, of_edges, "name them under [edge_columns], or under its ignore");
}

// Which of the wanted domains every text of the domain column is.
void choose_domains(const ReadContext& context, const std::vector<std::string>& wanted,
                    NodeTables& tables) {
  const Description& d = context.d;
  tables.wanted = wanted;
  tables.chosen.assign(tables.domains.size(), -1);
  if (d.csv.domain.empty()) {
    tables.chosen.assign(1, 0);
    return;
  }
  std::vector<std::string> known, unused;
  for (int64_t code = 0; code < tables.domains.size(); ++code) {
    known.push_back(tables.domains[code]);
  }
  if (wanted.empty()) tables.wanted = known;
  for (size_t k = 0; k < tables.wanted.size(); ++k) {
    const std::string& name = tables.wanted[k];
    if (const int64_t code = tables.domains.find(name); code >= 0) {
      tables.chosen[code] = static_cast<int64_t>(k);
      continue;
    }
    Place place;
    for (const DomainName& domain : d.domains) {
      if (domain.name == name) place = domain.place;
    }
    context.problems.add(d.problem(
        place,
        fmt::format("no row of {} has the domain '{}' in column '{}'{}",
                    tables.by_graph ? d.csv.graphs : d.csv.nodes, shown(name), d.csv.domain,
                    did_you_mean(name, known)),
        fmt::format("the column holds: {}", shown(fmt::format("{}", fmt::join(known, ", "))))));
  }
  for (size_t code = 0; code < known.size(); ++code) {
    if (tables.chosen[code] < 0) unused.push_back(known[code]);
  }
  if (unused.empty()) return;
  context.notes.push_back(fmt::format("domains that no section names are skipped: {}",
                                      shown(fmt::format("{}", fmt::join(unused, ", ")))));
}

}  // namespace

std::string existing_table(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  for (const std::string& path : {folder + "/" + name, folder + "/" + name + ".gz"}) {
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return "";
}

std::vector<RawDomain> read_tables(const ReadContext& context, const std::string& folder,
                                   const std::vector<std::string>& wanted, Plans& plans) {
  const CsvNames& csv = context.d.csv;
  Problems& problems = context.problems;
  const int64_t before = problems.count();
  NodeTables tables;
  tables.by_graph = context.d.level == Level::graph;
  const std::string nodes = path_of(context, folder, csv.nodes, true);
  const std::string edges = path_of(context, folder, csv.edges, true);
  std::string graphs, features;
  if (!csv.features.empty()) features = path_of(context, folder, csv.features, true);
  if (tables.by_graph) {
    const bool needed = context.purpose == Purpose::training || !csv.domain.empty();
    graphs = path_of(context, folder, csv.graphs, needed);
  }
  problems.stop_if_more_than(before);
  const bool libsvm = is_libsvm(csv.nodes);
  std::optional<CsvFile> node_file;
  if (!libsvm) node_file.emplace(nodes, csv.separator[0], problems);
  const CsvFile edge_file(edges, csv.separator[0], problems);
  if (!plans.made) make_plans(context, folder, libsvm ? nullptr : &*node_file, edge_file, plans);
  tables.local_ids = tables.by_graph && edge_file.find(csv.graph) >= 0;
  if (!graphs.empty()) read_graphs(context, graphs, tables);
  if (libsvm) {
    read_libsvm(context, nodes, plans.nodes, tables);
  } else {
    read_nodes(context, *node_file, plans.nodes, !graphs.empty(), tables);
    if (!features.empty()) read_sparse_table(context, features, plans.nodes, tables);
  }
  choose_domains(context, wanted, tables);
  const EdgeTable table = read_edges(context, edge_file, plans.edges, tables);
  return split_tables(tables, table, nodes);
}

}  // namespace grm::own
