#include "cli/data.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <map>

#include "cli/terminal.h"
#include "core/json.h"
#include "core/text.h"
#include "data/describe.h"
#include "data/mapped/parts_head.h"
#include "data/mapped/read.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"

namespace grm::cli {

void add_data_flags(CLI::App& verb, DataFlags& flags) {
  verb.add_option("name", flags.name, "dataset, see 'grm data list', or a folder of own data")
      ->required();
  verb.add_option("--set", flags.settings, "dataset.key=value; repeatable")
      ->allow_extra_args(false);
}

void apply_settings(DatasetChoice& choice, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    std::string key = setting.substr(0, equals);
    if (key.rfind("dataset.", 0) == 0) key = key.substr(8);
    if (equals == std::string::npos) {
      fail(ErrorKind::config, "--set {}: write dataset.key=value", setting);
    }
    choice.options().set("dataset", key, setting.substr(equals + 1));
  }
}

Task load_task(const DataFlags& flags, const Common& common) {
  DatasetChoice choice(flags.name);
  apply_settings(choice, flags.settings);
  return choice.load(common.data_context());
}

namespace {

int list_datasets(const Common& common) {
  const DataContext context = common.data_context();
  ordered_json all = ordered_json::array();
  Table table;
  table.head = {"dataset", "level", "files here", "summary"};
  for (const DatasetEntry& entry : datasets()) {
    const std::vector<std::string> files = DatasetChoice(entry.name).files();
    size_t present = 0;
    for (const std::string& file : files) {
      present += !context.root.empty() && std::filesystem::exists(context.root + "/" + file);
    }
    all.push_back({{"name", entry.name},
                   {"level", to_string(entry.level)},
                   {"summary", entry.summary},
                   {"published_at", entry.published_at},
                   {"files", files.size()},
                   {"files_present", present}});
    table.rows.push_back(
        {entry.name, to_string(entry.level),
         files.empty() ? "generated" : fmt::format("{} of {}", present, files.size()),
         entry.summary});
  }
  if (common.json) {
    print_json({{"data_root", context.root}, {"datasets", all}});
  } else {
    print_table(table);
  }
  return 0;
}

using Bins = std::vector<HistogramBin> DomainSummary::*;

ordered_json bins_json(const std::vector<HistogramBin>& bins) {
  ordered_json all = ordered_json::array();
  for (const HistogramBin& bin : bins) {
    all.push_back({{"low", bin.low}, {"high", bin.high}, {"count", bin.count}});
  }
  return all;
}

// One row per bin, one column per domain.
void print_histogram(const std::string& title, const std::vector<DomainSummary>& domains,
                     Bins bins) {
  Table table;
  table.head = {title};
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> counts;
  for (size_t d = 0; d < domains.size(); ++d) {
    table.head.push_back(domains[d].name);
    for (const HistogramBin& bin : domains[d].*bins) {
      std::vector<int64_t>& row = counts[{bin.low, bin.high}];
      row.resize(domains.size(), 0);
      row[d] = bin.count;
    }
  }
  for (const auto& [range, row] : counts) {
    const auto [low, high] = range;
    table.rows.push_back({low == high ? std::to_string(low) : fmt::format("{}-{}", low, high)});
    for (const int64_t count : row) table.rows.back().push_back(std::to_string(count));
  }
  fmt::print("\n");
  print_table(table);
}

void print_summaries(const std::vector<DomainSummary>& domains) {
  Table table;
  table.head = {"domain", "role", "nodes", "edges", "features", "nonzeros", "isolated", "majority"};
  const bool sets = domains.front().graphs > 0;
  if (sets) table.head.insert(table.head.end(), {"graphs", "nodes/graph", "edges/graph"});
  for (const DomainSummary& d : domains) {
    Table::Row row = {d.name,
                      to_string(d.role),
                      std::to_string(d.nodes),
                      std::to_string(d.edges),
                      std::to_string(d.features),
                      std::to_string(d.feature_nonzeros),
                      std::to_string(d.isolated),
                      fmt::format("{:.3f}", d.majority_share)};
    if (sets) {
      row.insert(row.end(), {std::to_string(d.graphs), fmt::format("{:.1f}", d.mean_nodes),
                             fmt::format("{:.1f}", d.mean_edges)});
    }
    table.rows.push_back(row);
  }
  print_table(table);
  if (!sets) return;
  print_histogram("nodes of a graph", domains, &DomainSummary::sizes);
  print_histogram("edges into a node", domains, &DomainSummary::degrees);
  fmt::print("\n");
}

// What a model has an output for.
const char* outputs_word(LossKind loss) {
  switch (target_of(loss)) {
    case Target::classes:
      return "classes";
    case Target::multi_label:
      return "tasks";
    case Target::regression:
      return "targets";
  }
  throw InternalError("outputs_word: unknown target");
}

ordered_json summary_json(const DomainSummary& d) {
  ordered_json json = {{"name", d.name},
                       {"group", d.group},
                       {"role", to_string(d.role)},
                       {"nodes", d.nodes},
                       {"edges", d.edges},
                       {"features", d.features},
                       {"feature_nonzeros", d.feature_nonzeros},
                       {"labels", d.labels},
                       {"unlabelled", d.unlabelled},
                       {"isolated", d.isolated},
                       {"no_in", d.no_in},
                       {"no_out", d.no_out},
                       {"self_loops", d.self_loops},
                       {"mean_degree", d.mean_degree},
                       {"majority_share", d.majority_share},
                       {"degrees", bins_json(d.degrees)}};
  if (d.graphs == 0) return json;
  json["graphs"] = d.graphs;
  json["mean_nodes"] = d.mean_nodes;
  json["mean_edges"] = d.mean_edges;
  json["sizes"] = bins_json(d.sizes);
  json["edge_features"] = d.edge_features;
  json["truth_edges"] = d.truth_edges;
  return json;
}

int describe_task(const DataFlags& flags, const Common& common) {
  const Task task = load_task(flags, common);
  const std::vector<DomainSummary> summaries = describe(task);
  if (common.json) {
    ordered_json domains = ordered_json::array();
    for (const DomainSummary& d : summaries) domains.push_back(summary_json(d));
    print_json({{"dataset", task.name},
                {"level", to_string(task.level)},
                {"classes", task.classes},
                {"loss", to_string(task.loss)},
                {"metric", to_string(task.metric)},
                {"domains", domains},
                {"fingerprint", fingerprint(task)},
                {"hashes", task.hashes},
                {"missing", task.missing},
                {"notes", task.notes}});
    return 0;
  }
  print_summaries(summaries);
  fmt::print("{} {}, metric {}, loss {}\n", task.classes, outputs_word(task.loss),
             to_string(task.metric), to_string(task.loss));
  for (const std::string& note : task.notes) print_wrapped("note: ", note);
  return 0;
}

// All arrays of the parts were read.
int report_parts(const std::string& path, const Common& common) {
  const mapped::PartsHead head = mapped::read_parts_head(mapped::folder_of(path));
  if (common.json) {
    print_json({{"dataset", head.whole.name},
                {"ok", true},
                {"parts", head.parts},
                {"hashes", {{mapped::kHeadFile, head.whole_hash}}}});
  } else {
    fmt::print("{}  {} of the folder that was cut\n{}: ok, {} parts\n", head.whole_hash,
               mapped::kHeadFile, terminal_text(head.whole.name), head.parts);
  }
  return 0;
}

int check(const DataFlags& flags, const Common& common) {
  std::vector<Problem> warnings;
  if (is_own_data(flags.name)) {
    if (const int code = report_problems(flags, common, warnings); code != 0) return code;
  }
  if (mapped::in_parts(flags.name)) return report_parts(flags.name, common);
  const Task task = load_task(flags, common);  // whatever is wrong with it is thrown with its place
  if (common.json) {
    print_json({{"dataset", task.name},
                {"ok", true},
                {"fingerprint", fingerprint(task)},
                {"hashes", task.hashes},
                {"missing", task.missing},
                {"warnings", problems_json(warnings)}});
    return 0;
  }
  print_problems(warnings, "warning: ");
  for (const auto& [file, hash] : task.hashes) fmt::print("{}  {}\n", hash, terminal_text(file));
  for (const std::string& name : task.missing) fmt::print("missing: {}\n", name);
  fmt::print("{}: ok{}, {} domains, fingerprint {}\n", task.name,
             warnings.empty()       ? ""
             : warnings.size() == 1 ? " with a warning"
                                    : fmt::format(" with {} warnings", warnings.size()),
             task.training.size() + task.validation.size() + task.test.size(), fingerprint(task));
  return 0;
}

}  // namespace

void add_data(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("data", "list, describe, check, make and convert datasets");
  verb->require_subcommand(1);
  auto flags = std::make_shared<DataFlags>();
  const auto add = [&](const std::string& name, const std::string& help, bool named,
                       const std::string& examples, auto run) {
    CLI::App* sub = verb->add_subcommand(name, help);
    add_common(*sub, common, true);
    if (named) add_data_flags(*sub, *flags);
    sub->footer("Examples:\n" + examples);
    set_call(*sub, action, [=, &common] { return run(*flags, common); });
  };
  add("list", "all datasets and whether their files are here", false,
      "  grm data list                              the folder that $GRM_DATA names\n"
      "  grm data list --data-root DIR --json",
      [](const DataFlags&, const Common& c) { return list_datasets(c); });
  add("describe", "counts of every domain; sizes and degrees of sets of graphs", true,
      "  grm data describe sbm\n"
      "  grm data describe spmotif --json           histograms of sizes and degrees\n"
      "  grm data describe ./my-data                a folder of own data",
      describe_task);
  add("check", "load, verify, and print hashes; own data: list every problem and its fix", true,
      "  grm data check ./my-data                   file, line, column and what to do\n"
      "  grm data check ./my-data --json            the same for scripts; exit code 3\n"
      "  grm data check fb100 --allow-missing       published files: their hashes",
      check);
  add_data_init(*verb, common, action);
  add_data_shift(*verb, common, action);
  add_data_convert(*verb, common, action);
  add_data_parts(*verb, common, action);
  verb->footer(
      "Examples:\n"
      "  grm data list --data-root DIR\n"
      "  grm data describe twitch --json\n"
      "  grm data check fb100 --allow-missing\n"
      "  grm data init my-data                      a commented dataset.toml for own data\n"
      "  grm data check ./my-data                   every problem, with its place and its fix\n"
      "  grm data shift sbm\n"
      "  grm data convert sbm --out my-data\n"
      "  grm data partition large --parts 4 --out parts");
}

}  // namespace grm::cli
