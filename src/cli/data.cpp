#include <fmt/format.h>

#include <filesystem>

#include "cli.h"
#include "grm/core/error.h"
#include "grm/data/describe.h"

namespace grm::cli {
namespace {

struct DataFlags {
  std::string name;
  std::vector<std::string> settings;
};

int list(const Common& common) {
  const DataContext context = common.data_context();
  ordered_json all = ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"dataset", "files here", "summary"}};
  for (const DatasetEntry& entry : datasets()) {
    const std::vector<std::string> files = DatasetChoice(entry.name).files();
    size_t present = 0;
    for (const std::string& file : files) {
      present += !context.root.empty() && std::filesystem::exists(context.root + "/" + file);
    }
    all.push_back({{"name", entry.name},
                   {"summary", entry.summary},
                   {"published_at", entry.published_at},
                   {"files", files.size()},
                   {"files_present", present}});
    rows.push_back({entry.name,
                    files.empty() ? "generated" : fmt::format("{} of {}", present, files.size()),
                    entry.summary});
  }
  if (common.json) {
    print_json({{"data_root", context.root}, {"datasets", all}});
  } else {
    print_table(rows);
  }
  return 0;
}

Task load(const DataFlags& flags, const Common& common) {
  DatasetChoice choice(flags.name);
  for (const std::string& setting : flags.settings) {
    const size_t equals = setting.find('=');
    std::string key = setting.substr(0, equals);
    if (key.rfind("dataset.", 0) == 0) key = key.substr(8);
    if (equals == std::string::npos) {
      fail(ErrorKind::config, "--set {}: write dataset.key=value", setting);
    }
    choice.options().set("dataset", key, setting.substr(equals + 1));
  }
  return choice.load(common.data_context());
}

int describe_task(const DataFlags& flags, const Common& common) {
  const Task task = load(flags, common);
  ordered_json domains = ordered_json::array();
  std::vector<std::vector<std::string>> rows = {
      {"domain", "role", "nodes", "edges", "features", "nonzeros", "isolated", "majority"}};
  for (const DomainSummary& d : describe(task)) {
    domains.push_back({{"name", d.name},
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
                       {"majority_share", d.majority_share}});
    rows.push_back({d.name, to_string(d.role), std::to_string(d.nodes), std::to_string(d.edges),
                    std::to_string(d.features), std::to_string(d.feature_nonzeros),
                    std::to_string(d.isolated), fmt::format("{:.3f}", d.majority_share)});
  }
  if (common.json) {
    print_json({{"dataset", task.name},
                {"level", task.level},
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
  print_table(rows);
  fmt::print("{} classes, metric {}, loss {}\n", task.classes, to_string(task.metric),
             to_string(task.loss));
  for (const std::string& note : task.notes) fmt::print("note: {}\n", note);
  return 0;
}

int check(const DataFlags& flags, const Common& common) {
  const Task task = load(flags, common);  // whatever is wrong with it is thrown with its place
  if (common.json) {
    print_json({{"dataset", task.name},
                {"ok", true},
                {"fingerprint", fingerprint(task)},
                {"hashes", task.hashes},
                {"missing", task.missing}});
    return 0;
  }
  for (const auto& [file, hash] : task.hashes) fmt::print("{}  {}\n", hash, file);
  for (const std::string& name : task.missing) fmt::print("missing: {}\n", name);
  fmt::print("{}: ok, {} domains, fingerprint {}\n", task.name,
             task.training.size() + task.validation.size() + task.test.size(), fingerprint(task));
  return 0;
}

}  // namespace

void add_data(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("data", "list, describe and check datasets");
  verb->require_subcommand(1);
  auto flags = std::make_shared<DataFlags>();
  const auto add = [&](const std::string& name, const std::string& help, bool named, auto run) {
    CLI::App* sub = verb->add_subcommand(name, help);
    add_common(*sub, common, true);
    if (named) {
      sub->add_option("name", flags->name, "dataset")->required();
      sub->add_option("--set", flags->settings, "dataset.key=value; repeatable")
          ->allow_extra_args(false);
    }
    sub->callback([=, &common, &action] { action = [=, &common] { return run(*flags, common); }; });
  };
  add("list", "all datasets and whether their files are here", false,
      [](const DataFlags&, const Common& c) { return list(c); });
  add("describe", "counts of every domain", true, describe_task);
  add("check", "load, verify, and print hashes", true, check);
  verb->footer(
      "Examples:\n"
      "  grm data list --data-root DIR\n"
      "  grm data describe twitch --json\n"
      "  grm data check fb100 --allow-missing");
}

}  // namespace grm::cli
