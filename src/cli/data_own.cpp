#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/data.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"

namespace grm::cli {
namespace {

constexpr int kDataExit = 3;

struct InitFlags {
  std::string folder;
  std::string level = "node";
};

// The folder's own name where it can be that of a dataset.
std::string name_of(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const bool plain = name.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789_.-") == std::string::npos;
  return plain && !name.empty() && name[0] != '.' ? name : "my-data";
}

int init(const InitFlags& flags, const Common& common) {
  const std::string path = (std::filesystem::path(flags.folder) / "dataset.toml").string();
  const std::optional<Level> level = value_of<grm::Level>(flags.level);
  if (!level) fail(ErrorKind::config, "level '{}': write node or graph", flags.level);
  const std::string text = own_data_template(*level, name_of(flags.folder));
  if (std::filesystem::exists(path)) {
    fail(ErrorKind::io, "{}: exists already and was not changed; remove it to start over", path);
  }
  write_file_atomic(path, text);
  if (common.json) {
    print_json({{"written", path}, {"level", flags.level}});
    return 0;
  }
  fmt::print("{} is written; its comments say which files belong beside it.\n", path);
  fmt::print("Then: grm data check {}\n", flags.folder);
  return 0;
}

}  // namespace

ordered_json problems_json(const std::vector<Problem>& problems) {
  ordered_json list = ordered_json::array();
  for (const Problem& p : problems) {
    list.push_back({{"file", p.file},
                    {"line", p.line},
                    {"column", p.column},
                    {"what", p.what},
                    {"fix", p.fix}});
  }
  return list;
}

void print_problems(const std::vector<Problem>& problems, const std::string& before) {
  for (Problem p : problems) {
    const std::string fix = std::move(p.fix);
    p.fix.clear();
    fmt::print("{}{}\n", before, terminal_text(p.text()));
    if (!fix.empty()) fmt::print("    fix: {}\n", terminal_text(fix));
  }
}

int report_problems(const DataFlags& flags, const Common& common, std::vector<Problem>& warnings) {
  const std::vector<Problem> problems = check_own(flags.name, common.allow_missing, &warnings);
  if (problems.empty()) return 0;
  if (common.json) {
    print_json({{"dataset", flags.name},
                {"ok", false},
                {"problems", problems_json(problems)},
                {"warnings", problems_json(warnings)}});
    return kDataExit;
  }
  print_problems(problems, "");
  print_problems(warnings, "warning: ");
  fmt::print(stderr, "grm: {}: {} problem{}\n", terminal_text(flags.name), problems.size(),
             problems.size() == 1 ? "" : "s");
  return kDataExit;
}

void add_data_init(CLI::App& data, Common& common, Action& action) {
  CLI::App* verb = data.add_subcommand("init", "write a commented dataset.toml for own data");
  auto flags = std::make_shared<InitFlags>();
  add_common(*verb, common, false);
  verb->add_option("folder", flags->folder, "folder of the data; made if it is not there")
      ->required();
  verb->add_option("--level", flags->level, "what is classified: node or graph")
      ->capture_default_str();
  verb->footer(
      "An existing dataset.toml is not touched.\n\n"
      "Examples:\n"
      "  grm data init payments\n"
      "  grm data init molecules --level graph");
  set_call(*verb, action, [=, &common] { return init(*flags, common); });
}

}  // namespace grm::cli
