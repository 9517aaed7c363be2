#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "core/files.h"

namespace grm::cli {
namespace {

void add(std::string& file, const std::string& name, const std::string& text) {
  file += fmt::format("{} {}\n{}", text.size(), name, text);
}

// `before`: the words of the command line before this verb.
void add_help(std::string& file, const CLI::App& app, const std::string& name,
              const std::string& before) {
  add(file, name, app.help(before));
  const std::string here = before + (before.empty() ? "" : " ") + app.get_name();
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_help(file, *sub, name + " " + sub->get_name(), here);
  }
}

}  // namespace

void write_help_file(const CLI::App& app, const std::string& path) {
  std::string file = "grm help 1\n";
  add_help(file, app, "help", "");
  add(file, "print --version", app.version() + "\n");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    add(file, std::string("print completion ") + shell, completion_script(app, shell));
  }
  write_file_atomic(path, file);
}

}  // namespace grm::cli
