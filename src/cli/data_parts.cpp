#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/checks.h"
#include "cli/data.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "core/text.h"
#include "data/mapped/partition.h"
#include "data/mapped/read.h"
#include "grm/core/error.h"

namespace grm::cli {
namespace {

struct PartitionFlags {
  std::string path, out;
  int64_t parts = 2;
  std::string by;
  bool force = false;
};

double share(int64_t part, int64_t of) {
  return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
}

// The largest part against a part of equal size.
double balance(const std::vector<mapped::PartHead>& parts, int64_t mapped::PartHead::*size) {
  int64_t most = 0, all = 0;
  for (const mapped::PartHead& part : parts) {
    most = std::max(most, part.*size);
    all += part.*size;
  }
  return share(most * static_cast<int64_t>(parts.size()), all);
}

int64_t cut_of(const std::vector<mapped::PartHead>& parts) {
  int64_t cut = 0;
  for (const mapped::PartHead& part : parts) cut += part.cut;
  return cut;
}

ordered_json parts_json(const mapped::PartsHead& head) {
  ordered_json graphs = ordered_json::array();
  for (size_t k = 0; k < head.graphs.size(); ++k) {
    const std::vector<mapped::PartHead>& of = head.graphs[k].parts;
    ordered_json parts = ordered_json::array();
    for (const mapped::PartHead& part : of) {
      parts.push_back({{"nodes", part.nodes}, {"edges", part.edges}, {"cut_edges", part.cut}});
    }
    const mapped::GraphHead& whole = head.whole.graphs[k];
    graphs.push_back({{"name", whole.name},
                      {"nodes", whole.nodes},
                      {"edges", whole.edges},
                      {"cut_edges", cut_of(of)},
                      {"cut_share", share(cut_of(of), whole.edges)},
                      {"node_balance", balance(of, &mapped::PartHead::nodes)},
                      {"edge_balance", balance(of, &mapped::PartHead::edges)},
                      {"parts", parts}});
  }
  return {{"dataset", head.whole.name},
          {"parts", head.parts},
          {"by", to_string(head.by)},
          {"graphs", graphs}};
}

void print_parts(const mapped::PartsHead& head) {
  Table table;
  table.head = {"graph", "part", "nodes", "edges", "edges from other parts"};
  std::vector<std::string> balances;
  for (size_t k = 0; k < head.graphs.size(); ++k) {
    const mapped::GraphHead& whole = head.whole.graphs[k];
    const std::vector<mapped::PartHead>& parts = head.graphs[k].parts;
    const auto row = [&](const std::string& name, int64_t nodes, int64_t edges, int64_t cut) {
      table.rows.push_back({whole.name, name, std::to_string(nodes), std::to_string(edges),
                            fmt::format("{:.1f} %", 100.0 * share(cut, edges))});
    };
    for (size_t p = 0; p < parts.size(); ++p) {
      row(std::to_string(p), parts[p].nodes, parts[p].edges, parts[p].cut);
    }
    row("all", whole.nodes, whole.edges, cut_of(parts));
    balances.push_back(
        fmt::format("{}: the largest part has {:.3f} of a fair share of the nodes, "
                    "{:.3f} of the edges",
                    terminal_text(whole.name), balance(parts, &mapped::PartHead::nodes),
                    balance(parts, &mapped::PartHead::edges)));
  }
  print_table(table);
  for (const std::string& line : balances) fmt::print("{}\n", line);
  fmt::print("{} parts by {}\n", head.parts, to_string(head.by));
}

int show(const mapped::PartsHead& head, const Common& common) {
  if (common.json) {
    print_json(parts_json(head));
  } else {
    print_parts(head);
  }
  return 0;
}

int partition(const PartitionFlags& flags, const Common& common) {
  using mapped::PartBy;
  PartBy by = mapped::has_metis() ? PartBy::metis : PartBy::hash;
  if (!flags.by.empty()) by = *value_of<PartBy>(flags.by);
  return show(mapped::partition(flags.path, flags.parts, by, flags.out, flags.force), common);
}

int stats(const std::string& path, const Common& common) {
  if (!mapped::in_parts(path)) {
    fail(ErrorKind::config,
         "{} holds no graphs in parts; 'grm data partition' makes them, 'grm data describe' counts "
         "other data",
         path);
  }
  return show(mapped::read_parts_head(mapped::folder_of(path)), common);
}

}  // namespace

void add_data_parts(CLI::App& data, Common& common, Action& action) {
  CLI::App* cut = data.add_subcommand(
      "partition", "cut mapped graphs into parts, one or more for each process that trains");
  auto flags = std::make_shared<PartitionFlags>();
  add_common(*cut, common, true);
  cut->add_option("path", flags->path, "a folder of 'grm data convert --mapped'")->required();
  cut->add_option("--parts", flags->parts, "number of parts")
      ->capture_default_str()
      ->check(whole_number(1, mapped::kMostParts));
  cut->add_option("--by", flags->by,
                  "metis: few edges between parts, about equally many nodes; hash: by the node's "
                  "number, without looking at edges (default: metis where this build has it)")
      ->check(CLI::IsMember({"metis", "hash"}));
  cut->add_option("--out", flags->out, "folder to write")->required();
  cut->add_flag("--force", flags->force, "write into a folder that is not empty");
  cut->footer(
      "Features are read and written row by row. METIS holds the edges of a graph several times;\n"
      "hash holds nothing but a number for each node. Training: docs/cluster.md\n\n"
      "Examples:\n"
      "  grm data convert scale --set nodes=10000000 --mapped --out large\n"
      "  grm data partition large --parts 2 --out parts\n"
      "  grm data partition large --parts 16 --by hash --out parts16\n"
      "  grm train --dataset ./parts --method erm --set train.batch=1024 --processes 2");
  cut->callback(
      [=, &common, &action] { action = [=, &common] { return partition(*flags, common); }; });

  CLI::App* counts = data.add_subcommand("stats", "nodes, edges and cut of graphs in parts");
  auto path = std::make_shared<std::string>();
  add_common(*counts, common, true);
  counts->add_option("path", *path, "a folder of 'grm data partition'")->required();
  counts->footer(
      "Examples:\n"
      "  grm data stats parts\n"
      "  grm data stats parts --json");
  counts->callback(
      [=, &common, &action] { action = [=, &common] { return stats(*path, common); }; });
}

}  // namespace grm::cli
